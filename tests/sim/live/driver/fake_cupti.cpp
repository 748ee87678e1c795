// As much of libcupti.so.13 as a gate needs: a subscriber that sees the calls of fake_cuda.cpp. A process whose
// subscriber sees launches leaves a line in the file that FAKE_CUPTI_LOG names.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/sim/live/driver/fake_cuda.h"
#include "tracer/cuda/cupti_abi.h"

using namespace corun::cupti;

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

std::atomic<Callback> subscriber{nullptr};
std::atomic<bool> is_enabled[1024];
std::atomic<bool> has_told{false};
constexpr std::uint32_t kLaunchKernel = 307;

void leave_a_line() {
  const char* path = std::getenv("FAKE_CUPTI_LOG");
  std::FILE* file = path == nullptr || has_told.exchange(true) ? nullptr : std::fopen(path, "a");
  if (file == nullptr) return;
  std::fputs("told of launches\n", file);
  std::fclose(file);
}

}  // namespace

void fake_callback(std::uint32_t site, std::uint32_t function, const void* parameters, const int* result,
                   const char* symbol, void* context, std::uint64_t* shared) {
  const Callback callback = subscriber.load();
  if (callback == nullptr || !is_enabled[function]) return;
  if (function == kLaunchKernel) leave_a_line();
  CallbackSite told{};
  told.site = site;
  told.parameters = parameters;
  told.result = result;
  told.symbol = symbol;
  told.context = context;
  told.shared = shared;
  callback(nullptr, kDomainDriver, function, &told);
}

EXPORTED Result cuptiGetVersion(std::uint32_t* version) { return *version = 130000, kSuccess; }
EXPORTED Result cuptiSubscribe(Subscriber* handle, Callback callback, void*) {
  Callback none = nullptr;
  *handle = &subscriber;
  return subscriber.compare_exchange_strong(none, callback) ? kSuccess : kOtherSubscriber;
}
EXPORTED Result cuptiUnsubscribe(Subscriber) { return subscriber = nullptr, kSuccess; }
EXPORTED Result cuptiEnableCallback(std::uint32_t enable, Subscriber, std::uint32_t, std::uint32_t function) {
  if (function >= 830) return 1;  // newer than this library
  return is_enabled[function] = enable != 0, kSuccess;
}
EXPORTED Result cuptiSetThreadIdType(std::uint32_t) { return kSuccess; }
EXPORTED Result cuptiActivityRegisterTimestampCallback(Timestamp) { return kSuccess; }
EXPORTED Result cuptiActivityRegisterCallbacks(RequestBuffer, CompleteBuffer) { return kSuccess; }
EXPORTED Result cuptiActivityEnable(Kind) { return kSuccess; }
EXPORTED Result cuptiActivityDisable(Kind) { return kSuccess; }
EXPORTED Result cuptiActivityFlushAll(std::uint32_t) { return kSuccess; }
EXPORTED Result cuptiActivityGetNextRecord(std::uint8_t*, std::size_t, Activity**) { return kEndOfBuffer; }
EXPORTED Result cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t*) { return kSuccess; }
