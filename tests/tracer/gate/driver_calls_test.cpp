// What the arguments of the driver's functions say.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "tracer/cuda/cupti_abi.h"
#include "tracer/gate/driver/calls.h"

namespace corun {
namespace {

using gate::CallRole;
using gate::KernelParameters;
using gate::LaunchCall;
using gate::LaunchKind;
namespace cbid = gate::cbid;

void* pointer(std::uintptr_t number) { return reinterpret_cast<void*>(number); }
void* const kLegacy = pointer(cupti::kStreamLegacy);
void* const kOfThread = pointer(cupti::kStreamPerThread);
void* const kStream = pointer(0x5000);
char kernel;

constexpr std::uint32_t kWithShape[] = {cbid::cuLaunchKernel, cbid::cuLaunchKernel_ptsz,
                                        cbid::cuLaunchCooperativeKernel, cbid::cuLaunchCooperativeKernel_ptsz};
constexpr std::uint32_t kWithConfig[] = {cbid::cuLaunchKernelEx, cbid::cuLaunchKernelEx_ptsz};
constexpr std::uint32_t kGraphLaunches[] = {cbid::cuGraphLaunch, cbid::cuGraphLaunch_ptsz};

struct Config {
  std::uint32_t grid[3], block[3], shared_bytes;
  void* stream;
};
struct WithConfig {
  const Config* config;
  const void* function;
};
struct GraphArguments {
  const void* graph;
  void* stream;
};
struct CopyArguments {
  std::uint64_t to, from, bytes;
  void* stream;
};
struct MemsetArguments {
  std::uint64_t to;
  std::uint64_t value;
  std::uint64_t count;
  void* stream;
};

KernelParameters some_kernel(void* stream = kStream) { return {&kernel, {2, 3, 5}, {7, 11, 13}, 17, stream}; }

void expect_some_kernel(const LaunchCall& call, std::uint32_t function) {
  EXPECT_EQ(call.kind, LaunchKind::kKernel) << function;
  EXPECT_TRUE(call.has_stream) << function;
  EXPECT_EQ(call.blocks, 30u) << function;
  EXPECT_EQ(call.threads, 1001u) << function;
  EXPECT_EQ(call.shared_bytes, 17u) << function;
  EXPECT_EQ(call.bytes, 0u) << function;
}

TEST(DriverCalls, EveryFunctionHasItsRoleAndNoOtherHasOne) {
  std::vector<CallRole> expected(2000, CallRole::kOther);
  for (const gate::CallNumber& call : gate::kCallNumbers) expected[call.number] = call.role;
  for (std::uint32_t function = 0; function < expected.size(); ++function)
    ASSERT_EQ(gate::role_of(function), expected[function]) << function;
  EXPECT_EQ(gate::role_of(cbid::cuLaunchKernel), CallRole::kLaunch);
  EXPECT_EQ(gate::role_of(UINT32_MAX), CallRole::kOther);
}

TEST(DriverCalls, ALaunchOfAKernelSaysItsShapeAndItsStream) {
  for (const std::uint32_t function : kWithShape) {
    const KernelParameters given = some_kernel();
    const LaunchCall call = gate::read_launch(function, &given);
    expect_some_kernel(call, function);
    EXPECT_EQ(call.stream, kStream) << function;
    EXPECT_EQ(gate::launched_kernel(function, &given), &kernel) << function;
  }
}

TEST(DriverCalls, ALaunchWithAConfigurationSaysTheSame) {
  for (const std::uint32_t function : kWithConfig) {
    const Config config{{2, 3, 5}, {7, 11, 13}, 17, kStream};
    const WithConfig given{&config, &kernel};
    const LaunchCall call = gate::read_launch(function, &given);
    expect_some_kernel(call, function);
    EXPECT_EQ(call.stream, kStream) << function;
    EXPECT_EQ(gate::launched_kernel(function, &given), &kernel) << function;
  }
}

TEST(DriverCalls, TheBlocksOfAGridMayBeMoreThan32BitsHold) {
  KernelParameters given = some_kernel();
  given.grid[0] = 0x7fff'ffff, given.grid[1] = given.grid[2] = 65535;
  EXPECT_EQ(gate::read_launch(cbid::cuLaunchKernel, &given).blocks, 0x7fff'ffffull * 65535 * 65535);
}

TEST(DriverCalls, WithoutAStreamItIsTheDefaultOneOfAllOrOfTheThread) {
  const KernelParameters given = some_kernel(nullptr);
  EXPECT_EQ(gate::read_launch(cbid::cuLaunchKernel, &given).stream, kLegacy);
  EXPECT_EQ(gate::read_launch(cbid::cuLaunchKernel_ptsz, &given).stream, kOfThread);
  EXPECT_EQ(gate::read_launch(cbid::cuLaunchCooperativeKernel, &given).stream, kLegacy);
  EXPECT_EQ(gate::read_launch(cbid::cuLaunchCooperativeKernel_ptsz, &given).stream, kOfThread);
  const Config config{{1, 1, 1}, {1, 1, 1}, 0, nullptr};
  const WithConfig with_config{&config, &kernel};
  EXPECT_EQ(gate::read_launch(cbid::cuLaunchKernelEx, &with_config).stream, kLegacy);
  EXPECT_EQ(gate::read_launch(cbid::cuLaunchKernelEx_ptsz, &with_config).stream, kOfThread);
  const GraphArguments graph{&kernel, nullptr};
  EXPECT_EQ(gate::read_launch(cbid::cuGraphLaunch, &graph).stream, kLegacy);
  EXPECT_EQ(gate::read_launch(cbid::cuGraphLaunch_ptsz, &graph).stream, kOfThread);
  const CopyArguments copy{1, 2, 3, nullptr};
  EXPECT_EQ(gate::read_launch(cbid::cuMemcpyAsync, &copy).stream, kLegacy);
  EXPECT_EQ(gate::read_launch(cbid::cuMemcpyAsync_ptsz, &copy).stream, kOfThread);
  EXPECT_EQ(gate::read_launch(cbid::cuMemcpyDtoDAsync_v2_ptsz, &copy).stream, kOfThread);
  const MemsetArguments memset{1, 2, 3, nullptr};
  EXPECT_EQ(gate::read_launch(cbid::cuMemsetD32Async, &memset).stream, kLegacy);
  EXPECT_EQ(gate::read_launch(cbid::cuMemsetD32Async_ptsz, &memset).stream, kOfThread);
}

TEST(DriverCalls, ALaunchOfAGraphSaysWhichAndIntoWhichStream) {
  for (const std::uint32_t function : kGraphLaunches) {
    const GraphArguments given{&kernel, kStream};
    const LaunchCall call = gate::read_launch(function, &given);
    EXPECT_EQ(call.kind, LaunchKind::kGraph);
    EXPECT_TRUE(call.has_stream);
    EXPECT_EQ(call.stream, kStream);
    EXPECT_EQ(call.graph, &kernel);
    EXPECT_EQ(call.blocks, 0u);
    EXPECT_EQ(gate::launched_kernel(function, &given), nullptr);
  }
}

TEST(DriverCalls, ACopyInAStreamSaysItsDirectionAndItsBytes) {
  constexpr std::pair<std::uint32_t, LaunchKind> kCopies[] = {
      {cbid::cuMemcpyHtoDAsync_v2, LaunchKind::kCopyToDevice},
      {cbid::cuMemcpyHtoDAsync_v2_ptsz, LaunchKind::kCopyToDevice},
      {cbid::cuMemcpyDtoHAsync_v2, LaunchKind::kCopyFromDevice},
      {cbid::cuMemcpyDtoHAsync_v2_ptsz, LaunchKind::kCopyFromDevice},
      {cbid::cuMemcpyDtoDAsync_v2, LaunchKind::kCopy},
      {cbid::cuMemcpyDtoDAsync_v2_ptsz, LaunchKind::kCopy},
      {cbid::cuMemcpyAsync, LaunchKind::kCopy},
      {cbid::cuMemcpyAsync_ptsz, LaunchKind::kCopy}};
  for (const auto& [function, kind] : kCopies) {
    const CopyArguments given{1, 2, 3000, kStream};
    const LaunchCall call = gate::read_launch(function, &given);
    EXPECT_EQ(call.kind, kind) << function;
    EXPECT_EQ(call.bytes, 3000u) << function;
    EXPECT_TRUE(call.has_stream) << function;
    EXPECT_EQ(call.stream, kStream) << function;
  }
}

/// What is behind its three arguments is no stream.
TEST(DriverCalls, ACopyThatBlocksHasNoStream) {
  constexpr std::pair<std::uint32_t, LaunchKind> kCopies[] = {{cbid::cuMemcpyHtoD_v2, LaunchKind::kCopyToDevice},
                                                              {cbid::cuMemcpyHtoD_v2_ptds, LaunchKind::kCopyToDevice},
                                                              {cbid::cuMemcpyDtoH_v2, LaunchKind::kCopyFromDevice},
                                                              {cbid::cuMemcpyDtoH_v2_ptds, LaunchKind::kCopyFromDevice},
                                                              {cbid::cuMemcpyDtoD_v2, LaunchKind::kCopy},
                                                              {cbid::cuMemcpyDtoD_v2_ptds, LaunchKind::kCopy},
                                                              {cbid::cuMemcpy, LaunchKind::kCopy},
                                                              {cbid::cuMemcpy_ptds, LaunchKind::kCopy}};
  for (const auto& [function, kind] : kCopies) {
    const CopyArguments given{1, 2, 3000, kStream};
    const LaunchCall call = gate::read_launch(function, &given);
    EXPECT_EQ(call.kind, kind) << function;
    EXPECT_EQ(call.bytes, 3000u) << function;
    EXPECT_FALSE(call.has_stream) << function;
    EXPECT_EQ(call.stream, nullptr) << function;
  }
}

TEST(DriverCalls, AMemsetHasAsManyBytesAsItsValuesAreWide) {
  constexpr std::pair<std::uint32_t, std::uint64_t> kMemsets[] = {
      {cbid::cuMemsetD8Async, 1000},  {cbid::cuMemsetD8Async_ptsz, 1000},  {cbid::cuMemsetD16Async, 2000},
      {cbid::cuMemsetD32Async, 4000}, {cbid::cuMemsetD16Async_ptsz, 2000}, {cbid::cuMemsetD32Async_ptsz, 4000}};
  for (const auto& [function, bytes] : kMemsets) {
    const MemsetArguments given{1, 0xffff'ffff'0000'0002, 1000, kStream};
    const LaunchCall call = gate::read_launch(function, &given);
    EXPECT_EQ(call.kind, LaunchKind::kMemset) << function;
    EXPECT_EQ(call.bytes, bytes) << function;
    EXPECT_TRUE(call.has_stream) << function;
    EXPECT_EQ(call.stream, kStream) << function;
  }
}

TEST(DriverCalls, OfALaunchWhoseArgumentsAreNotUnderstoodNothingIsSaid) {
  constexpr std::uint64_t kWords[] = {1, 2, 3, 4, 5, 6};
  for (const std::uint32_t function : {cbid::cuMemcpy2D_v2, cbid::cuMemcpyPeerAsync, cbid::cuMemsetD8_v2,
                                       cbid::cuMemsetD2D32Async, cbid::cuMemcpyBatchAsync, cbid::cuLaunchGrid}) {
    const LaunchCall call = gate::read_launch(function, kWords);
    EXPECT_EQ(call.kind, LaunchKind::kCopy) << function;
    EXPECT_FALSE(call.has_stream) << function;
    EXPECT_EQ(call.stream, nullptr) << function;
    EXPECT_EQ(call.bytes, 0u) << function;
    EXPECT_EQ(gate::launched_kernel(function, kWords), nullptr) << function;
    EXPECT_FALSE(gate::is_refused(function, kWords)) << function;
  }
}

TEST(DriverCalls, ALaunchOfNothingIsRefused) {
  for (const std::uint32_t function : kWithShape) {
    KernelParameters given = some_kernel();
    EXPECT_FALSE(gate::is_refused(function, &given)) << function;
    for (std::uint32_t* size :
         {&given.grid[0], &given.grid[1], &given.grid[2], &given.block[0], &given.block[1], &given.block[2]}) {
      const std::uint32_t before = std::exchange(*size, 0u);
      EXPECT_TRUE(gate::is_refused(function, &given)) << function;
      *size = before;
    }
    given.function = nullptr;
    EXPECT_TRUE(gate::is_refused(function, &given)) << function;
  }
}

TEST(DriverCalls, SoIsOneWithoutItsConfigurationOrOfOneOfNothing) {
  for (const std::uint32_t function : kWithConfig) {
    const Config config{{1, 1, 1}, {1, 1, 1}, 0, nullptr}, of_nothing{{1, 1, 0}, {1, 1, 1}, 0, nullptr};
    const WithConfig good{&config, &kernel}, without{nullptr, &kernel}, no_kernel{&config, nullptr},
        empty{&of_nothing, &kernel};
    EXPECT_FALSE(gate::is_refused(function, &good)) << function;
    for (const WithConfig* given : {&without, &no_kernel, &empty})
      EXPECT_TRUE(gate::is_refused(function, given)) << function;
  }
  for (const std::uint32_t function : kGraphLaunches) {
    const GraphArguments good{&kernel, nullptr}, no_graph{nullptr, kStream};
    EXPECT_FALSE(gate::is_refused(function, &good)) << function;
    EXPECT_TRUE(gate::is_refused(function, &no_graph)) << function;
  }
}

TEST(DriverCalls, WordsOfALaunchAreLaidOutAsCuptiDoes) {
  const std::uint64_t words[] = {reinterpret_cast<std::uint64_t>(&kernel), 2, 3, 5, 7, 11, 13, 17, 0x5000, 1, 1};
  for (const std::uint32_t function : kWithShape) {
    KernelParameters room{};
    const void* laid_out = gate::lay_out(function, words, room);
    ASSERT_EQ(laid_out, &room);
    EXPECT_EQ(room.function, &kernel);
    expect_some_kernel(gate::read_launch(function, laid_out), function);
    EXPECT_EQ(room.stream, kStream);
  }
  KernelParameters room{};
  EXPECT_EQ(gate::lay_out(cbid::cuMemcpyAsync, words, room), words) << "words as they are";
}

TEST(DriverCalls, FirstArgumentsAreRead) {
  const std::uint64_t words[] = {0x5000, 0x6000};
  EXPECT_EQ(gate::first_handle(words), kStream);
  EXPECT_EQ(gate::read_made_graph(words).graph, pointer(0x6000));
  EXPECT_EQ(static_cast<const void*>(gate::read_made_graph(words).made), kStream);
  const int device = 3;
  EXPECT_EQ(gate::first_number(&device), 3);
}

}  // namespace
}  // namespace corun
