// Live runs with games: what policies learn about frames, and what they do about it.
#include <sstream>

#include "sim/executor/device_time/busy_time.h"
#include "sim/live/client/device_use.h"
#include "sim/live/client/profile.h"
#include "sim/live/live_capture.h"
#include "tests/sim/live/live_fixture.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/x_server.h"
#include "traces/native/native.h"

namespace corun {
namespace {

class LiveFrames : public Live {
 protected:
  /// A frame every 16 ms that takes 6 ms, reported as the GL library reports it.
  static ClientSpec paced_game() {
    ClientSpec spec = client("game", {});
    spec.command.words = {LIVE_FRAMES, "16", "6"};
    spec.role = Role::kInteractive;
    spec.pacing = {Pacing::Mode::kVsync, 16ms};
    Workload frames;
    frames.job_kind = JobKind::kFrame;
    spec.workload = std::make_shared<const Workload>(frames);
    return spec;
  }

  /// A filler with a profile: what a solo capture of it would tell.
  static ClientSpec filler(std::vector<std::string> words = {"never_synchronise", "0", "500"}) {
    ClientSpec spec = client("filler", std::move(words));
    Workload profile;
    profile.names = {"kernel", "Memset"};
    testing::append_job(profile, {500us, 5us}, 0us, 0us, false);
    profile.ops.change(1, [](WorkOp& op) { op.name = 1, op.kind = OpKind::kMemset; });
    predict_from_means(profile);
    spec.workload = std::make_shared<const Workload>(profile);
    return spec;
  }

