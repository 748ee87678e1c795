#pragma once

#include <cstddef>
#include <cstdint>

/// A CUDA driver without a device, whose calls a fake CUPTI reports: every stream runs its work in real time, one after
/// another, and all at once. A kernel takes as many microseconds as it asks for bytes of shared memory; one that
/// takes none into an idle stream has ended when its launch returns, and so has an event.
///
/// A launch without a kernel, without its configuration or of no blocks is refused, as is one of no graph.
///
/// It watches its manners as the real one does: an event in a stream that is being captured, or a question about one
/// while anything is captured (but by a thread that has relaxed), spoils the capture.
inline constexpr std::size_t kDeviceBytes = std::size_t{1} << 30;

extern "C" {

int cuInit(unsigned);  ///< loads what CUDA_INJECTION64_PATH names
int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void** parameters,
                   void** extra);
int cuLaunchKernel_ptsz(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void** parameters,
                        void** extra);
struct LaunchConfig {
  unsigned grid[3], block[3], shared_bytes;
  void* stream;
  void* attributes;
  unsigned attribute_count;
};
int cuLaunchKernelEx(const LaunchConfig* config, void* function, void** parameters, void** extra);
int cuModuleGetFunction(void** function, void* module, const char* name);  ///< what the module is does not matter
int cuLibraryGetKernel(void** kernel, void* library, const char* name);
/// A module has two functions, "first" and "second". What of the buffer they do not take is left as it is.
int cuModuleEnumerateFunctions(void** functions, unsigned most, void* module);
int cuModuleGetFunctionCount(unsigned* count, void* module);
/// The context of device 0, the only one that has work, is held as often as the test cares to release it. That of any
/// other has ended by then.
int cuDevicePrimaryCtxRelease_v2(int device);
int cuDevicePrimaryCtxReset_v2(
    int device);  ///< its events are no more; what is launched next is in a new one of the same handle
int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* is_active);
int cuGetProcAddress_v2(const char* symbol, void** found, int version, std::uint64_t flags, int* status);
int cuStreamCreate(void** stream, unsigned flags);
int cuStreamDestroy_v2(void* stream);
int cuStreamSynchronize(void* stream);
int cuStreamWaitEvent(void* stream, void* event, unsigned flags);
int cuCtxSynchronize();
int cuEventCreate(void** event, unsigned flags);
int cuEventRecord(void* event, void* stream);
int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes);
int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void* stream);
int cuStreamBeginCapture_v2(void* stream, int mode);
int cuStreamEndCapture(void* stream, void** graph);
int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long flags);
int cuGraphLaunch(void* executable, void* stream);
/// The device has kDeviceBytes; managed memory takes none of them.
int cuMemGetInfo_v2(std::size_t* free, std::size_t* total);
int cuDeviceTotalMem_v2(std::size_t* total, int device);
int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes);
int cuMemAllocManaged(std::uint64_t* address, std::size_t bytes, unsigned flags);
int cuMemAllocAsync(std::uint64_t* address, std::size_t bytes, void* stream);
int cuMemFree_v2(std::uint64_t address);
int cuMemFreeAsync(std::uint64_t address, void* stream);
int cuMemoryIsManaged(std::uint64_t address);   ///< of ours
int cuStreamWaitFlag(void* stream, int* flag);  ///< of ours: like cuStreamWaitValue32 for 1
void cuOnEventRecord(void (*what)());           ///< of ours: happens inside every cuEventRecord() from here on
}

/// What the driver reports to CUPTI of a call.
void fake_callback(std::uint32_t site, std::uint32_t function, const void* parameters, const int* result,
                   const char* symbol, void* context, std::uint64_t* shared);
