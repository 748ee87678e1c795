// The functions of the fake driver for a program that does not link it: found in the library that it opens, as a
// runtime does, by dlsym(), or (ASKS_THE_DRIVER) by asking cuGetProcAddress(), which alone is found so.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "tests/sim/live/driver/fake_cuda.h"

namespace {

constexpr int kVersion = 13000;

void* driver() {
  static void* const handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) std::abort();
  return handle;
}

template <class Function>
Function* find(const char* name, [[maybe_unused]] const char* symbol) {
  void* found = nullptr;
#ifdef ASKS_THE_DRIVER
  static auto* const ask = reinterpret_cast<decltype(&cuGetProcAddress_v2)>(dlsym(driver(), "cuGetProcAddress_v2"));
  ask(symbol, &found, kVersion, 0, nullptr);
#else
  found = dlsym(driver(), name);
#endif
  if (found == nullptr) std::fprintf(stderr, "no %s\n", name), std::abort();
  return reinterpret_cast<Function*>(found);
}

}  // namespace

#define FOUND(name, symbol, parameters, arguments)                    \
  int name parameters {                                               \
    static auto* const behind = find<int parameters>(#name, #symbol); \
    return behind arguments;                                          \
  }

extern "C" {
FOUND(cuInit, cuInit, (unsigned flags), (flags))
FOUND(cuLaunchKernel, cuLaunchKernel,
      (void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned bytes,
       void* stream, void** parameters, void** extra),
      (function, gx, gy, gz, bx, by, bz, bytes, stream, parameters, extra))
FOUND(cuLaunchKernelEx, cuLaunchKernelEx, (const LaunchConfig* config, void* function, void** parameters, void** extra),
      (config, function, parameters, extra))
FOUND(cuModuleGetFunction, cuModuleGetFunction, (void** made, void* module, const char* name), (made, module, name))
FOUND(cuLibraryGetKernel, cuLibraryGetKernel, (void** made, void* library, const char* name), (made, library, name))
FOUND(cuModuleEnumerateFunctions, cuModuleEnumerateFunctions, (void** made, unsigned most, void* module),
      (made, most, module))
FOUND(cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease, (int device), (device))
FOUND(cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxReset, (int device), (device))
FOUND(cuGetProcAddress_v2, cuGetProcAddress,
      (const char* symbol, void** found, int version, std::uint64_t flags, int* status),
      (symbol, found, version, flags, status))
FOUND(cuStreamCreate, cuStreamCreate, (void** stream, unsigned flags), (stream, flags))
FOUND(cuStreamDestroy_v2, cuStreamDestroy, (void* stream), (stream))
FOUND(cuStreamSynchronize, cuStreamSynchronize, (void* stream), (stream))
FOUND(cuStreamWaitEvent, cuStreamWaitEvent, (void* stream, void* event, unsigned flags), (stream, event, flags))
FOUND(cuCtxSynchronize, cuCtxSynchronize, (), ())
FOUND(cuEventCreate, cuEventCreate, (void** event, unsigned flags), (event, flags))
FOUND(cuEventRecord, cuEventRecord, (void* event, void* stream), (event, stream))
FOUND(cuMemcpyHtoD_v2, cuMemcpyHtoD, (std::uint64_t to, const void* from, std::size_t bytes), (to, from, bytes))
FOUND(cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync, (std::uint64_t to, const void* from, std::size_t bytes, void* stream),
      (to, from, bytes, stream))
FOUND(cuStreamBeginCapture_v2, cuStreamBeginCapture, (void* stream, int mode), (stream, mode))
FOUND(cuStreamEndCapture, cuStreamEndCapture, (void* stream, void** graph), (stream, graph))
FOUND(cuGraphInstantiateWithFlags, cuGraphInstantiate, (void** executable, void* graph, unsigned long long flags),
      (executable, graph, flags))
FOUND(cuGraphLaunch, cuGraphLaunch, (void* executable, void* stream), (executable, stream))
FOUND(cuMemGetInfo_v2, cuMemGetInfo, (std::size_t * free, std::size_t* total), (free, total))
FOUND(cuDeviceTotalMem_v2, cuDeviceTotalMem, (std::size_t * total, int device), (total, device))
FOUND(cuMemAlloc_v2, cuMemAlloc, (std::uint64_t * address, std::size_t bytes), (address, bytes))
FOUND(cuMemAllocAsync, cuMemAllocAsync, (std::uint64_t * address, std::size_t bytes, void* stream),
      (address, bytes, stream))
FOUND(cuMemFree_v2, cuMemFree, (std::uint64_t address), (address))
FOUND(cuMemoryIsManaged, cuMemoryIsManaged, (std::uint64_t address), (address))
FOUND(cuStreamWaitFlag, cuStreamWaitFlag, (void* stream, int* flag), (stream, flag))
void cuOnEventRecord(void (*what)()) { find<void(void (*)())>("cuOnEventRecord", "cuOnEventRecord")(what); }
}
