#include "sim/executor/driver/cuda_driver.h"

#include <dlfcn.h>

#include "traces/base/error.h"

namespace corun::executor {

namespace {

constexpr const char* kHelp = "a run on hardware needs an NVIDIA GPU with its driver; `simcli run` needs neither";

void* find(void* library, const std::string& path, const char* name) {
  void* found = dlsym(library, name);
  if (found == nullptr)
    throw Error(ErrorKind::kUnsupported, {}, fmt::format("{} has no {}: its driver is too old", path, name), kHelp);
  return found;
}

}  // namespace

CudaDriver::CudaDriver(const std::string& library) {
  void* loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) throw Error(ErrorKind::kUnsupported, {}, fmt::format("no CUDA driver: {}", dlerror()), kHelp);
#define CORUN_CUDA_FIND(name, exported, arguments) \
  name = reinterpret_cast<decltype(name)>(find(loaded, library, exported));
  CORUN_CUDA_CALLS(CORUN_CUDA_FIND)
#undef CORUN_CUDA_FIND
  const CudaResult started = init(0);
  int count = 0;
  const CudaResult counted = started == kCudaSuccess ? device_count(&count) : started;
  if (counted != kCudaSuccess)
    throw Error(ErrorKind::kUnsupported, {}, fmt::format("the CUDA driver does not start: {}", name_of(counted)),
                kHelp);
  if (count == 0) throw Error(ErrorKind::kUnsupported, {}, "the CUDA driver finds no device", kHelp);
}

std::string CudaDriver::name_of(CudaResult result) const {
  const char* name = nullptr;
  if (error_name != nullptr && error_name(result, &name) == kCudaSuccess && name != nullptr) return name;
  return fmt::format("error {}", result);
}

void CudaDriver::check(CudaResult result, const char* what) const {
  if (result != kCudaSuccess) throw Error(ErrorKind::kDevice, fmt::format("{}: {}", what, name_of(result)));
}

}  // namespace corun::executor
