// Frames of a live client: facts, and what the policy hears.
#include "tests/sim/live/client/one_client.h"
#include "tracer/gate/channel/process.h"

namespace corun {
namespace {

using namespace std::chrono_literals;
using gate::FrameMoment;

constexpr std::int64_t kNsPerMs = 1'000'000;

class ClientFrames : public testing::OneClient {
 protected:
  /// A moment of a frame so many milliseconds after the run began.
  void at(double ms, FrameMoment moment, std::uint64_t number, double gpu_end_ms = 0, std::int64_t gpu_busy_ns = 0) {
    tell(moment, number, begin_ns_ + ns(ms), gpu_end_ms == 0 ? 0 : begin_ns_ + ns(gpu_end_ms), gpu_busy_ns);
    client_->poll();
  }
  Time time(double ms) const { return clock_.at(begin_ns_ + ns(ms)); }
  static std::int64_t ns(double ms) { return static_cast<std::int64_t>(ms * kNsPerMs); }
  std::vector<FrameEvent> events() const {
    std::vector<FrameEvent> all;
    for (const auto& frame : policy_.frames) all.push_back(frame.event);
    return all;
  }

  const std::int64_t begin_ns_ = now_ns();
};

constexpr auto kBegin = FrameMoment::kBegin, kPresent = FrameMoment::kPresent, kEnd = FrameMoment::kEnd;

TEST_F(ClientFrames, AFrameIsAFactAndAJob) {
  spec_.pacing.period = 16ms;
  join();
  at(1, kBegin, 0);
  at(2, kPresent, 0);
  EXPECT_EQ(events(), (std::vector{FrameEvent::kBegin}));
  at(9.5, kEnd, 0, 9, 6 * kNsPerMs);
  ASSERT_EQ(facts_.frames.size(), 1u);
  const FrameFact& frame = facts_.frames[0];
  EXPECT_EQ(frame.number, 0u);
  EXPECT_EQ(frame.start, time(1));
  EXPECT_EQ(frame.submit, time(1));
  EXPECT_EQ(frame.gpu_begin, time(1));
  EXPECT_EQ(frame.gpu_end, time(9));
  EXPECT_EQ(frame.gpu_busy, 6ms);
  EXPECT_EQ(frame.present, time(9)) << "nothing is shown before it is rendered";
  EXPECT_FALSE(frame.missed);
  ASSERT_EQ(facts_.jobs.size(), 1u);
  EXPECT_EQ(facts_.jobs[0].number, 0u);
  EXPECT_EQ(facts_.jobs[0].begin, time(1));
  EXPECT_EQ(facts_.jobs[0].end, time(9));
  EXPECT_EQ(client_->jobs_finished(), 1u);
  EXPECT_EQ(events(), (std::vector{FrameEvent::kBegin, FrameEvent::kEnd}));
  EXPECT_EQ(policy_.frames[1].frame.gpu_busy, 6ms);
  EXPECT_EQ(use_.of(ClientId{0}), 6ms) << "the host worked before";
  EXPECT_EQ(client_->counts().first_work, time(1));
}

TEST_F(ClientFrames, WhatAFrameTookIsFromItsBeginToItsEndWhereThatIsNotKnown) {
  join();
  at(1, kBegin, 0);
  at(9, kEnd, 0);
  ASSERT_EQ(facts_.frames.size(), 1u);
  EXPECT_EQ(facts_.frames[0].gpu_busy, 8ms);
  EXPECT_EQ(facts_.frames[0].gpu_end, time(9));
  at(11, kBegin, 1);
  at(12, kEnd, 1, 12, 1);
  EXPECT_EQ(facts_.frames[1].gpu_busy, 1ns) << "a nanosecond is known";
}

TEST_F(ClientFrames, WhatAFrameCostIsItsPartOfTheDeviceWhileOthersHadWork) {
  join();
  at(1, kBegin, 0);
  use_.add(ClientId{1}, time(5), time(7));
  use_.go_on(ClientId{1}, time(8), time(9.5));
  at(9.5, kEnd, 0, 9, 6 * kNsPerMs);
  ASSERT_EQ(facts_.frames.size(), 1u);
  EXPECT_EQ(facts_.frames[0].gpu_busy, 4500us) << "3 alone, 3 of which the other had half";
  EXPECT_EQ(policy_.frames[1].frame.gpu_busy, 4500us);
  EXPECT_EQ(facts_.frames[0].gpu_end, time(9));
}

TEST_F(ClientFrames, OneInProgressHasWorkBehindWhatItsHostTakes) {
  join();
  client_->tell_use(time(3));
  at(1, kBegin, 0);
  at(6, kEnd, 0, 6, 3 * kNsPerMs);
  EXPECT_EQ(use_.of(ClientId{0}), 3ms);
  at(7, kBegin, 1);
  client_->tell_use(time(8));
  EXPECT_EQ(use_.of(ClientId{0}), 3ms) << "its host works for 2 ms";
  client_->tell_use(time(10));
  EXPECT_EQ(use_.of(ClientId{0}), 4ms);
  at(12, kEnd, 1, 12, 3 * kNsPerMs);
  EXPECT_EQ(use_.of(ClientId{0}), 6ms);
}

TEST_F(ClientFrames, OneWhoseEndIsHeardLateHasWorkUntilItEnded) {
  join();
  at(1, kBegin, 0);
  tell(kPresent, 0, begin_ns_ + ns(2), 0, 0);
  client_->tell_use(time(4));
  EXPECT_EQ(use_.of(ClientId{0}), 3ms) << "its end is not known yet";
  tell(kEnd, 0, begin_ns_ + ns(6), begin_ns_ + ns(6), 5 * kNsPerMs);
  client_->tell_use(time(10));
  EXPECT_EQ(use_.of(ClientId{0}), 5ms) << "and not until it was heard, at 10 ms";
  client_->poll();
  EXPECT_EQ(use_.of(ClientId{0}), 5ms);
}

TEST_F(ClientFrames, OneBehindAFrameWhoseEndIsHeardLateHasWorkFromThatEndOn) {
  join();
  at(1, kBegin, 0);
  at(2, kBegin, 1);
  tell(kEnd, 0, begin_ns_ + ns(6), begin_ns_ + ns(6), 5 * kNsPerMs);
  client_->tell_use(time(10));
  EXPECT_EQ(use_.of(ClientId{0}), 9ms) << "the first until 6 ms, the second since";
}

TEST_F(ClientFrames, AFrameIsMissedThatIsShownLaterThanAPeriodAfterItsStart) {
  spec_.pacing.period = 8ms;
  join();
  at(1, kBegin, 0);
  at(9, kEnd, 0, 9, 1);
  at(11, kBegin, 1);
  at(20, kEnd, 1, 19.000001, 1);
  at(21, kBegin, 2);
  at(29.5, kPresent, 2);
  at(30, kEnd, 2, 25, 1);
  ASSERT_EQ(facts_.frames.size(), 3u);
  EXPECT_FALSE(facts_.frames[0].missed) << "just in time";
  EXPECT_TRUE(facts_.frames[1].missed);
  EXPECT_EQ(facts_.frames[2].present, time(29.5));
  EXPECT_TRUE(facts_.frames[2].missed) << "rendered in time, and shown late";
}

TEST_F(ClientFrames, OneThatIsNotPacedIsNeverMissedAndThePeriodMayBeAsShortAsItLikes) {
  join();
  at(1, kBegin, 0);
  at(9, kEnd, 0, 9, 1);
  EXPECT_FALSE(facts_.frames[0].missed);
  spec_.pacing.period = 1ns;
  at(11, kBegin, 1);
  at(12, kEnd, 1, 12, 1);
  EXPECT_TRUE(facts_.frames[1].missed);
}

TEST_F(ClientFrames, AFrameThatBeginsBeforeTheOneBeforeHasEndedStartsWhenThatEnds) {
  join();
  at(1, kBegin, 0);
  at(3, kBegin, 1);
  EXPECT_EQ(events(), (std::vector{FrameEvent::kBegin}));
  at(9, kEnd, 0, 9, 7 * kNsPerMs);
  EXPECT_EQ(events(), (std::vector{FrameEvent::kBegin, FrameEvent::kEnd, FrameEvent::kBegin}));
  EXPECT_EQ(policy_.frames[2].frame.number, 1u);
  at(14, kEnd, 1, 14, 0);
  ASSERT_EQ(facts_.frames.size(), 2u);
  EXPECT_EQ(facts_.frames[1].start, time(3));
  EXPECT_EQ(facts_.frames[1].gpu_begin, time(9));
  EXPECT_EQ(facts_.frames[1].gpu_busy, 5ms);
  EXPECT_EQ(use_.of(ClientId{0}), 12ms);
}

TEST_F(ClientFrames, AFrameInProgressMayBeTheOldestThatIsUnfinished) {
  join();
  at(-500, kBegin, 0);
  EXPECT_EQ(client_->oldest_unfinished(), time(-500));
  at(-400, kBegin, 1);
  at(-300, kEnd, 0, -300, 1);
  EXPECT_EQ(client_->oldest_unfinished(), time(-300)) << "when the second could begin";
  at(-200, kEnd, 1, -200, 1);
  EXPECT_GE(client_->oldest_unfinished(), time(-101));
}

TEST_F(ClientFrames, FramesBeforeOneThatEndedAreDropped) {
  join();
  for (const std::uint64_t number : {0, 1, 2}) at(1 + static_cast<double>(number), kBegin, number);
  at(9, kEnd, 1, 9, 1);
  ASSERT_EQ(facts_.frames.size(), 1u);
  EXPECT_EQ(facts_.frames[0].number, 1u);
  EXPECT_EQ(client_->jobs_finished(), 1u);
  at(10, kEnd, 0, 10, 1);
  at(10, kPresent, 0);
  EXPECT_EQ(facts_.frames.size(), 1u) << "the end of one that is not in progress";
  at(11, kEnd, 2, 11, 1);
  EXPECT_EQ(facts_.frames.size(), 2u);
  EXPECT_EQ(policy_.completed.size(), 3u) << "no rendering is left with the arbiter";
}

TEST_F(ClientFrames, RenderingIsAnOperationThatPassesTheClosedGate) {
  join();
  at(1, kBegin, 0);
  ASSERT_EQ(policy_.submitted.size(), 1u);
  EXPECT_TRUE(policy_.submitted[0].is_render);
  EXPECT_EQ(policy_.names[0], "frame");
  EXPECT_EQ(policy_.submitted[0].number, 0u);
  EXPECT_EQ(policy_.submitted[0].submitted, time(1));
  EXPECT_EQ(policy_.launched, (std::vector<std::uint64_t>{0}));
  at(9, kEnd, 0, 9, 3);
  ASSERT_EQ(policy_.completed.size(), 1u);
  EXPECT_EQ(policy_.completed[0].second, 3ns);
  EXPECT_TRUE(facts_.ops.empty());
  EXPECT_EQ(client_->counts().slipped, 0u) << "that is no launch which slipped";
}

TEST_F(ClientFrames, WhereLaunchesWaitItIsNone) {
  join();
  launch();
  client_->poll();
  at(1, kBegin, 0);
  EXPECT_EQ(policy_.submitted.size(), 1u);
  EXPECT_TRUE(policy_.launched.empty());
  at(9, kEnd, 0, 9, 3);
  EXPECT_EQ(facts_.frames.size(), 1u);
  EXPECT_TRUE(policy_.completed.empty());
}

TEST_F(ClientFrames, AFrameIsOfTheLevelAtWhichItBegan) {
  spec_.quality_menu = {{"high", 1.0, 1.0}, {"low", 0.5, 0.8}};
  join();
  at(1, kBegin, 0);
  client_->set_quality(1);
  at(2, kEnd, 0, 2, 1);
  at(3, kBegin, 1);
  at(4, kEnd, 1, 4, 1);
  EXPECT_EQ(facts_.frames[0].quality_level, 0u);
  EXPECT_DOUBLE_EQ(facts_.frames[0].quality, 1.0);
  EXPECT_EQ(facts_.frames[1].quality_level, 1u);
  EXPECT_DOUBLE_EQ(facts_.frames[1].quality, 0.8);
  EXPECT_EQ(policy_.frames.back().frame.quality_level, 1u);
}

TEST_F(ClientFrames, WithItsProcessAFrameInProgressIsLost) {
  join();
  lane_->frame_process = 1;
  at(-50, kBegin, 0);
  at(-20, kBegin, 1);
  EXPECT_FALSE(client_->reap_dead_processes());
  lane_->frame_process = gate::kFormerProcess;
  EXPECT_TRUE(client_->reap_dead_processes());
  EXPECT_EQ(lane_->frame_process, gate::kNoProcess) << "another may take its place";
  EXPECT_TRUE(facts_.frames.empty());
  EXPECT_EQ(events(), (std::vector{FrameEvent::kBegin, FrameEvent::kEnd}));
  EXPECT_EQ(policy_.frames[1].frame.number, 0u);
  EXPECT_GE(policy_.frames[1].frame.gpu_busy, 50ms);
  EXPECT_LE(policy_.frames[1].frame.gpu_busy, clock_.now() - time(-50));
  EXPECT_EQ(policy_.completed.size(), 2u);
  EXPECT_FALSE(client_->reap_dead_processes());
}

TEST_F(ClientFrames, AClientThatLeavesLosesItsFrame) {
  join();
  at(1, kBegin, 0);
  client_->leave();
  EXPECT_EQ(events(), (std::vector{FrameEvent::kBegin, FrameEvent::kEnd}));
  EXPECT_EQ(policy_.completed.size(), 1u);
}

}  // namespace
}  // namespace corun
