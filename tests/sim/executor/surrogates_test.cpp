// Surrogates leave more time between one and the next than captured kernels do: what becomes of a queue of them.

#include "sim/executor/surrogates.h"

#include "tests/sim/executor/execute_fixture.h"

namespace corun::testing {
namespace {

using executor::Channel;
using executor::Command;
using executor::MappedChannel;
using executor::Surrogates;

DeviceSpec device_of_100_sms() {
  DeviceSpec device;
  device.sm_count = 100;
  return device;
}

/// Of one shape that takes 2 us and 1 ns an iteration, on a device with a gap of 5 us.
class SurrogatesTest : public ::testing::Test {
 protected:
  SurrogatesTest() {
    MappedChannel channel = MappedChannel::create();
    channel->shapes[0].points = 2;
    channel->shapes[0].point[0] = {0, 2'000};
    channel->shapes[0].point[1] = {100'000, 102'000};
    channel->gap_ns = 5'000;
    surrogates_.learn(*channel);
  }

  static Workload workload() {
    Workload workload;
    append_job(workload, {1ms}, 0ns, 0ns, false);
    return workload;
  }

  static WorkOp op(Duration gap, std::uint32_t stream = 0) {
    WorkOp op;
    op.dispatch_gap = gap;
    op.stream = StreamId{stream};
    return op;
  }

  /// What it is asked to take, in ns.
  std::uint64_t asked(const WorkOp& op, Duration duration, bool is_queued) {
    Command command;
    surrogates_.fill_in(command, op, duration, is_queued);
    return 2'000 + command.iterations;
  }

  Surrogates surrogates_{workload(), device_of_100_sms(), false};
};

/// Shared memory of a block of the surrogate of this kernel, on an SM with 65,536 registers and 228 KiB.
std::uint32_t shared_bytes(std::uint32_t threads, std::uint32_t registers, std::uint32_t captured_bytes) {
  Workload workload;
  append_job(workload, {1ms}, 0ns, 0ns, false);
  workload.ops.change(0, [&](WorkOp& op) { op.shape = {1000, 1, 1, threads, 1, 1, registers, captured_bytes}; });
  return Surrogates(workload, device_of_100_sms(), false).laws().at(0).shared_bytes;
}

TEST(SurrogateShapes, SharedMemoryTakesThePlaceOfRegisters) {
  EXPECT_EQ(shared_bytes(256, 232, 0), 227u << 10) << "one block an SM: all that a block can have";
  EXPECT_EQ(shared_bytes(256, 128, 0), (228u << 10) / 2 - 1024) << "two, each with the KiB that the system takes";
  EXPECT_EQ(shared_bytes(256, 128, 16 << 10), (228u << 10) / 2 - 1024);
}

TEST(SurrogateShapes, SharedMemoryStaysWhereRegistersLeaveAsManyBlocks) {
  EXPECT_EQ(shared_bytes(256, 32, 0), 0u) << "eight blocks, which is what the threads allow";
  EXPECT_EQ(shared_bytes(256, 128, 200 << 10), 200u << 10);
  EXPECT_EQ(shared_bytes(256, 0, 4096), 4096u) << "registers are not known";
}

/// A kernel of 128 threads a block that takes so long; of these blocks 1600 lie on 100 SMs at once.
WorkOp kernel_of(std::uint32_t blocks, Duration duration) {
  WorkOp op;
  op.shape = {blocks, 1, 1, 128, 1, 1, 32, 0};
  op.predicted_by_shape = duration;
  return op;
}

TEST(SurrogateShapes, AreHalvedUntilTheirBlocksCanBeCountedInTheKernelsTime) {
  const DeviceSpec device = device_of_100_sms();
  EXPECT_EQ(executor::played_blocks(device, kernel_of(64'000, 96us)), 64'000u);
  EXPECT_EQ(executor::played_blocks(device, kernel_of(64'000, 95us)), 32'000u);
  EXPECT_EQ(executor::played_blocks(device, kernel_of(2'000'000, 1ms)), 500'000u);
  EXPECT_EQ(executor::played_blocks(device, kernel_of(3'200, 1us)), 1'600u);  // which lie on the device at once
  EXPECT_EQ(executor::played_blocks(device, kernel_of(1'000, 1us)), 1'000u);
  EXPECT_EQ(executor::played_blocks(device, kernel_of(64'000, kUnknownDuration)), 64'000u);
}

TEST(SurrogateShapes, OfAWorkloadAreWhatIsPlayed) {
  Workload workload;
  workload.ops.push_back(kernel_of(64'000, 50us));
  WorkOp memset;
  memset.kind = OpKind::kMemset;
  memset.bytes = 4;
  workload.ops.push_back(memset);
  const Workload played = executor::as_surrogates(workload, device_of_100_sms());
  EXPECT_EQ(played.ops[0].shape.blocks(), 32'000u);
  EXPECT_EQ(played.ops[1].kind, OpKind::kKernel);
  EXPECT_EQ(played.ops[1].shape.blocks(), 0u);
}

TEST(SurrogateShapes, OfKernelsOfUnknownShapeFillTheDevice) {
  Workload workload;
  append_job(workload, {1ms}, 0ns, 0ns, false);
  const auto laws = Surrogates(workload, device_of_100_sms(), false).laws();
  ASSERT_EQ(laws.size(), 1u);
  EXPECT_EQ(laws[0].blocks, 800u) << "eight on each SM";
  EXPECT_EQ(laws[0].threads, 256u);
}

TEST_F(SurrogatesTest, IntoAnEmptyStreamAKernelTakesItsTime) {
  EXPECT_EQ(asked(op(1us), 20us, false), 20'000u);
  EXPECT_EQ(asked(op(1us), 20us, false), 20'000u);
  EXPECT_EQ(surrogates_.most_behind_ns(), 0);
}

TEST_F(SurrogatesTest, InAQueueItIsShorterByWhatTheGapTakesMoreThanRecorded) {
  asked(op(1us), 20us, false);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(asked(op(1us), 20us, true), 16'000u) << i;
  EXPECT_EQ(asked(op(5us), 20us, true), 20'000u);
  EXPECT_EQ(asked(op(8us), 20us, true), 23'000u) << "a longer gap than this device has is filled";
  EXPECT_EQ(surrogates_.most_behind_ns(), 0);
}

TEST_F(SurrogatesTest, WhatOneCannotBeShorterTheNextOnesAre) {
  EXPECT_EQ(asked(op(1us), 3us, true), 2'000u) << "1 us less than nothing: 3 us are missing";
  EXPECT_EQ(asked(op(1us), 4us, true), 2'000u) << "and 2 more";
  EXPECT_EQ(surrogates_.most_behind_ns(), 5'000);
  EXPECT_EQ(asked(op(1us), 20us, true), 11'000u);
  EXPECT_EQ(asked(op(1us), 20us, true), 16'000u) << "made up for";
  EXPECT_EQ(surrogates_.most_behind_ns(), 5'000);
}

TEST_F(SurrogatesTest, AnEmptyStreamBeginsAnew) {
  EXPECT_EQ(asked(op(1us), 3us, true), 2'000u);
  EXPECT_EQ(asked(op(1us), 20us, false), 20'000u);
  EXPECT_EQ(asked(op(1us), 20us, true), 16'000u);
}

TEST_F(SurrogatesTest, EachStreamHasAQueueOfItsOwn) {
  asked(op(1us, 0), 3us, true);
  EXPECT_EQ(asked(op(1us, 1), 20us, false), 20'000u);
  EXPECT_EQ(asked(op(1us, 1), 20us, true), 16'000u);
  EXPECT_EQ(asked(op(1us, 0), 20us, true), 13'000u);
}

TEST_F(SurrogatesTest, WhichTakeNoLongerForMoreWorkAreRefused) {
  MappedChannel channel = MappedChannel::create();
  channel->shapes[0].points = 2;
  channel->shapes[0].point[0] = {0, 2'000};
  channel->shapes[0].point[1] = {100'000, 2'000};
  EXPECT_THROW(surrogates_.learn(*channel), Error);
  channel->shapes[0].points = 1;
  EXPECT_THROW(surrogates_.learn(*channel), Error);
  channel->shapes[0].points = 2;
  channel->shapes[0].point[1] = {100'000, 2'001};
  channel->shapes[0].worst_error = 0.25;
  surrogates_.learn(*channel);
  EXPECT_EQ(surrogates_.worst_error(), 0.25);
}

TEST_F(SurrogatesTest, WhatIsTooShortIsToldByItsOwnTime) {
  Command command;
  EXPECT_TRUE(surrogates_.fill_in(command, op(1us), 3us, true)) << "alone it could be so short";
  EXPECT_FALSE(surrogates_.fill_in(command, op(1us), 1us, false));
}

TEST(SurrogatesOfVisits, AreLeftAsTheyAre) {
  Workload workload;
  append_job(workload, {1ms}, 0ns, 0ns, false);
  Surrogates visits(workload, device_of_100_sms(), true);
  MappedChannel channel = MappedChannel::create();
  channel->shapes[0].points = 2;
  channel->shapes[0].point[1] = {100'000, 100'000};
  visits.learn(*channel);
  WorkOp op;
  op.dispatch_gap = 10us;
  Command command;
  visits.fill_in(command, op, 20us, true);
  EXPECT_EQ(command.iterations, 20'000u);
}

/// A client whose first kernel is long enough for all others to be queued behind it.
class ExecuteQueue : public Execute {
 protected:
  static constexpr Duration kFirst = 500ms;

  /// From the end of the first to the end of the last.
  Duration length_of(std::vector<Duration> durations, Duration gap) {
    durations.insert(durations.begin(), kFirst);
    Workload workload;
    workload.names = {"kernel"};
    append_job(workload, durations, 0ns, 0ns, false);
    workload.ops.change([&](WorkOp& op) { op.dispatch_gap = gap; });
    ClientSpec spec;
    spec.name = "a";
    spec.workload = std::make_shared<const Workload>(std::move(workload));
    spec.repeat = 1;
    const Facts facts = run({spec}, 30s);
    EXPECT_EQ(facts.ops.size(), durations.size());
    return facts.ops.back().end - facts.ops.front().end;
  }
};

TEST_F(ExecuteQueue, KeepsItsRecordedPaceWhateverTheDevicesGap) {
  tell_driver("gap=5");
  const std::vector<Duration> kernels(200, 20us);
  EXPECT_NEAR(to_milliseconds(length_of(kernels, 1us)), 200 * 0.021, 0.1) << "with gaps of 5 us they would take 5 ms";
  EXPECT_EQ(report_.surrogate_gap, 5us);
  EXPECT_EQ(report_.most_behind, 0us);
}

TEST_F(ExecuteQueue, KernelsThatCannotBeShortEnoughMakeTheNextOnesShorter) {
  tell_driver("gap=5");
  std::vector<Duration> kernels;
  for (int i = 0; i < 100; ++i) kernels.insert(kernels.end(), {3us, 20us});
  EXPECT_NEAR(to_milliseconds(length_of(kernels, 1us)), 100 * (0.004 + 0.021), 0.1) << "2.8 ms if they did not";
  EXPECT_EQ(report_.most_behind, 3us);
}

TEST_F(ExecuteQueue, WhatCannotBeMadeUpForIsTold) {
  tell_driver("gap=5");
  length_of(std::vector<Duration>(50, 3us), 1us);
  EXPECT_EQ(report_.most_behind, 50 * 3us);
}

TEST_F(Execute, AHostThatWaitsForEachKernelGetsItsTime) {
  tell_driver("gap=5");
  ClientSpec spec = client("a", {20us, 50us});
  spec.repeat = 20;
  const Facts facts = run({spec}, 30s);
  ASSERT_EQ(facts.ops.size(), 40u);
  for (const OpFact& op : facts.ops) EXPECT_NEAR(to_ns(op.device_time), op.number % 2 == 0 ? 20'000 : 50'000, 5);
}

}  // namespace
}  // namespace corun::testing
