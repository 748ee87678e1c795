#pragma once

#include <cstdint>

/// Functions of the CUDA driver that a gate looks at: those that make, find or name what is launched, those that
/// launch, and those that wait, capture or destroy.
namespace corun::gate {

/// What a function of the driver does to the device's work.
enum class CallRole : std::uint8_t {
  kOther,
  kLaunch,        ///< gives the device work
  kSynchronise,   ///< waits for the device
  kBeginCapture,  ///< from here on, what a stream is given becomes a graph
  kEndCapture,
  kMakeGraph,  ///< makes a graph that can be launched
  kDestroyGraph,
  kDestroyStream,
  kDestroyContext,
  kReleaseContext,  ///< a primary one, once: others may hold it
  kResetContext,    ///< a primary one, regardless of other holders
  kAllocate,        ///< device memory
  kFree,
  kTellMemory,  ///< tells how much the device has, or has free
};

/// Calls that only a preload can answer in the driver's place.
constexpr bool is_for_memory(CallRole role) {
  return role == CallRole::kAllocate || role == CallRole::kFree || role == CallRole::kTellMemory;
}

/// X(export, number, since, arguments, role): CUPTI's number of the function, the version of CUDA since which
/// cuGetProcAddress() answers with it, and how many arguments it takes. NVIDIA never gives a number to another
/// function.
///
/// All arguments are integers or pointers. A preload passes them on as words of the machine, unread, so no signature is
/// needed.
#define CORUN_DRIVER_CALLS(X)                                       \
  X(cuInit, 1, 2000, 1, kOther)                                     \
  X(cuGetProcAddress, 626, 11030, 4, kOther)                        \
  X(cuGetProcAddress_v2, 677, 12000, 5, kOther)                     \
  X(cuModuleGetFunction, 23, 2000, 3, kOther)                       \
  X(cuLibraryGetKernel, 681, 12000, 3, kOther)                      \
  X(cuKernelGetFunction, 683, 12000, 2, kOther)                     \
  X(cuLibraryEnumerateKernels, 740, 12040, 3, kOther)               \
  X(cuModuleEnumerateFunctions, 738, 12040, 3, kOther)              \
  X(cuCtxDestroy, 11, 2000, 1, kDestroyContext)                     \
  X(cuCtxSynchronize, 17, 2000, 0, kSynchronise)                    \
  X(cuArrayDestroy, 89, 2000, 1, kFree)                             \
  X(cuLaunch, 115, 2000, 1, kLaunch)                                \
  X(cuLaunchGrid, 116, 2000, 3, kLaunch)                            \
  X(cuLaunchGridAsync, 117, 2000, 4, kLaunch)                       \
  X(cuEventSynchronize, 121, 2000, 1, kSynchronise)                 \
  X(cuStreamSynchronize, 126, 2000, 1, kSynchronise)                \
  X(cuStreamDestroy, 127, 2000, 1, kDestroyStream)                  \
  X(cuMemsetD8Async, 216, 3020, 4, kLaunch)                         \
  X(cuMemsetD16Async, 218, 3020, 4, kLaunch)                        \
  X(cuMemsetD32Async, 220, 3020, 4, kLaunch)                        \
  X(cuMemsetD2D8Async, 222, 3020, 6, kLaunch)                       \
  X(cuMemsetD2D16Async, 224, 3020, 6, kLaunch)                      \
  X(cuMemsetD2D32Async, 226, 3020, 6, kLaunch)                      \
  X(cuMemGetInfo_v2, 242, 3020, 2, kTellMemory)                     \
  X(cuMemAlloc_v2, 243, 3020, 2, kAllocate)                         \
  X(cuMemAllocPitch_v2, 244, 3020, 5, kAllocate)                    \
  X(cuMemFree_v2, 245, 3020, 1, kFree)                              \
  X(cuMemsetD8_v2, 249, 3020, 3, kLaunch)                           \
  X(cuMemsetD16_v2, 250, 3020, 3, kLaunch)                          \
  X(cuMemsetD32_v2, 251, 3020, 3, kLaunch)                          \
  X(cuMemsetD2D8_v2, 252, 3020, 5, kLaunch)                         \
  X(cuMemsetD2D16_v2, 253, 3020, 5, kLaunch)                        \
  X(cuMemsetD2D32_v2, 254, 3020, 5, kLaunch)                        \
  X(cuDeviceTotalMem_v2, 259, 3020, 2, kTellMemory)                 \
  X(cuArrayCreate_v2, 272, 3020, 2, kAllocate)                      \
  X(cuArray3DCreate_v2, 274, 3020, 2, kAllocate)                    \
  X(cuMemcpyHtoD_v2, 276, 3020, 3, kLaunch)                         \
  X(cuMemcpyHtoDAsync_v2, 277, 3020, 4, kLaunch)                    \
  X(cuMemcpyDtoH_v2, 278, 3020, 3, kLaunch)                         \
  X(cuMemcpyDtoHAsync_v2, 279, 3020, 4, kLaunch)                    \
  X(cuMemcpyDtoD_v2, 280, 3020, 3, kLaunch)                         \
  X(cuMemcpyDtoDAsync_v2, 281, 3020, 4, kLaunch)                    \
  X(cuMemcpyAtoH_v2, 282, 3020, 4, kLaunch)                         \
  X(cuMemcpyAtoHAsync_v2, 283, 3020, 5, kLaunch)                    \
  X(cuMemcpyAtoD_v2, 284, 3020, 4, kLaunch)                         \
  X(cuMemcpyDtoA_v2, 285, 3020, 4, kLaunch)                         \
  X(cuMemcpyAtoA_v2, 286, 3020, 5, kLaunch)                         \
  X(cuMemcpy2D_v2, 287, 3020, 1, kLaunch)                           \
  X(cuMemcpy2DUnaligned_v2, 288, 3020, 1, kLaunch)                  \
  X(cuMemcpy2DAsync_v2, 289, 3020, 2, kLaunch)                      \
  X(cuMemcpy3D_v2, 290, 3020, 1, kLaunch)                           \
  X(cuMemcpy3DAsync_v2, 291, 3020, 2, kLaunch)                      \
  X(cuMemcpyHtoA_v2, 292, 3020, 4, kLaunch)                         \
  X(cuMemcpyHtoAAsync_v2, 293, 3020, 5, kLaunch)                    \
  X(cuMemcpy, 305, 4000, 3, kLaunch)                                \
  X(cuMemcpyAsync, 306, 4000, 4, kLaunch)                           \
  X(cuLaunchKernel, 307, 4000, 11, kLaunch)                         \
  X(cuMemcpyPeer, 318, 4000, 5, kLaunch)                            \
  X(cuMemcpyPeerAsync, 319, 4000, 6, kLaunch)                       \
  X(cuMemcpy3DPeer, 320, 4000, 1, kLaunch)                          \
  X(cuMemcpy3DPeerAsync, 321, 4000, 2, kLaunch)                     \
  X(cuCtxDestroy_v2, 322, 4000, 1, kDestroyContext)                 \
  X(cuStreamDestroy_v2, 326, 4000, 1, kDestroyStream)               \
  X(cuMipmappedArrayCreate, 347, 5000, 3, kAllocate)                \
  X(cuMipmappedArrayDestroy, 349, 5000, 1, kFree)                   \
  X(cuMemAllocManaged, 371, 6000, 3, kAllocate)                     \
  X(cuDevicePrimaryCtxRelease, 387, 7000, 1, kReleaseContext)       \
  X(cuDevicePrimaryCtxReset, 389, 7000, 1, kResetContext)           \
  X(cuMemcpyHtoD_v2_ptds, 397, 7000, 3, kLaunch)                    \
  X(cuMemcpyDtoH_v2_ptds, 398, 7000, 3, kLaunch)                    \
  X(cuMemcpyDtoD_v2_ptds, 399, 7000, 3, kLaunch)                    \
  X(cuMemcpyDtoA_v2_ptds, 400, 7000, 4, kLaunch)                    \
  X(cuMemcpyAtoD_v2_ptds, 401, 7000, 4, kLaunch)                    \
  X(cuMemcpyHtoA_v2_ptds, 402, 7000, 4, kLaunch)                    \
  X(cuMemcpyAtoH_v2_ptds, 403, 7000, 4, kLaunch)                    \
  X(cuMemcpyAtoA_v2_ptds, 404, 7000, 5, kLaunch)                    \
  X(cuMemcpy2D_v2_ptds, 405, 7000, 1, kLaunch)                      \
  X(cuMemcpy2DUnaligned_v2_ptds, 406, 7000, 1, kLaunch)             \
  X(cuMemcpy3D_v2_ptds, 407, 7000, 1, kLaunch)                      \
  X(cuMemcpy_ptds, 408, 7000, 3, kLaunch)                           \
  X(cuMemcpyPeer_ptds, 409, 7000, 5, kLaunch)                       \
  X(cuMemcpy3DPeer_ptds, 410, 7000, 1, kLaunch)                     \
  X(cuMemsetD8_v2_ptds, 411, 7000, 3, kLaunch)                      \
  X(cuMemsetD16_v2_ptds, 412, 7000, 3, kLaunch)                     \
  X(cuMemsetD32_v2_ptds, 413, 7000, 3, kLaunch)                     \
  X(cuMemsetD2D8_v2_ptds, 414, 7000, 5, kLaunch)                    \
  X(cuMemsetD2D16_v2_ptds, 415, 7000, 5, kLaunch)                   \
  X(cuMemsetD2D32_v2_ptds, 416, 7000, 5, kLaunch)                   \
  X(cuMemcpyAsync_ptsz, 418, 7000, 4, kLaunch)                      \
  X(cuMemcpyHtoAAsync_v2_ptsz, 419, 7000, 5, kLaunch)               \
  X(cuMemcpyAtoHAsync_v2_ptsz, 420, 7000, 5, kLaunch)               \
  X(cuMemcpyHtoDAsync_v2_ptsz, 421, 7000, 4, kLaunch)               \
  X(cuMemcpyDtoHAsync_v2_ptsz, 422, 7000, 4, kLaunch)               \
  X(cuMemcpyDtoDAsync_v2_ptsz, 423, 7000, 4, kLaunch)               \
  X(cuMemcpy2DAsync_v2_ptsz, 424, 7000, 2, kLaunch)                 \
  X(cuMemcpy3DAsync_v2_ptsz, 425, 7000, 2, kLaunch)                 \
  X(cuMemcpyPeerAsync_ptsz, 426, 7000, 6, kLaunch)                  \
  X(cuMemcpy3DPeerAsync_ptsz, 427, 7000, 2, kLaunch)                \
  X(cuMemsetD8Async_ptsz, 428, 7000, 4, kLaunch)                    \
  X(cuMemsetD16Async_ptsz, 429, 7000, 4, kLaunch)                   \
  X(cuMemsetD32Async_ptsz, 430, 7000, 4, kLaunch)                   \
  X(cuMemsetD2D8Async_ptsz, 431, 7000, 6, kLaunch)                  \
  X(cuMemsetD2D16Async_ptsz, 432, 7000, 6, kLaunch)                 \
  X(cuMemsetD2D32Async_ptsz, 433, 7000, 6, kLaunch)                 \
  X(cuStreamSynchronize_ptsz, 440, 7000, 1, kSynchronise)           \
  X(cuLaunchKernel_ptsz, 442, 7000, 11, kLaunch)                    \
  X(cuLaunchCooperativeKernel, 477, 9000, 10, kLaunch)              \
  X(cuLaunchCooperativeKernel_ptsz, 478, 9000, 10, kLaunch)         \
  X(cuLaunchCooperativeKernelMultiDevice, 480, 9000, 3, kLaunch)    \
  X(cuStreamBeginCapture, 495, 10000, 1, kBeginCapture)             \
  X(cuStreamBeginCapture_ptsz, 496, 10000, 1, kBeginCapture)        \
  X(cuStreamEndCapture, 497, 10000, 2, kEndCapture)                 \
  X(cuStreamEndCapture_ptsz, 498, 10000, 2, kEndCapture)            \
  X(cuGraphInstantiate, 513, 10000, 5, kMakeGraph)                  \
  X(cuGraphLaunch, 514, 10000, 2, kLaunch)                          \
  X(cuGraphLaunch_ptsz, 515, 10000, 2, kLaunch)                     \
  X(cuGraphExecDestroy, 516, 10000, 1, kDestroyGraph)               \
  X(cuStreamBeginCapture_v2, 539, 10010, 2, kBeginCapture)          \
  X(cuStreamBeginCapture_v2_ptsz, 540, 10010, 2, kBeginCapture)     \
  X(cuDevicePrimaryCtxRelease_v2, 544, 11000, 1, kReleaseContext)   \
  X(cuDevicePrimaryCtxReset_v2, 545, 11000, 1, kResetContext)       \
  X(cuMemCreate, 549, 10020, 4, kAllocate)                          \
  X(cuMemRelease, 550, 10020, 1, kFree)                             \
  X(cuGraphInstantiate_v2, 578, 11000, 5, kMakeGraph)               \
  X(cuMemAllocAsync, 598, 11020, 3, kAllocate)                      \
  X(cuMemAllocAsync_ptsz, 599, 11020, 3, kAllocate)                 \
  X(cuMemFreeAsync, 600, 11020, 2, kFree)                           \
  X(cuMemFreeAsync_ptsz, 601, 11020, 2, kFree)                      \
  X(cuMemAllocFromPoolAsync, 611, 11020, 4, kAllocate)              \
  X(cuMemAllocFromPoolAsync_ptsz, 612, 11020, 4, kAllocate)         \
  X(cuGraphInstantiateWithFlags, 643, 12000, 3, kMakeGraph)         \
  X(cuLaunchKernelEx, 652, 11060, 4, kLaunch)                       \
  X(cuLaunchKernelEx_ptsz, 653, 11060, 4, kLaunch)                  \
  X(cuGraphInstantiateWithParams, 656, 12000, 3, kMakeGraph)        \
  X(cuGraphInstantiateWithParams_ptsz, 657, 12000, 3, kMakeGraph)   \
  X(cuStreamBeginCaptureToGraph, 720, 12030, 6, kBeginCapture)      \
  X(cuStreamBeginCaptureToGraph_ptsz, 721, 12030, 6, kBeginCapture) \
  X(cuMemcpyBatchAsync, 776, 12080, 9, kLaunch)                     \
  X(cuMemcpyBatchAsync_ptsz, 777, 12080, 9, kLaunch)                \
  X(cuMemcpy3DBatchAsync, 778, 12080, 5, kLaunch)                   \
  X(cuMemcpy3DBatchAsync_ptsz, 779, 12080, 5, kLaunch)              \
  X(cuMemcpyBatchAsync_v2, 796, 13000, 8, kLaunch)                  \
  X(cuMemcpyBatchAsync_v2_ptsz, 797, 13000, 8, kLaunch)             \
  X(cuMemcpy3DBatchAsync_v2, 798, 13000, 4, kLaunch)                \
  X(cuMemcpy3DBatchAsync_v2_ptsz, 799, 13000, 4, kLaunch)           \
  X(cuCtxSynchronize_v2, 800, 13000, 1, kSynchronise)

/// X(function, number, role): functions that launch and are gated by CUPTI alone: those that took addresses of 32 bits,
/// before CUDA 3.2, and those that are newer than the exports above.
#define CORUN_CUPTI_CALLS(X)                        \
  X(cuMemcpyHtoDAsync, 60, kLaunch)                 \
  X(cu64MemcpyHtoDAsync, 61, kLaunch)               \
  X(cuMemcpyDtoHAsync, 62, kLaunch)                 \
  X(cu64MemcpyDtoHAsync, 63, kLaunch)               \
  X(cuMemcpyDtoDAsync, 64, kLaunch)                 \
  X(cu64MemcpyDtoDAsync, 65, kLaunch)               \
  X(cuMemcpyHtoAAsync, 66, kLaunch)                 \
  X(cuMemcpyAtoHAsync, 67, kLaunch)                 \
  X(cuMemcpy2DAsync, 68, kLaunch)                   \
  X(cuMemcpy3DAsync, 69, kLaunch)                   \
  X(cuMemsetD8, 71, kLaunch)                        \
  X(cu64MemsetD8, 72, kLaunch)                      \
  X(cuMemsetD16, 73, kLaunch)                       \
  X(cu64MemsetD16, 74, kLaunch)                     \
  X(cuMemsetD32, 75, kLaunch)                       \
  X(cu64MemsetD32, 76, kLaunch)                     \
  X(cuMemsetD2D8, 77, kLaunch)                      \
  X(cu64MemsetD2D8, 78, kLaunch)                    \
  X(cuMemsetD2D16, 79, kLaunch)                     \
  X(cu64MemsetD2D16, 80, kLaunch)                   \
  X(cuMemsetD2D32, 81, kLaunch)                     \
  X(cu64MemsetD2D32, 82, kLaunch)                   \
  X(cu64MemsetD8Async, 217, kLaunch)                \
  X(cu64MemsetD16Async, 219, kLaunch)               \
  X(cu64MemsetD32Async, 221, kLaunch)               \
  X(cu64MemsetD2D8Async, 223, kLaunch)              \
  X(cu64MemsetD2D16Async, 225, kLaunch)             \
  X(cu64MemsetD2D32Async, 227, kLaunch)             \
  X(cuMemcpy_v2, 248, kLaunch)                      \
  X(cuMemcpyWithAttributesAsync, 837, kLaunch)      \
  X(cuMemcpyWithAttributesAsync_ptsz, 838, kLaunch) \
  X(cuMemcpy3DWithAttributesAsync, 839, kLaunch)    \
  X(cuMemcpy3DWithAttributesAsync_ptsz, 840, kLaunch)

/// CUPTI's numbers, by the names of the functions.
namespace cbid {
#define CORUN_NUMBER(name, number, ...) inline constexpr std::uint32_t name = number;
CORUN_DRIVER_CALLS(CORUN_NUMBER)
CORUN_CUPTI_CALLS(CORUN_NUMBER)
#undef CORUN_NUMBER
}  // namespace cbid

/// Every function by number.
struct CallNumber {
  std::uint32_t number;
  CallRole role;
};
inline constexpr CallNumber kCallNumbers[] = {
#define CORUN_EXPORTED(name, number, since, arguments, role) {number, CallRole::role},
#define CORUN_SEEN_BY_CUPTI(name, number, role) {number, CallRole::role},
    CORUN_DRIVER_CALLS(CORUN_EXPORTED) CORUN_CUPTI_CALLS(CORUN_SEEN_BY_CUPTI)
#undef CORUN_SEEN_BY_CUPTI
#undef CORUN_EXPORTED
};

}  // namespace corun::gate
