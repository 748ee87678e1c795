#include "traces/importers/api_calls.h"

#include <gtest/gtest.h>

namespace corun {
namespace {

TEST(ApiCalls, KnowLaunchesOfAllThreeLibrariesWithAnySuffix) {
  for (const char* name :
       {"cudaLaunchKernel", "cudaLaunchKernel_v7000", "cudaLaunchKernel_ptsz_v7000", "cudaLaunchKernelExC_v11060",
        "cuLaunchKernel", "cuLaunchKernelEx_ptsz", "hipLaunchKernel", "hipModuleLaunchKernel",
        "hipExtModuleLaunchKernel", "cudaLaunchCooperativeKernel_v9000", "cudaMemcpyAsync_v3020",
        "cuMemcpyHtoDAsync_v2", "cudaMemsetAsync", "cuMemsetD8Async", "hipMemcpyAsync", "cudaMemcpyPeerAsync"}) {
    EXPECT_EQ(kind_of_api_call(name), CallKind::kLaunch) << name;
  }
}

TEST(ApiCalls, TellWaitsFromLaunches) {
  EXPECT_EQ(kind_of_api_call("cudaGraphLaunch_v10000"), CallKind::kGraphLaunch);
  EXPECT_EQ(kind_of_api_call("cuGraphLaunch_ptsz"), CallKind::kGraphLaunch);
  EXPECT_EQ(kind_of_api_call("hipDeviceSynchronize"), CallKind::kSynchronizeDevice);
  EXPECT_EQ(kind_of_api_call("cuCtxSynchronize"), CallKind::kSynchronizeDevice);
  EXPECT_EQ(kind_of_api_call("cudaStreamSynchronize_v3020"), CallKind::kSynchronizeStream);
  EXPECT_EQ(kind_of_api_call("cuEventSynchronize"), CallKind::kSynchronizeEvent);
  EXPECT_EQ(kind_of_api_call("cudaStreamWaitEvent"), CallKind::kStreamWaitEvent);
  EXPECT_EQ(kind_of_api_call("cudaMemcpy_v3020"), CallKind::kBlockingCopy);
  EXPECT_EQ(kind_of_api_call("cuMemcpyDtoH_v2"), CallKind::kBlockingCopy);
  EXPECT_EQ(kind_of_api_call("hipMemcpyWithStream"), CallKind::kBlockingCopy);
}

TEST(ApiCalls, LeaveOutWhatNeitherSubmitsNorWaits) {
  for (const char* name : {"cudaGetErrorString", "cudaEventQuery", "cudaMalloc", "cudaEventRecord", "cuModuleLoadData",
                           "cudaStreamIsCapturing", "", "_v2", "cu", "launchKernel", "cutlass_Launch"}) {
    EXPECT_FALSE(kind_of_api_call(name)) << name;
  }
}

TEST(ApiCalls, TellTheDriverFromTheRuntime) {
  EXPECT_TRUE(is_driver_call("cuLaunchKernel"));
  EXPECT_FALSE(is_driver_call("cudaLaunchKernel"));
  EXPECT_FALSE(is_driver_call("hipLaunchKernel"));
}

TEST(ApiCalls, SuffixesAreVersionsAndStreamsOnly) {
  EXPECT_EQ(kind_of_api_call("cudaLaunchKernel_spt"), CallKind::kLaunch);
  EXPECT_EQ(kind_of_api_call("cudaLaunchKernel_ptds_v7000"), CallKind::kLaunch);
  for (const char* name : {"cudaLaunchKernel_v", "cudaLaunchKernel7", "cudaLaunchKernelv7", "cudaLaunchKernel_7"})
    EXPECT_FALSE(kind_of_api_call(name)) << name;
}

TEST(ApiCalls, CaptureOfAGraphBeginsWithAnyOfItsCalls) {
  EXPECT_TRUE(begins_graph_capture("cudaStreamBeginCapture_v10000"));
  EXPECT_TRUE(begins_graph_capture("cuStreamBeginCaptureToGraph"));
  EXPECT_FALSE(begins_graph_capture("cudaStreamEndCapture"));
  EXPECT_FALSE(is_driver_call("cu"));
  EXPECT_FALSE(is_driver_call("custom"));
  EXPECT_TRUE(is_driver_call("cuX"));
}

}  // namespace
}  // namespace corun