  /// What the filler had of the device in `facts`, as a part of the time of which the game left it idle; and as a part
  /// of the game's frames.
  struct Parts {
    double of_idle, of_frames;
  };
  static Parts parts_of_filler(const LiveFacts& facts) {
    executor::BusyTime frames, filler, any;
    for (const FrameFact& frame : facts.frames) {
      frames.add(frame.gpu_begin, frame.gpu_end);
      any.add(frame.gpu_begin, frame.gpu_end);
    }
    const Time begin = facts.frames.front().gpu_begin, end = facts.frames.back().gpu_end;
    for (const OpFact& op : facts.of(1)) {
      if (op.begin < begin || op.end > end) continue;
      filler.add(op.begin, op.end);
      any.add(op.begin, op.end);
    }
    const Duration outside = any.total() - frames.total(), idle = (end - begin) - frames.total();
    return {to_seconds(outside) / to_seconds(idle), to_seconds(filler.total() - outside) / to_seconds(frames.total())};
  }
};

TEST_F(LiveFrames, WithoutAPolicyAFillerRunsAllTheTime) {
  const Parts parts = parts_of_filler(run({paced_game(), filler()}, 2s));
  EXPECT_GT(parts.of_idle, 0.6);
  EXPECT_GT(parts.of_frames, 0.6);
}

/// A busy host is late with everything: up to three runs, and bounds that distinguish a policy from none.
TEST_F(LiveFrames, PilotFishAbsoluteHarvestsBetweenFramesAndLeavesThemAlone) {
  Parts best{0, 1};
  for (int i = 0; i < 3 && !(best.of_idle > 0.3 && best.of_frames < 0.4); ++i)
    best = parts_of_filler(run({paced_game(), filler()}, 3s, "pilotfish_absolute"));
  EXPECT_GT(best.of_idle, 0.05) << "a gate that never opens gives nothing";
  EXPECT_LT(best.of_frames, 0.8) << "one that never closes gives all";
}

TEST_F(LiveFrames, FaithfulPilotFishHarvestsToo) {
  const Parts parts = parts_of_filler(run({paced_game(), filler()}, 3s, "pilotfish"));
  EXPECT_GT(parts.of_idle, 0.05) << "a busy host is late with everything";
}

/// Memsets have no name at a gate: one that was timed while the game rendered was taken to be long for ever.
TEST(LiveProfile, KnowsMemsetsWithoutAName) {
  Workload capture;
  capture.names = {"Memset"};
  testing::append_job(capture, {5us, 7us}, 0us, 0us, false);
  capture.ops.change([](WorkOp& op) { op.kind = OpKind::kMemset; });
  const live::Profile profile(capture);
  EXPECT_EQ(profile.by_name(OpKind::kMemset, ""), 6us);
  EXPECT_EQ(profile.by_name(OpKind::kCopyHostToDevice, ""), kUnknownDuration);
}

/// One that was new to it was timed while the game rendered, taken to be longer than any window, and held for ever.
TEST(LiveProfile, KnowsTheStartUpOfACaptureToo) {
  std::ifstream file("traces/samples/h200/resnet50_train.corun", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const Workload workload = workload_from_timeline(read_native(bytes, "resnet50_train.corun"), {});
  ASSERT_EQ(workload.left_out.size(), 1272u);
  const live::Profile profile(workload);
  for (const WorkOp& op : workload.left_out) {
    const std::string name = workload.names[op.name];
    EXPECT_GE(profile.by_name(op.kind, name), 0us) << name;
  }
}

TEST(LiveProfile, TakesTheMeanOfCopies) {
  Workload capture;
  capture.names = {"Memcpy"};
  testing::append_job(capture, {3us, 5us, 10us}, 0us, 0us, false);
  capture.ops.change([](WorkOp& op) { op.kind = OpKind::kCopyHostToDevice; });
  const live::Profile profile(capture);
  EXPECT_EQ(profile.by_name(OpKind::kCopyHostToDevice, ""), 6us);
  EXPECT_EQ(profile.by_shape(OpKind::kCopyHostToDevice, "", 7), 6us);
  EXPECT_EQ(profile.by_shape(OpKind::kCopyDeviceToHost, "", 7), kUnknownDuration);
  EXPECT_EQ(profile.by_name(OpKind::kKernel, "Memcpy"), kUnknownDuration);
}

TEST(LiveProfile, BelievesTheJobsOfACaptureMoreThanTheRestOfIt) {
  Workload capture;
  capture.names = {"kernel"};
  WorkOp op;
  op.shape.grid_x = 10, op.shape.grid_y = op.shape.grid_z = 1;
  op.predicted_by_name = 100us, op.predicted_by_shape = 110us;
  capture.left_out.push_back(op);
  op.shape.grid_x = 20;
  op.predicted_by_shape = 120us;
  capture.left_out.push_back(op);
  op.shape.grid_x = 10;
  op.predicted_by_name = 300us, op.predicted_by_shape = 310us;
  capture.ops.push_back(op);
  const live::Profile profile(capture);
  EXPECT_EQ(profile.by_name(OpKind::kKernel, "kernel"), 300us);
  EXPECT_EQ(profile.by_shape(OpKind::kKernel, "kernel", 10), 310us);
  EXPECT_EQ(profile.by_shape(OpKind::kKernel, "kernel", 20), 120us) << "the jobs have no such grid";
  EXPECT_EQ(profile.by_shape(OpKind::kKernel, "kernel", 30), 300us);
  EXPECT_EQ(profile.by_shape(OpKind::kKernel, "other", 10), kUnknownDuration);
}

TEST(LiveDeviceUse, GivesEqualPartsToThoseWhoTakeTurns) {
  live::DeviceUse turns(2, true), at_once(2, false);
  for (live::DeviceUse* use : {&turns, &at_once}) {
    use->add(ClientId{0}, kRunStart, kRunStart + 10ms);
    use->add(ClientId{1}, kRunStart + 4ms, kRunStart + 10ms);
    EXPECT_EQ(use->busy(), 10ms);
  }
  EXPECT_EQ(turns.of(ClientId{0}), 7ms);
  EXPECT_EQ(turns.of(ClientId{1}), 3ms);
  EXPECT_EQ(at_once.of(ClientId{0}), 10ms);
}

TEST(LiveProfile, TellsGridsOfAKernelApart) {
  Workload capture;
  capture.names = {"kernel"};
  testing::append_job(capture, {100us, 300us}, 0us, 0us, false);
  capture.ops.change([](WorkOp& op) { op.shape.grid_x = 10, op.shape.grid_y = op.shape.grid_z = 1; });
  capture.ops.change(1, [](WorkOp& op) { op.shape.grid_x = 30; });
  predict_from_means(capture);
  const live::Profile profile(capture);
  EXPECT_EQ(profile.by_shape(OpKind::kKernel, "kernel", 10), 100us);
  EXPECT_EQ(profile.by_shape(OpKind::kKernel, "kernel", 30), 300us);
  EXPECT_EQ(profile.by_shape(OpKind::kKernel, "kernel", 20), 200us) << "their mean";
}

TEST_F(LiveFrames, AGameObeysTheLevelThatAPolicySets) {
  ClientSpec game = paced_game();
  game.command.words = {LIVE_FRAMES, "16", "12"};
  game.quality_menu = {{"high", 1.0, 1.0}, {"low", 0.5, 0.8}};
  const LiveFacts facts = run({game}, 2s, "static_quality", {{"level", "cheapest"}});
  ASSERT_GT(facts.frames.size(), 20u);
  const FrameFact& last = facts.frames.back();
  EXPECT_EQ(last.quality_level, 1u);
  EXPECT_DOUBLE_EQ(last.quality, 0.8);
  EXPECT_LT(last.gpu_busy, 12ms) << "it obeys";
}

TEST_F(LiveFrames, AProcessKilledAsItTellsOfAFrameDoesNotSilenceThoseAfterIt) {
  ClientSpec game = paced_game();
  game.command.words.emplace_back("torn");
  const LiveFacts facts = run({game}, 2s);
  EXPECT_GT(facts.frames.size(), 50u);
  ASSERT_EQ(report_.notes.size(), 1u);
  EXPECT_NE(report_.notes[0].find("lost 1 frame records"), std::string::npos) << report_.notes[0];
}

TEST_F(LiveFrames, ARunLeavesACaptureOfItself) {
  const auto rule = testing::make_policy("pilotfish_absolute", {});
  RunInput input;
  input.clients = {paced_game(), filler()};
  input.policy = rule.get();
  input.policy_name = "pilotfish_absolute";
  input.horizon = 1s;
  LiveFacts facts;
  live::LiveCapture capture(facts, input.clients);
  live::run_live(input, capture, options_, report_);
  const Timeline timeline = std::move(capture).seal(input.policy_name);
  EXPECT_EQ(timeline.frames().size(), facts.frames.size());
  const auto kept = std::ranges::count(facts.ops, false, &OpFact::is_lost);
  EXPECT_EQ(static_cast<std::ptrdiff_t>(timeline.ops().size()), kept);
  EXPECT_EQ(timeline.calls().size(), timeline.ops().size());
  EXPECT_EQ(timeline.provenance().programs.at(2), "filler");
  EXPECT_TRUE(timeline.fidelity().co_run) << "else it could be replayed as if it had run alone";
  EXPECT_EQ(read_native(encode_native(timeline), "run.corun").ops(), timeline.ops());
}

#ifdef LIVE_GAME
/// A real one, rendered by a processor.
class LiveGame : public LiveFrames {
 protected:
  LiveGame() { options_.frame_library = CORUN_FRAME_LIBRARY; }
  static ClientSpec game() {
    ClientSpec spec = paced_game();
    spec.command.words = {LIVE_GAME};
    return spec;
  }
};

TEST_F(LiveGame, FramesAreHeard) {
  const LiveFacts facts = run({game()}, 2s);
  ASSERT_GT(facts.frames.size(), 5u);
  EXPECT_TRUE(report_.notes.empty());
  for (const FrameFact& frame : facts.frames) {
    EXPECT_LT(frame.submit, frame.gpu_end);
    EXPECT_LE(frame.gpu_end, frame.present);
    EXPECT_GT(frame.gpu_busy, 0ms);
  }
}

/// Two libraries are preloaded then, the gate's and that of frames, and both answer for dlsym().
TEST_F(LiveGame, FramesOfAGameThatFindsItsFunctionsByDlsymAreHeardBesideTheGate) {
  for (const bool is_gated_by_cupti : {false, true}) {
    options_.is_gated_by_cupti = is_gated_by_cupti;
    ClientSpec spec = game();
    spec.command.words.push_back("by_dlsym");
    EXPECT_GT(run({spec}, 2s).frames.size(), 5u) << is_gated_by_cupti;
  }
}

/// How much of the filler falls into frames depends on how fast a processor renders them: not asked here.
TEST_F(LiveGame, PilotFishHearsFramesAndLetsAFillerRunBesideThem) {
  const LiveFacts facts = run({game(), filler()}, 2s, "pilotfish", {{"budget", "absolute"}, {"launch_retry", "1ms"}});
  EXPECT_FALSE(facts.frames.empty());
  EXPECT_FALSE(facts.of(1).empty());
}
#endif

#ifdef LIVE_VK_APP
/// Rendered by a processor, shown in a window.
class LiveVulkan : public LiveFrames {
 protected:
  void SetUp() override {
    options_.layer_data = CORUN_LAYER_SHARE;
    if (server_.display.empty()) GTEST_SKIP() << "no Xvfb";
  }
  ClientSpec game(std::vector<std::string> words) {
    ClientSpec spec = paced_game();
    words.insert(words.begin(), LIVE_VK_APP);
    spec.command.words = std::move(words);
    spec.command.environment = {"DISPLAY=" + server_.display, "XDG_RUNTIME_DIR=" + folder_.path().string()};
    return spec;
  }
  /// Frames of a program that shows so many and ends with 9, as it does when unobserved; of one that leaves its
  /// device as it is, those that have ended while it ran.
  void expect_frames(std::size_t least, std::size_t most, std::vector<std::string> words) {
    const LiveFacts facts = run({game(std::move(words))}, 10s);
    ASSERT_EQ(report_.notes.size(), 1u);
    if (report_.notes[0].find("exit code 77") != std::string::npos) GTEST_SKIP() << "no driver that can draw to X";
    EXPECT_NE(report_.notes[0].find("exit code 9"), std::string::npos) << report_.notes[0];
    EXPECT_GE(facts.frames.size(), least);
    EXPECT_LE(facts.frames.size(), most);
    for (std::size_t i = 0; i < facts.frames.size(); ++i) {
      const FrameFact& frame = facts.frames[i];
      EXPECT_EQ(frame.number, i);
      EXPECT_LE(frame.submit, frame.gpu_end);
      EXPECT_GT(frame.gpu_busy, 0ms);
      EXPECT_GE(frame.present, frame.submit);
    }
  }

  testing::TemporaryFolder folder_;

 private:
  testing::XServer server_;
};

TEST_F(LiveVulkan, FramesAreHeard) { expect_frames(60, 60, {"--frames", "60", "--submits", "3"}); }

TEST_F(LiveVulkan, FramesOfAProgramThatPresentsFromAnotherThreadAndLeavesItsDeviceAreHeard) {
  expect_frames(1, 30, {"--frames", "30", "--present-thread", "--leave"});
}

/// The validation layer is below ours, and sees what we add.
TEST_F(LiveVulkan, WhatIsAddedIsAsVulkanAsks) {
  ClientSpec valid = game({});
  const std::string output = folder_ / "output";
  valid.command.words = {"sh", "-c", std::string(LIVE_VK_APP) + " --frames 30 --validate > " + output};
  const LiveFacts facts = run({valid}, 10s);
  ASSERT_EQ(report_.notes.size(), 1u);
  if (report_.notes[0].find("exit code 77") != std::string::npos) GTEST_SKIP() << "no validation layer, or no driver";
  EXPECT_NE(report_.notes[0].find("exit code 9"), std::string::npos) << report_.notes[0];
  EXPECT_EQ(facts.frames.size(), 30u);
  std::ostringstream text;
  text << std::ifstream(output).rdbuf();
  EXPECT_NE(text.str().find("messages 0"), std::string::npos) << text.str();
}
#endif

}  // namespace
}  // namespace corun
