#include <gtest/gtest.h>

#include "sim/solo/recorded.h"
#include "sim/solo/solo.h"

namespace corun {
namespace {

using namespace std::chrono_literals;

/// Jobs of one operation each; the host works `gap` before it.
Workload jobs_of(std::size_t count, Duration duration, Duration gap = 0ns, OpKind kind = OpKind::kKernel) {
  Workload workload;
  workload.names = {"op"};
  workload.job_kind = kind == OpKind::kRender ? JobKind::kFrame : JobKind::kIteration;
  for (std::uint32_t i = 0; i < count; ++i) {
    WorkOp op;
    op.kind = kind;
    op.duration = op.predicted_by_name = op.predicted_by_shape = duration;
    workload.ops.push_back(op);
    workload.steps.push_back(HostStep{gap, StepKind::kSubmit, i});
    workload.jobs.push_back(Job{i, 1, i, 1});
  }
  workload.recorded_span = duration * static_cast<std::int64_t>(count);
  return workload;
}

ClientSpec waiting_client(Workload workload) {
  ClientSpec spec;
  spec.name = "a";
  spec.workload = std::make_shared<Workload>(std::move(workload));
  spec.pacing.mode = Pacing::Mode::kSyncEachJob;
  return spec;
}

TEST(SoloRate, IsOfJobsHoweverShortTheCapture) {
  EXPECT_NEAR(solo_rate_at(waiting_client(jobs_of(1, 1us)), DeviceSpec{}, 1), 1e6, 1);
}

TEST(SoloRate, IsFoundThoughTheCaptureSaysNothingLikeIt) {
  Workload workload = jobs_of(1, 1s);
  workload.recorded_span = 1us;
  EXPECT_NEAR(solo_rate_at(waiting_client(std::move(workload)), DeviceSpec{}, 1), 1, 1e-6);
}

TEST(SoloRate, GoesWithTheHostGapsAndNotWithWhatIsDrawnOrWhenTheClientComes) {
  ClientSpec spec = waiting_client(jobs_of(2, 100us, 1ms));
  EXPECT_NEAR(solo_rate_at(spec, DeviceSpec{}, 1), 1 / 1.1e-3, 1e-3);
  EXPECT_NEAR(solo_rate_at(spec, DeviceSpec{}, 0.5), 1 / 0.6e-3, 1e-3);
  EXPECT_NEAR(solo_rate_at(spec, DeviceSpec{}, 0), 1 / 0.1e-3, 1e-3);
  spec.host_jitter = spec.duration_jitter = 0.3;
  spec.random_phase = true;
  spec.arrival = 100s;
  spec.repeat = 1;
  EXPECT_NEAR(solo_rate_at(spec, DeviceSpec{}, 1), 1 / 1.1e-3, 1e-3);
}

TEST(SoloFit, OfNothingLeavesAClientAsRecorded) {
  ClientSpec spec = waiting_client(jobs_of(1, 1us));
  SoloFit{}.apply_to(spec, DeviceSpec{});
  EXPECT_EQ(spec.host_gap_scale, 1);
  EXPECT_EQ(spec.launch_latency_scale, 1);
  EXPECT_EQ(spec.device_time_scale, 1);
}

/// What recorded device times allow of a rate, where they exclude it.
double possible_rate(Workload::Tracer tracer, Duration duration, double asked_per_s) {
  Workload workload = jobs_of(1, duration);
  workload.tracer = tracer;
  return fit_to_solo_rate(waiting_client(std::move(workload)), DeviceSpec{}, asked_per_s).possible_per_s;
}

TEST(FitToSoloRate, ARateThatDeviceTimesExcludeByOverTwoPercentIsToldWithWhatTheyAllow) {
  using Tracer = Workload::Tracer;
  EXPECT_NEAR(possible_rate(Tracer::kNone, 1ms, 1'021), 1'000, 0.1);
  EXPECT_EQ(possible_rate(Tracer::kNone, 1ms, 1'019), 0);
  EXPECT_NEAR(possible_rate(Tracer::kProfiler, 1ms, 1'100), 1'000, 0.1);
  EXPECT_NEAR(possible_rate(Tracer::kTracer, 40us, 27'000), 1e6 / 39.6, 1) << "0.4 us of them are the tracer's";
  EXPECT_NEAR(possible_rate(Tracer::kTracer, 10us, 110'000), 1e5 / 0.97, 20) << "no more than 3 % are";
}

TEST(TimeAlone, IsFromJoiningUntilAllPassesAreDone) {
  ClientSpec spec = waiting_client(jobs_of(3, 1ms));
  spec.repeat = 2;
  EXPECT_EQ(time_alone(spec, DeviceSpec{}, 1, 1s), Duration{6ms});
  EXPECT_EQ(time_alone(spec, DeviceSpec{}, 1, 5ms), std::nullopt);
}

ClientSpec played_once(Workload workload) {
  ClientSpec spec = waiting_client(std::move(workload));
  spec.repeat = 1;
  return spec;
}

TEST(ReplayAsRecorded, ComparesTheSpanOfKernelsFromTheFirstBeginToTheLastEnd) {
  Workload workload = jobs_of(3, 1ms, 200us);
  workload.recorded_span = 3300us;
  const RecordedReplay found = replay_as_recorded(played_once(std::move(workload)), DeviceSpec{});
  EXPECT_EQ(found.recorded, Duration{3300us});
  EXPECT_EQ(found.replayed, Duration{3400us}) << "without the host's time before the first";
  EXPECT_FALSE(found.recorded_tail);
  EXPECT_DOUBLE_EQ(found.recorded_per_s(3), 3 / 3.3e-3);
}

TEST(ReplayAsRecorded, GivesUpAfterFourTimesTheSpan) {
  const auto replayed = [](Duration span) {
    Workload workload = jobs_of(1, 100ms);
    workload.recorded_span = span;
    return replay_as_recorded(played_once(std::move(workload)), DeviceSpec{}).replayed;
  };
  EXPECT_EQ(replayed(25ms), Duration{100ms});
  EXPECT_EQ(replayed(24ms), std::nullopt) << "97 ms";
}

/// Frames shown 10 ms apart, but two that come after 50 and 20.
Workload recorded_frames(std::size_t count) {
  Workload workload = jobs_of(count, 5ms, 0ns, OpKind::kRender);
  Time at = kRunStart + 1s;
  for (std::size_t i = 0; i < count; ++i) {
    at += i == 30 ? 50ms : i == 60 ? 20ms : 10ms;
    workload.jobs[i].recorded_start = at;
  }
  workload.recorded_span = Duration{2s};
  return workload;
}

TEST(ReplayAsRecorded, ComparesFramesFromPresentToPresent) {
  const RecordedReplay found = replay_as_recorded(played_once(recorded_frames(101)), DeviceSpec{});
  EXPECT_EQ(found.recorded, Duration{100 * 10ms + 50ms});
  EXPECT_EQ(found.replayed, Duration{100 * 5ms});
  ASSERT_TRUE(found.recorded_tail && found.replayed_tail);
  EXPECT_DOUBLE_EQ(found.recorded_tail->fps_1low, 20) << "one of a hundred: that of 50 ms";
  EXPECT_DOUBLE_EQ(found.recorded_tail->frame_time_p99_ms, 20);
  EXPECT_DOUBLE_EQ(found.replayed_tail->fps_1low, 200);
  EXPECT_DOUBLE_EQ(found.replayed_tail->frame_time_p99_ms, 5);
}

TEST(ReplayAsRecorded, FewerThanAHundredFrameTimesHaveNoTail) {
  const RecordedReplay found = replay_as_recorded(played_once(recorded_frames(100)), DeviceSpec{});
  EXPECT_FALSE(found.recorded_tail);
  EXPECT_FALSE(found.replayed_tail);
}

TEST(ReplayAsRecorded, TheFiguresOfTheLogGoBeforeItsPresents) {
  Workload workload = recorded_frames(101);
  workload.recorded_frames = FrameFigures{.fps = 80, .fps_1low = 30, .frame_time_p99_s = 0.025};
  const RecordedReplay found = replay_as_recorded(played_once(std::move(workload)), DeviceSpec{});
  EXPECT_EQ(found.recorded, Duration{1'250ms}) << "a hundred frames";
  EXPECT_EQ(found.recorded_tail->fps_1low, 30);
  EXPECT_DOUBLE_EQ(found.recorded_tail->frame_time_p99_ms, 25);
}

}  // namespace
}  // namespace corun
