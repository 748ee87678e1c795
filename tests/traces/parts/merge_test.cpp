#include "traces/parts/merge.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/support/part_builder.h"
#include "traces/base/error.h"

namespace corun {
namespace {

using part::CallRole;
using part::Detail;
using part::RecordType;
using part::Source;
using testing::PartBuilder;
using testing::some_process;

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

constexpr std::int64_t kT = 1'000'000'000;  // where the tests' clocks begin

Timeline merge(std::vector<std::string> files, const MergeOptions& options = {}, MergeReport* report = nullptr) {
  std::vector<PartContent> parts;
  for (const std::string& file : files) parts.push_back(read_part(file, "a.part"));
  MergeReport ignored;
  return merge_parts(std::move(parts), options, report == nullptr ? ignored : *report);
}

part::KernelRecord kernel(std::int64_t start_ns, std::int64_t end_ns, std::uint32_t correlation = 0,
                          std::uint32_t stream = 7) {
  return {.start_ns = start_ns == 0 ? 0 : kT + start_ns,
          .end_ns = end_ns == 0 ? 0 : kT + end_ns,
          .correlation = correlation,
          .context = 1,
          .stream = stream};
}

part::CallRecord call(std::int64_t start_ns, std::int64_t end_ns, std::uint32_t correlation, CallRole role,
                      bool is_driver = false) {
  return {.start_ns = kT + start_ns,
          .end_ns = kT + end_ns,
          .thread = 101,
          .correlation = correlation,
          .role = role,
          .is_driver = is_driver};
}

// One frame with one visit from its start to its end on the GPU.
PartBuilder& add_frame(PartBuilder& part, std::uint64_t frame, std::int64_t present_ns, std::int64_t gpu_begin_ns,
                       std::int64_t gpu_end_ns, std::uint32_t visits = 1) {
  part.add(RecordType::kVisit, part::VisitRecord{.submit_ns = kT + gpu_begin_ns - 100,
                                                 .submit_end_ns = kT + gpu_begin_ns - 50,
                                                 .gpu_begin_ns = kT + gpu_begin_ns,
                                                 .gpu_end_ns = kT + gpu_end_ns,
                                                 .frame = frame,
                                                 .thread = 101,
                                                 .queue = 1});
  return part.add(RecordType::kFrame, part::FrameRecord{.present_ns = kT + present_ns,
                                                        .present_end_ns = kT + present_ns + 10,
                                                        .frame = frame,
                                                        .thread = 101,
                                                        .swapchain = 1,
                                                        .visits = visits});
}

PartBuilder frames_part(Source source = Source::kVulkan, std::uint32_t process = 200) {
  return PartBuilder{some_process(source, Detail::kNone, process), "game"};
}

TEST(Merge, AKernelHasItsReadableNameItsShapeItsQueueAndTheCallThatLaunchedIt) {
  PartBuilder part;
  part.add(RecordType::kStream, part::StreamRecord{.context = 1, .stream = 7, .priority = -5});
  part::KernelRecord record = kernel(5'000, 9'000, 31);
  record.name = part.text("_ZN5gemms4tileEPKfi");
  record.grid_x = 128;
  record.grid_y = record.grid_z = 1;
  record.block_x = 256;
  record.registers_per_thread = 40;
  record.graph_node = 99;
  part.add(RecordType::kKernel, record);
  part.add(RecordType::kCall, call(1'000, 3'000, 31, CallRole::kLaunch));
  part.add(RecordType::kCall, call(1'500, 2'500, 31, CallRole::kLaunch, true));
  const Timeline timeline = merge({part.end().bytes()});
  ASSERT_EQ(timeline.ops().size(), 1u);
  const OpRecord& op = timeline.ops()[0];
  EXPECT_EQ(timeline.text(op.name), "gemms::tile(float const*, int)");
  EXPECT_EQ(timeline.shapes()[op.shape].blocks(), 128u);
  EXPECT_EQ(timeline.shapes()[op.shape].registers_per_thread, 40u);
  EXPECT_EQ(op.graph_node, 99u);
  EXPECT_EQ(op.duration_ns, 4'000);
  EXPECT_EQ(timeline.queues()[op.queue],
            (QueueRecord{.device = 0, .context = 1, .stream = 7, .process = 100, .priority = -5}));
  ASSERT_EQ(timeline.calls().size(), 1u) << "the driver's call is part of the runtime's";
  EXPECT_EQ(op.call, 0u);
  EXPECT_EQ(timeline.calls()[0].duration_ns, 2'000);
  EXPECT_EQ(timeline.threads()[timeline.calls()[0].thread], (ThreadRecord{100, 101}));
}

TEST(Merge, TheTimelineIsOnTheMonotonicClockAndSaysWhereItIsFrom) {
  PartBuilder part{some_process(), "train"};
  part.add(RecordType::kKernel, kernel(10, 20));
  MergeOptions options;
  options.source_file = "x.corun";
  options.untraced_rate = UntracedRate{.launches = 640, .duration_ns = 1'000, .jitter_ppm = 3};
  const Timeline timeline = merge({part.end().bytes()}, options);
  const Provenance& provenance = timeline.provenance();
  EXPECT_EQ(provenance.source_format, "corun");
  EXPECT_EQ(provenance.clock, "monotonic");
  EXPECT_EQ(provenance.origin_ns, kT + 10);
  EXPECT_EQ(provenance.source_file, "x.corun");
  EXPECT_EQ(provenance.programs.at(100), "train");
  EXPECT_EQ(provenance.untraced_rate, options.untraced_rate);
  EXPECT_TRUE(provenance.notes.empty()) << provenance.notes[0];
  EXPECT_TRUE(timeline.fidelity().has_calls);
  EXPECT_FALSE(timeline.fidelity().has_frames);
  EXPECT_FALSE(timeline.fidelity().host_gaps_inflated);
}

TEST(Merge, APartOfKernelsAloneDoesNotClaimToHaveCalls) {
  PartBuilder part{some_process(Source::kCuda, Detail::kKernels)};
  part.add(RecordType::kKernel, kernel(10, 20));
  EXPECT_FALSE(merge({part.end().bytes()}).fidelity().has_calls);
}

TEST(Merge, CopiesHaveTheirDirectionAndACopyThatIsNotAsynchronousBlocksItsCall) {
  PartBuilder part;
  const part::CopyRecord copy{
      .start_ns = kT + 10, .end_ns = kT + 20, .bytes = 4096, .correlation = 1, .kind = part::CopyKind::kDeviceToHost};
  part.add(RecordType::kCopy, copy).add(RecordType::kCall, call(5, 25, 1, CallRole::kCopy));
  part.add(RecordType::kMemset, part::MemsetRecord{.start_ns = kT + 30, .end_ns = kT + 40, .bytes = 64});
  const Timeline timeline = merge({part.end().bytes()});
  ASSERT_EQ(timeline.ops().size(), 2u);
  EXPECT_EQ(timeline.ops()[0].kind, OpKind::kCopyDeviceToHost);
  EXPECT_EQ(timeline.ops()[0].bytes, 4096u);
  EXPECT_EQ(timeline.ops()[1].kind, OpKind::kMemset);
  EXPECT_EQ(timeline.calls()[0].kind, CallKind::kBlockingCopy);
}

TEST(Merge, AWaitForAnEventFindsTheWorkBeforeItsRecord) {
  const auto timeline_with = [](std::uint64_t event_sync) {
    PartBuilder part;
    part.add(RecordType::kKernel, kernel(100, 200, 1)).add(RecordType::kCall, call(10, 20, 1, CallRole::kLaunch));
    part.add(RecordType::kEventRecord,
             part::EventRecord{.event = 5, .correlation = 2, .context = 1, .stream = 7, .event_sync = event_sync});
    part.add(RecordType::kKernel, kernel(200, 900, 3)).add(RecordType::kCall, call(30, 40, 3, CallRole::kLaunch));
    part.add(RecordType::kEventRecord,
             part::EventRecord{.event = 5, .correlation = 6, .context = 1, .stream = 7, .event_sync = 78});
    part.add(RecordType::kCall, call(50, 950, 4, CallRole::kSynchronizeEvent));
    part.add(RecordType::kSync, part::SyncRecord{.role = CallRole::kSynchronizeEvent,
                                                 .correlation = 4,
                                                 .context = 1,
                                                 .stream = UINT32_MAX,
                                                 .event = 5,
                                                 .event_sync = event_sync});
    return merge({part.end().bytes()});
  };
  for (std::uint64_t event_sync : {77, 0}) {
    const Timeline timeline = timeline_with(event_sync);
    ASSERT_EQ(timeline.calls().size(), 3u);
    EXPECT_EQ(timeline.calls()[2].kind, CallKind::kSynchronizeEvent);
    EXPECT_EQ(timeline.calls()[2].awaited, 0u) << "the kernel before the record, though the wait took longer";
  }
}

TEST(Merge, AWaitForAnEventRecordedBeforeTheCaptureIsTakenForTheWorkThatEndedLast) {
  PartBuilder part;
  part.add(RecordType::kKernel, kernel(100, 200, 1)).add(RecordType::kCall, call(10, 20, 1, CallRole::kLaunch));
  part.add(RecordType::kCall, call(30, 210, 2, CallRole::kSynchronizeEvent));
  part.add(RecordType::kSync, part::SyncRecord{.role = CallRole::kSynchronizeEvent, .correlation = 2, .event = 5});
  const Timeline timeline = merge({part.end().bytes()});
  ASSERT_EQ(timeline.calls().size(), 2u);
  EXPECT_EQ(timeline.calls()[1].awaited, 0u);
}

TEST(Merge, AStreamsWaitNamesTheStreamThatWaits) {
  PartBuilder part;
  part.add(RecordType::kKernel, kernel(100, 200, 1)).add(RecordType::kCall, call(10, 20, 1, CallRole::kLaunch));
  part.add(RecordType::kEventRecord,
           part::EventRecord{.event = 5, .correlation = 2, .context = 1, .stream = 7, .event_sync = 9});
  part.add(RecordType::kCall, call(30, 35, 3, CallRole::kStreamWaitEvent));
  part.add(RecordType::kSync, part::SyncRecord{.role = CallRole::kStreamWaitEvent,
                                               .correlation = 3,
                                               .context = 1,
                                               .stream = 8,
                                               .event = 5,
                                               .event_sync = 9});
  const Timeline timeline = merge({part.end().bytes()});
  const CallRecord& wait = timeline.calls().at(1);
  EXPECT_EQ(timeline.queues()[wait.queue].stream, 8u);
  EXPECT_EQ(wait.awaited, 0u);
}

TEST(Merge, AWaitIsNeverForTheWorkOfAnotherProcess) {
  PartBuilder waits, works{some_process(Source::kCuda, Detail::kCalls, 300)};
  waits.add(RecordType::kKernel, kernel(100, 200, 1)).add(RecordType::kCall, call(10, 20, 1, CallRole::kLaunch));
  waits.add(RecordType::kCall, call(150, 950, 2, CallRole::kSynchronizeEvent));
  works.add(RecordType::kKernel, kernel(100, 900, 1)).add(RecordType::kCall, call(10, 20, 1, CallRole::kLaunch));
  for (const auto& files : {std::vector{waits.bytes(), works.bytes()}, std::vector{works.bytes(), waits.bytes()}}) {
    const Timeline timeline = merge(files);
    const CallRecord& wait = timeline.calls().at(2);
    ASSERT_NE(wait.awaited, OpRecord::kNoIndex);
    EXPECT_EQ(timeline.ops()[wait.awaited].duration_ns, 100);
  }
}

TEST(Merge, OperationsWithoutATimeAreLeftOutAndCounted) {
  PartBuilder part;
  part.add(RecordType::kKernel, kernel(10, 20)).add(RecordType::kKernel, kernel(0, 0));
  part.lost(part::LossReason::kNoTime, 4).lost(part::LossReason::kCuptiDropped, 7);
  MergeReport report;
  const Timeline timeline = merge({part.end().bytes()}, {}, &report);
  EXPECT_EQ(timeline.ops().size(), 1u);
  EXPECT_EQ(timeline.provenance().skipped.at("recorded by CUPTI without a time"), 5u);
  EXPECT_EQ(timeline.provenance().skipped.at("dropped by CUPTI, which had no buffer for it"), 7u);
  EXPECT_EQ(report.lost_records, 12u);
}

TEST(Merge, AFrameHasItsSubmissionItsGpuTimesAndTheUnionOfItsVisitsAsBusyTime) {
  PartBuilder part = frames_part();
  add_frame(part, 1, 1'000, 100, 900);
  part.add(RecordType::kVisit, part::VisitRecord{.submit_ns = kT + 1'100,
                                                 .submit_end_ns = kT + 1'110,
                                                 .gpu_begin_ns = kT + 1'200,
                                                 .gpu_end_ns = kT + 1'500,
                                                 .frame = 2,
                                                 .queue = 1});
  part.add(RecordType::kVisit, part::VisitRecord{.submit_ns = kT + 1'210,
                                                 .submit_end_ns = kT + 1'250,
                                                 .gpu_begin_ns = kT + 1'400,
                                                 .gpu_end_ns = kT + 1'600,
                                                 .frame = 2,
                                                 .queue = 2,
                                                 .is_wait = 1});
  add_frame(part, 2, 2'000, 1'800, 1'950, 3);
  part::FrameRecord third{
      .present_ns = kT + 3'000, .present_end_ns = kT + 3'400, .tracer_ns = 20, .frame = 3, .swapchain = 1, .visits = 0};
  const Timeline timeline = merge({part.add(RecordType::kFrame, third).end().bytes()});
  ASSERT_EQ(timeline.frames().size(), 3u);
  const std::int64_t origin = timeline.provenance().origin_ns - kT;
  const FrameRecord& frame = timeline.frames()[1];
  EXPECT_EQ(frame.present_ns + origin, 2'000);
  EXPECT_EQ(frame.interval_ns, 1'000);
  EXPECT_EQ(frame.in_present_ns, 10);
  EXPECT_EQ(frame.submit_ns + origin, 1'100);
  EXPECT_EQ(frame.gpu_begin_ns + origin, 1'200);
  EXPECT_EQ(frame.gpu_end_ns + origin, 1'950);
  EXPECT_EQ(frame.gpu_busy_ns, 400 + 150) << "two visits that overlap, and a later one";
  EXPECT_EQ(frame.cpu_busy_ns, 2'000 - 1'010 - 40) << "less the wait";
  EXPECT_EQ(frame.visits, 3u);
  EXPECT_EQ(timeline.frames()[0].interval_ns, -1) << "nobody knows what was before the first";
  EXPECT_EQ(timeline.frames()[0].cpu_busy_ns, -1);
  EXPECT_EQ(timeline.frames()[2].cpu_busy_ns, 3'000 - 2'010 - 20) << "less the tracer's own time";
  EXPECT_EQ(timeline.frames()[2].gpu_busy_ns, -1) << "not known is not zero";
  EXPECT_EQ(timeline.frames()[2].submit_ns, -1);
  EXPECT_EQ(timeline.text(timeline.swapchains().at(0).application), "game");
  EXPECT_EQ(timeline.ops().size(), 4u) << "every visit is an operation";
  EXPECT_EQ(timeline.ops()[0].kind, OpKind::kRender);
  EXPECT_EQ(timeline.calls()[timeline.ops()[0].call].kind, CallKind::kLaunch);
  EXPECT_EQ(timeline.provenance().tracer_ns, 20);
  EXPECT_TRUE(timeline.fidelity().has_frames);
  EXPECT_FALSE(timeline.fidelity().co_run) << "two queues of one process are one context";
}

TEST(Merge, DrawsOfASampledFrameLieInItsGpuTime) {
  PartBuilder part = frames_part(Source::kGl);
  add_frame(part, 1, 1'000, 100, 900);
  add_frame(part, 2, 2'000, 1'100, 1'900);
  const auto draw = [&](std::int64_t begin_ns, std::int64_t end_ns, std::uint64_t frame, std::uint16_t calls) {
    part.add(RecordType::kDraw, part::DrawRecord{.gpu_begin_ns = kT + begin_ns,
                                                 .gpu_end_ns = kT + end_ns,
                                                 .frame = frame,
                                                 .calls = calls,
                                                 .pass = 4,
                                                 .swapchain = 1});
  };
  draw(1'110, 1'400, 2, 1);
  draw(1'400, 1'890, 2, 3);
  draw(1'890, 1'600, 2, 1);
  const std::string bytes = part.end().bytes();
  const Timeline timeline = merge({bytes});
  ASSERT_EQ(timeline.draws().size(), 2u) << "one ends before it begins";
  const std::int64_t origin = timeline.provenance().origin_ns - kT;
  EXPECT_EQ(timeline.draws()[0].start_ns + origin, 1'110);
  EXPECT_EQ(timeline.draws()[1].duration_ns, 490);
  EXPECT_EQ(timeline.draws()[1].calls, 3u);
  EXPECT_EQ(timeline.draws()[1].pass, 4u);
  EXPECT_EQ(timeline.draws()[0].swapchain, timeline.frames()[1].swapchain);
  EXPECT_EQ(timeline.provenance().skipped.at("not understood"), 1u);
  EXPECT_TRUE(merge({bytes}, {.first_frame = 1, .last_frame = 1}).draws().empty()) << "their frame is not wanted";
}

TEST(Merge, BehindAMissingFrameTheIntervalIsNotKnown) {
  PartBuilder part = frames_part();
  add_frame(part, 1, 1'000, 100, 900);
  add_frame(part, 3, 3'000, 2'100, 2'900);
  add_frame(part, 4, 4'000, 3'100, 3'900);
  const Timeline timeline = merge({part.end().bytes()});
  EXPECT_EQ(timeline.frames()[1].interval_ns, -1);
  EXPECT_EQ(timeline.frames()[2].interval_ns, 1'000);
}

TEST(Merge, GlOnTopOfVulkanIsCountedOnce) {
  PartBuilder gl = frames_part(Source::kGl), vulkan = frames_part(Source::kVulkan);
  gl.add(RecordType::kSwapchain, part::SwapchainRecord{.swapchain = 1, .is_over_vulkan = 1});
  add_frame(gl, 1, 1'000, 100, 900);
  add_frame(vulkan, 1, 1'001, 120, 880);
  MergeReport report;
  const Timeline timeline = merge({gl.end().bytes(), vulkan.end().bytes()}, {}, &report);
  ASSERT_EQ(timeline.frames().size(), 1u);
  EXPECT_EQ(timeline.frames()[0].gpu_busy_ns, 760);
  EXPECT_HAS(report.notes.at(0), "its 1 frames are left out: GL ran on top of Vulkan");
  EXPECT_EQ(merge({gl.bytes()}).frames().size(), 1u) << "alone it stands";
  PartBuilder other = frames_part(Source::kVulkan, 201);
  add_frame(other, 1, 5'000, 4'100, 4'900);
  EXPECT_EQ(merge({gl.bytes(), other.end().bytes()}).frames().size(), 2u) << "another process's Vulkan is its own";
}

TEST(Merge, ContextsThatWorkAtTheSameTimeAreACoRun) {
  PartBuilder train, game = frames_part(), late = frames_part();
  train.add(RecordType::kKernel, kernel(100, 200)).add(RecordType::kKernel, kernel(900, 1'000)).end();
  add_frame(game, 1, 600, 400, 500).end();
  add_frame(late, 1, 3'000, 2'000, 2'500).end();
  EXPECT_TRUE(merge({train.bytes(), game.bytes()}).fidelity().co_run);
  EXPECT_FALSE(merge({train.bytes(), late.bytes()}).fidelity().co_run) << "one after the other";
  EXPECT_FALSE(merge({train.bytes()}).fidelity().co_run);
  MergeOptions options;
  options.other_contexts = true;
  EXPECT_TRUE(merge({train.bytes()}, options).fidelity().co_run) << "somebody else was seen";
}

TEST(Merge, GraphicsAndCudaOfOneProcessAreTwoContexts) {
  PartBuilder cuda{some_process(Source::kCuda, Detail::kCalls, 200)}, game = frames_part();
  cuda.add(RecordType::kKernel, kernel(100, 1'000)).end();
  add_frame(game, 1, 600, 400, 500).end();
  MergeReport report;
  EXPECT_TRUE(merge({cuda.bytes(), game.bytes()}, {}, &report).fidelity().co_run);
  EXPECT_EQ(report.processes, 1u);
  EXPECT_EQ(report.parts, 2u);
}

TEST(Merge, WorkOnDifferentDevicesIsNoCoRun) {
  const auto on_device = [](std::uint8_t uuid, std::uint32_t process) {
    PartBuilder part{some_process(Source::kCuda, Detail::kCalls, process)};
    part::DeviceRecord device{.device = 0, .name = part.text("GPU " + std::to_string(uuid)), .sm_count = 132};
    device.uuid[0] = uuid;
    part.add(RecordType::kDevice, device).add(RecordType::kKernel, kernel(100, 1'000));
    return part.end().bytes();
  };
  const Timeline apart = merge({on_device(1, 100), on_device(2, 101)});
  EXPECT_FALSE(apart.fidelity().co_run);
  ASSERT_EQ(apart.provenance().devices.size(), 2u) << "both are device 0 of their process";
  EXPECT_EQ(apart.provenance().devices[1].name, "GPU 2");
  EXPECT_EQ(apart.queues()[1].device, 1u);
  const Timeline together = merge({on_device(1, 100), on_device(1, 101)});
  EXPECT_TRUE(together.fidelity().co_run);
  EXPECT_EQ(together.provenance().devices.size(), 1u);
}

TEST(Merge, AFrameWindowCutsAllRowsToItsFrames) {
  PartBuilder game = frames_part(), train;
  for (std::uint64_t frame = 1; frame <= 10; ++frame) {
    const auto begin_ns = static_cast<std::int64_t>(frame) * 1'000;
    add_frame(game, frame, begin_ns + 900, begin_ns + 200, begin_ns + 800);
    train.add(RecordType::kKernel, kernel(begin_ns + 300, begin_ns + 400, static_cast<std::uint32_t>(frame)));
    train.add(RecordType::kCall,
              call(begin_ns + 250, begin_ns + 260, static_cast<std::uint32_t>(frame), CallRole::kLaunch));
  }
  MergeOptions options;
  options.first_frame = 4;
  options.last_frame = 6;
  const Timeline timeline = merge({game.end().bytes(), train.end().bytes()}, options);
  EXPECT_EQ(timeline.frames().size(), 3u);
  EXPECT_EQ(timeline.frames()[0].interval_ns, 1'000) << "frame 3 is known, though not wanted";
  EXPECT_EQ(summarize(timeline).kernels, 3u);
  EXPECT_EQ(timeline.ops().size(), 6u);
  EXPECT_EQ(timeline.calls().size(), 6u);
  options.first_frame = 11;
  options.last_frame = 12;
  EXPECT_THROW(merge({game.bytes(), train.bytes()}, options), Error);
}

TEST(Merge, APartThatEndedEarlySaysSo) {
  PartBuilder killed{some_process(), "train"}, full{some_process(Source::kCuda, Detail::kCalls, 300), "serve"};
  killed.add(RecordType::kKernel, kernel(10, 20));
  full.add(RecordType::kKernel, kernel(10, 20)).end(part::EndReason::kMaxSize);
  MergeReport report;
  const Timeline timeline = merge({killed.bytes(), full.bytes()}, {}, &report);
  ASSERT_EQ(report.notes.size(), 2u);
  EXPECT_HAS(report.notes[0], "train (process 100, CUDA): did not end properly (killed): up to one second is missing");
  EXPECT_HAS(report.notes[1], "serve (process 300, CUDA): the recording stopped at its largest size");
  EXPECT_EQ(timeline.provenance().notes, report.notes);
}

TEST(Merge, WithoutAnythingRecordedTheErrorSaysWhy) {
  MergeReport report;
  try {
    merge({PartBuilder{some_process(), "train"}.end(part::EndReason::kNoCupti).bytes()}, {}, &report);
    FAIL() << "merged nothing";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_HAS(error.message(), "nothing was recorded");
    EXPECT_HAS(error.help(), "libcupti was not found");
  }
  EXPECT_THROW(merge({}), Error);
}

TEST(Merge, SwitchesOfContextsAreMarksAtTheirInstants) {
  PartBuilder part{some_process(Source::kCuda)};
  part.add(RecordType::kKernel, kernel(100, 200));
  part.add(RecordType::kContextSwitch, part::ContextSwitchRecord{.at_ns = kT + 120, .context = 1, .is_begin = 1});
  part.add(RecordType::kContextSwitch, part::ContextSwitchRecord{.at_ns = kT + 150, .context = 1});
  const Timeline timeline = merge({part.bytes()});
  ASSERT_EQ(timeline.marks().size(), 2u);
  EXPECT_EQ(timeline.text(timeline.marks()[0].name), "switch of context 1 begins");
  EXPECT_EQ(timeline.marks()[0].start_ns, timeline.ops()[0].start_ns + 20);
  EXPECT_EQ(timeline.text(timeline.marks()[1].name), "switch of context 1 ends");
}

TEST(Merge, RangesAreMarksOfTheThreadThatEndedThem) {
  PartBuilder part;
  part.add(RecordType::kKernel, kernel(1'000, 9'000));
  part.add(RecordType::kMark,
           part::MarkRecord{.start_ns = kT + 2'000, .end_ns = kT + 6'000, .thread = 77, .name = part.text("step")});
  part.add(RecordType::kMark, part::MarkRecord{.start_ns = kT + 6'000, .end_ns = kT + 2'000});
  const Timeline timeline = merge({part.bytes()});
  ASSERT_EQ(timeline.marks().size(), 1u);
  EXPECT_EQ(timeline.text(timeline.marks()[0].name), "step");
  EXPECT_EQ(timeline.marks()[0].start_ns, 1'000);
  EXPECT_EQ(timeline.marks()[0].duration_ns, 4'000);
  EXPECT_EQ(timeline.threads()[timeline.marks()[0].thread].thread, 77u);
  EXPECT_EQ(timeline.provenance().skipped.at("not understood"), 1u);
}

TEST(Merge, MemoryThatCameIntoUseIsThatOfTheGpusWithAContext) {
  PartBuilder part;
  part.add(RecordType::kDevice, part::DeviceRecord{.device = 0, .uuid = {1}});
  part.add(RecordType::kDevice, part::DeviceRecord{.device = 1, .uuid = {2}});
  part.add(RecordType::kContext, part::ContextRecord{.device = 1, .context = 1});
  part.add(RecordType::kKernel, kernel(1'000, 9'000));
  MergeOptions options;
  options.memory_in_use = {{"GPU-01000000-0000-0000-0000-000000000000", 5},
                           {"GPU-02000000-0000-0000-0000-000000000000", 7},
                           {"GPU-03000000-0000-0000-0000-000000000000", 9}};
  const std::vector<MemoryPeak> expected = {{.device = 1, .bytes = 7, .source = MemorySource::kInUse}};
  EXPECT_EQ(merge({part.bytes()}, options).memory_peaks(), expected);
}

TEST(Merge, MemoryOfAGameIsThatOfTheOnlyGpu) {
  PartBuilder game = frames_part();
  add_frame(game, 1, 5'000, 1'000, 4'000);
  MergeOptions options;
  options.memory_in_use = {{"GPU-02000000-0000-0000-0000-000000000000", 7}};
  EXPECT_EQ(merge({game.bytes()}, options).memory_peaks().at(0).bytes, 7u);
  PartBuilder setup;  // it looks at its GPUs by CUDA, and draws by GL
  setup.add(RecordType::kDevice, part::DeviceRecord{.device = 0, .uuid = {1}});
  setup.add(RecordType::kDevice, part::DeviceRecord{.device = 1, .uuid = {2}});
  const std::vector<MemoryPeak> second = {{.device = 1, .bytes = 7, .source = MemorySource::kInUse}};
  EXPECT_EQ(merge({setup.bytes(), game.bytes()}, options).memory_peaks(), second);
  options.memory_in_use["GPU-03000000-0000-0000-0000-000000000000"] = 9;
  EXPECT_TRUE(merge({game.bytes()}, options).memory_peaks().empty()) << "which of them drew is not known";
}

TEST(Merge, PowerIsTheMeanWhileOperationsRanUnlessOthersRanToo) {
  PartBuilder part;
  part.add(RecordType::kDevice, part::DeviceRecord{.device = 0, .uuid = {1}});
  part.add(RecordType::kContext, part::ContextRecord{.device = 0, .context = 1});
  part.add(RecordType::kKernel, kernel(1'000, 9'000));
  MergeOptions options;
  options.power_between = [](std::int64_t from_ns, std::int64_t to_ns) {
    const PowerMean mean{.watts = static_cast<double>(to_ns - from_ns), .sm_mhz = 1'000};
    return std::map<std::string, PowerMean>{{"GPU-01000000-0000-0000-0000-000000000000", mean},
                                            {"GPU-02000000-0000-0000-0000-000000000000", mean}};
  };
  const std::vector<PowerMean> expected = {{.device = 0, .watts = 8'000, .sm_mhz = 1'000}};
  EXPECT_EQ(merge({part.bytes()}, options).provenance().power, expected);
  options.other_contexts = true;
  EXPECT_TRUE(merge({part.bytes()}, options).provenance().power.empty());
}

TEST(Merge, OnlyOverheadOfTheTracerItselfCountsAsItsTime) {
  PartBuilder part;
  part.add(RecordType::kKernel, kernel(10, 20));
  part.add(RecordType::kOverhead, part::OverheadRecord{.start_ns = kT, .end_ns = kT + 500, .kind = 1u << 16});
  part.add(RecordType::kOverhead, part::OverheadRecord{.start_ns = kT, .end_ns = kT + 9'000, .kind = 1});
  MergeReport report;
  EXPECT_EQ(merge({part.end().bytes()}, {}, &report).provenance().tracer_ns, 500) << "compiling is the driver's";
  EXPECT_EQ(report.tracer_ns, 500);
}

TEST(Merge, AProcessIdThatWasUsedTwiceIsTwoProcesses) {
  PartBuilder first;
  part::ProcessRecord again = some_process();
  again.start_ticks = 2;
  PartBuilder second{again, "other"};
  first.add(RecordType::kKernel, kernel(10, 20)).end();
  second.add(RecordType::kKernel, kernel(30, 40)).end();
  MergeReport report;
  const Timeline timeline = merge({first.bytes(), second.bytes()}, {}, &report);
  EXPECT_EQ(report.processes, 2u);
  EXPECT_EQ(timeline.queues().size(), 2u);
}

TEST(Merge, RecordsWithAnyNumbersAreATimelineOrAnErrorAndNeverACrash) {
  std::mt19937_64 random{11};
  for (int i = 0; i < 300; ++i) {
    PartBuilder part{some_process(i % 2 == 0 ? Source::kCuda : Source::kVulkan)};
    for (int j = 0; j < 20; ++j) {
      std::string bytes((1 + random() % 12) * 8, '\0');
      for (std::size_t at = 0; at < bytes.size(); at += 8) {
        const std::uint64_t number = random() >> (random() % 64);
        bytes.replace(at, 8, reinterpret_cast<const char*>(&number), 8);
      }
      const part::RecordHead head{static_cast<RecordType>(3 + random() % 19), static_cast<std::uint16_t>(bytes.size()),
                                  0};
      bytes.replace(0, 8, reinterpret_cast<const char*>(&head), 8);
      part.raw(bytes).flush();
    }
    try {
      merge({part.bytes()});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput) << error.what();
    }
  }
}

PartContent untraced_pass(std::uint64_t counts, std::int64_t (*step_ns)(std::uint64_t)) {
  PartContent part;
  std::int64_t at_ns = kT;
  for (std::uint64_t i = 1; i <= counts; ++i) {
    at_ns += step_ns(i);
    part.launch_counts.push_back({.at_ns = at_ns, .launches = i * part::kLaunchesPerCount});
  }
  return part;
}

TEST(UntracedRate, IsThatOfTheStretchAskedFor) {
  // 64 launches take 1 ms up to the 1,000th count, and 2 ms from there on.
  const PartContent part = untraced_pass(2'000, [](std::uint64_t i) { return i <= 1'000 ? 1'000'000L : 2'000'000L; });
  const UntracedRate slow = untraced_rate(part, 1'000 * 64, 2'000 * 64);
  EXPECT_EQ(slow.launches, 64'000u);
  EXPECT_EQ(slow.duration_ns, 2'000'000'000);
  EXPECT_DOUBLE_EQ(slow.launches_per_s(), 32'000);
  EXPECT_EQ(slow.jitter_ppm, 0u);
  const UntracedRate whole = untraced_rate(part, 1, UINT64_MAX);
  EXPECT_NEAR(whole.jitter_ppm, 333'333, 1'000) << "half the stretches twice as fast: 0.5 / 1.5";
}

TEST(UntracedRate, OfTooFewLaunchesIsAnError) {
  const PartContent part = untraced_pass(100, [](std::uint64_t) { return 1'000L; });
  EXPECT_NO_THROW(untraced_rate(part, 1, 11 * 64));
  EXPECT_THROW(untraced_rate(part, 1, 10 * 64), Error);
  EXPECT_THROW(untraced_rate(PartContent{}, 1, UINT64_MAX), Error);
}

}  // namespace
}  // namespace corun
