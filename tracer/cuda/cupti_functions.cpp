#include "tracer/cuda/cupti_functions.h"

namespace corun::cupti {
namespace {

using enum part::CallRole;

constexpr FunctionRange kRuntime[] = {
    {13, 13, kLaunch},
    {31, 52, kCopy},
    {126, 126, kSynchronizeDevice},  // cudaThreadSynchronize
    {131, 131, kSynchronizeStream},
    {135, 135, kRecordEvent},
    {137, 137, kSynchronizeEvent},
    {142, 145, kCopy},
    {147, 147, kStreamWaitEvent},
    {160, 163, kCopy},
    {165, 165, kSynchronizeDevice},
    {211, 211, kLaunch},  // cudaLaunchKernel
    {213, 214, kLaunch},
    {215, 236, kCopy},
    {239, 239, kSynchronizeStream},
    {242, 242, kRecordEvent},
    {243, 246, kCopy},
    {247, 247, kStreamWaitEvent},
    {249, 250, kCopy},
    {269, 270, kLaunch},
    {272, 272, kLaunch},
    {311, 312, kGraphLaunch},
    {370, 371, kRecordEvent},
    {430, 431, kLaunch},  // cudaLaunchKernelExC
    {482, 485, kCopy},
    {505, 506, kLaunch},  // what <<<>>> calls from 13.0 on
    {509, 512, kCopy},
    {554, 557, kCopy},
};

constexpr FunctionRange kDriver[] = {
    {17, 17, kSynchronizeDevice},
    {43, 82, kCopy},
    {115, 117, kLaunch},
    {119, 119, kRecordEvent},
    {121, 121, kSynchronizeEvent},
    {126, 126, kSynchronizeStream},
    {216, 227, kCopy},
    {232, 234, kCopy},
    {248, 254, kCopy},
    {276, 293, kCopy},
    {295, 295, kStreamWaitEvent},
    {305, 306, kCopy},
    {307, 307, kLaunch},  // cuLaunchKernel
    {318, 321, kCopy},
    {397, 416, kCopy},
    {418, 433, kCopy},
    {436, 436, kStreamWaitEvent},
    {440, 440, kSynchronizeStream},
    {441, 441, kRecordEvent},
    {442, 442, kLaunch},
    {477, 478, kLaunch},
    {480, 480, kLaunch},
    {514, 515, kGraphLaunch},
    {587, 588, kRecordEvent},
    {652, 653, kLaunch},  // cuLaunchKernelEx
    {776, 779, kCopy},
    {796, 799, kCopy},
    {800, 800, kSynchronizeDevice},
    {837, 840, kCopy},
};

}  // namespace

std::span<const FunctionRange> runtime_functions() { return kRuntime; }
std::span<const FunctionRange> driver_functions() { return kDriver; }

bool has_thread_stream(std::uint32_t function) {
  return function == 436 || function == 440 || function == 441 || function == 588;
}

part::CallRole role_of(std::span<const FunctionRange> functions, std::uint32_t function) {
  for (const FunctionRange& range : functions) {
    if (function <= range.last) return function >= range.first ? range.role : kOther;
  }
  return kOther;
}

}  // namespace corun::cupti
