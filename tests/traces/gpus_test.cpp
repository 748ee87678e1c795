#include "traces/gpus.h"

#include <gtest/gtest.h>

namespace corun {
namespace {

constexpr std::int64_t us = 1000;

OpRecord op(std::uint32_t queue, std::int64_t begin_us, std::int64_t duration_us) {
  OpRecord record;
  record.start_ns = begin_us * us;
  record.duration_ns = duration_us * us;
  record.queue = queue;
  return record;
}

CallRecord call(std::uint32_t thread, CallKind kind, std::int64_t begin_us) {
  CallRecord record;
  record.start_ns = begin_us * us;
  record.duration_ns = us;
  record.kind = kind;
  record.thread = thread;
  return record;
}

/// Two streams of GPU 0 that overlap, and one of GPU 1 in a process of its own.
TimelineBuilder two_gpus() {
  TimelineBuilder builder;
  const std::uint32_t first = builder.queue({.device = 0, .context = 1, .stream = 7, .process = 10});
  const std::uint32_t second = builder.queue({.device = 0, .context = 1, .stream = 8, .process = 10});
  const std::uint32_t other = builder.queue({.device = 1, .context = 2, .stream = 7, .process = 11});
  for (const OpRecord& record : {op(first, 0, 10), op(second, 5, 10), op(other, 6, 4), op(first, 90, 10)})
    builder.add(record);
  return builder;
}

Timeline two_gpus_sealed() {
  TimelineBuilder builder = two_gpus();
  return std::move(builder).seal();
}

TEST(Gpus, AreBusyForTheUnionOfTheirStreams) {
  TimelineBuilder builder = two_gpus();
  builder.provenance().devices = {{.name = "NVIDIA A100"}, {.name = "NVIDIA T4"}};
  const Timeline timeline = std::move(builder).seal();
  const std::vector<GpuUse> gpus = gpus_of(timeline);
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].name, "NVIDIA A100");
  EXPECT_EQ(gpus[0].ops, 3U);
  EXPECT_EQ(gpus[0].busy_ns, 25 * us);
  EXPECT_EQ(gpus[1].name, "NVIDIA T4");
  EXPECT_EQ(gpus[1].busy_ns, 4 * us);
  EXPECT_EQ(summarize(timeline).busy_ns, 25 * us) << "never more than the span";
}

TEST(Gpus, AreLoadedByAllOperationsThatOverlap) { EXPECT_DOUBLE_EQ(load_of(compact(two_gpus_sealed())), 0.34); }

TEST(Gpus, HaveTheDeviceOfTheirNumberAmongThoseOfTheHost) {
  Provenance from;
  from.devices = {{.name = "NVIDIA A100"}, {.name = "NVIDIA T4"}};
  EXPECT_EQ(device_of(from, 1).name, "NVIDIA T4");
  EXPECT_EQ(device_of(from, 2).name, "") << "which of the two is not known";
  from.devices[1].name = "NVIDIA A100";
  EXPECT_EQ(device_of(from, 2).name, "NVIDIA A100") << "they are alike";
  EXPECT_EQ(device_of({}, 0).name, "");
}

TEST(Gpus, OneIsKeptWithItsProcessesAndWhatTheyWaitFor) {
  TimelineBuilder builder = two_gpus();
  const std::uint32_t mine = builder.thread({10, 1}), others = builder.thread({11, 1});
  builder.add(call(mine, CallKind::kSynchronizeDevice, 20));
  builder.add(call(others, CallKind::kSynchronizeDevice, 30));
  CallRecord awaits_other = call(mine, CallKind::kSynchronizeEvent, 40), awaits_own = awaits_other;
  awaits_other.awaited = 2;
  awaits_own.awaited = 3;
  builder.add(awaits_other);
  builder.add(awaits_own);
  CompactCapture capture = compact(std::move(builder).seal());
  keep_gpu(capture, 0);
  ASSERT_EQ(capture.op_count(), 3U);
  EXPECT_EQ(capture.starts[2], 90 * us);
  ASSERT_EQ(capture.other_calls.size(), 2U);
  EXPECT_EQ(capture.other_calls[0].call.thread, mine);
  EXPECT_EQ(capture.other_calls[1].call.awaited, 2U) << "renumbered";
}

TEST(GpuMemory, IsTheSumOfTheProcessesAllocationsElseWhatWasInUse) {
  Provenance from;
  from.memory_peaks = {{.device = 0, .process = 1, .bytes = 300, .source = MemorySource::kReserved},
                       {.device = 0, .process = 1, .bytes = 400, .source = MemorySource::kAllocated},
                       {.device = 0, .process = 2, .bytes = 50, .source = MemorySource::kReserved},
                       {.device = 0, .process = 0, .bytes = 9000, .source = MemorySource::kInUse},
                       {.device = 1, .process = 0, .bytes = 700, .source = MemorySource::kInUse}};
  EXPECT_EQ(memory_of(from, 0).bytes, 450U);
  EXPECT_EQ(memory_of(from, 1).bytes, 700U);
  EXPECT_EQ(memory_of(from, 1).source, MemorySource::kInUse);
  EXPECT_EQ(memory_of(from, 2).bytes, 0U);
}

TEST(Collectives, AreKnownByTheNamesOfTheirKernels) {
  for (const char* name : {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                           "ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWorkElem)",
                           "void vllm::cross_device_reduce_1stage<__half, 2>(vllm::RankData*)"})
    EXPECT_TRUE(is_collective(name)) << name;
  for (const char* name : {"ampere_sgemm_128x64_tn", "void at::native::reduce_kernel<512, 1>", "frame"})
    EXPECT_FALSE(is_collective(name)) << name;
}

}  // namespace
}  // namespace corun
