#pragma once

#include <cstdint>
#include <string>

namespace corun::executor {

// The driver's own types, as its binary interface has them: building needs no CUDA toolkit.
using CudaResult = int;
using CudaDevice = int;
using CudaPointer = unsigned long long;
using CudaHandle = void*;  ///< contexts, modules, functions, streams, events

inline constexpr CudaResult kCudaSuccess = 0;

/// CUdevice_attribute: what a device says of itself.
enum CudaAttribute : int {
  kTopClockKhz = 13,
  kSmCount = 16,
  kMemoryClockKhz = 36,
  kMemoryBusBits = 37,
  kCacheBytes = 38,
  kMostThreadsPerSm = 39,
  kCopyEngines = 40,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76,
  kSharedBytesPerSm = 81,
  kRegistersPerSm = 82,
  kMostSharedBytesPerBlock = 97,  ///< for kernels that ask for it
  kMostBlocksPerSm = 106,
  kIsUnderMps = 133,
};

inline constexpr int kMostDynamicShared = 8;  ///< CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
inline constexpr int kSharedCarveout = 9;     ///< CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, in percent

/// CUexecAffinityParam: which part of a device a context may use. Of its kinds there is one.
struct CudaAffinity {
  int kind = 0;           ///< CU_EXEC_AFFINITY_TYPE_SM_COUNT
  unsigned sm_count = 0;  ///< the driver rounds up
};

/// The driver functions that the executor calls, each with its exported name.
#define CORUN_CUDA_CALLS(X)                                                                                           \
  X(init, "cuInit", (unsigned flags))                                                                                 \
  X(device_count, "cuDeviceGetCount", (int* count))                                                                   \
  X(device_get, "cuDeviceGet", (CudaDevice * device, int ordinal))                                                    \
  X(device_attribute, "cuDeviceGetAttribute", (int* value, int attribute, CudaDevice device))                         \
  X(device_name, "cuDeviceGetName", (char* name, int size, CudaDevice device))                                        \
  X(context_retain, "cuDevicePrimaryCtxRetain", (CudaHandle * context, CudaDevice device))                            \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", (CudaDevice device))                                             \
  X(context_create, "cuCtxCreate_v3",                                                                                 \
    (CudaHandle * context, CudaAffinity * affinities, int count, unsigned flags, CudaDevice device))                  \
  X(context_destroy, "cuCtxDestroy_v2", (CudaHandle context))                                                         \
  X(context_affinity, "cuCtxGetExecAffinity", (CudaAffinity * affinity, int kind))                                    \
  X(context_priorities, "cuCtxGetStreamPriorityRange", (int* least, int* greatest))                                   \
  X(context_set, "cuCtxSetCurrent", (CudaHandle context))                                                             \
  X(context_synchronize, "cuCtxSynchronize", ())                                                                      \
  X(module_load, "cuModuleLoadData", (CudaHandle * module, const void* image))                                        \
  X(module_function, "cuModuleGetFunction", (CudaHandle * function, CudaHandle module, const char* name))             \
  X(function_attribute, "cuFuncSetAttribute", (CudaHandle function, int attribute, int value))                        \
  X(stream_create, "cuStreamCreateWithPriority", (CudaHandle * stream, unsigned flags, int priority))                 \
  X(stream_synchronize, "cuStreamSynchronize", (CudaHandle stream))                                                   \
  X(stream_write, "cuStreamWriteValue64_v2",                                                                          \
    (CudaHandle stream, CudaPointer address, std::uint64_t value, unsigned flags))                                    \
  X(stream_wait, "cuStreamWaitEvent", (CudaHandle stream, CudaHandle event, unsigned flags))                          \
  X(event_create, "cuEventCreate", (CudaHandle * event, unsigned flags))                                              \
  X(event_record, "cuEventRecord", (CudaHandle event, CudaHandle stream))                                             \
  X(launch, "cuLaunchKernel",                                                                                         \
    (CudaHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,      \
     unsigned block_z, unsigned shared_bytes, CudaHandle stream, void** parameters, void** extra))                    \
  X(memory_allocate, "cuMemAlloc_v2", (CudaPointer * address, std::size_t bytes))                                     \
  X(memory_free, "cuMemFree_v2", (CudaPointer address))                                                               \
  X(memory_set, "cuMemsetD8_v2", (CudaPointer address, unsigned char value, std::size_t bytes))                       \
  X(host_register, "cuMemHostRegister_v2", (void* address, std::size_t bytes, unsigned flags))                        \
  X(host_unregister, "cuMemHostUnregister", (void* address))                                                          \
  X(host_free, "cuMemFreeHost", (void* address))                                                                      \
  X(host_allocate, "cuMemHostAlloc", (void** address, std::size_t bytes, unsigned flags))                             \
  X(host_device_pointer, "cuMemHostGetDevicePointer_v2", (CudaPointer * device, void* host, unsigned flags))          \
  X(copy_to_device, "cuMemcpyHtoDAsync_v2", (CudaPointer to, const void* from, std::size_t bytes, CudaHandle stream)) \
  X(copy_from_device, "cuMemcpyDtoHAsync_v2", (void* to, CudaPointer from, std::size_t bytes, CudaHandle stream))     \
  X(error_name, "cuGetErrorName", (CudaResult result, const char** name))

/// The CUDA driver, found at run time. One object a process; never unloaded.
class CudaDriver {
 public:
  /// Loads `library` ("libcuda.so.1") and starts the driver. Throws Error(kUnsupported) where there is none, it lacks a
  /// function, or there is no device.
  explicit CudaDriver(const std::string& library);

#define CORUN_CUDA_FIELD(name, exported, arguments) CudaResult(*name) arguments = nullptr;
  CORUN_CUDA_CALLS(CORUN_CUDA_FIELD)
#undef CORUN_CUDA_FIELD

  /// "CUDA_ERROR_OUT_OF_MEMORY", or the number where the driver does not know it.
  std::string name_of(CudaResult result) const;
  /// Throws Error(kDevice) naming the call unless it went well.
  void check(CudaResult result, const char* what) const;
};

}  // namespace corun::executor
