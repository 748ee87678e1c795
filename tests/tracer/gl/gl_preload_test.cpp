#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "tests/tracer/gl/traced_run.h"

namespace corun {
namespace {

std::string gl_app(const std::string& words) { return (build_folder() / "gl_app").string() + " " + words; }

/// Runs gl_app with and without the library, and gives the part of the run with it.
class GlApp : public testing::Test {
 protected:
  void SetUp() override {
    const Ended ended = run(gl_app("dlsym 1 0"));
    if (ended.code == 3) GTEST_SKIP() << "no EGL here: " << ended.output;
  }

  PartContent trace(const std::string& words, const std::string& settings = "") {
    const Ended bare = run(gl_app(words));
    const TracedRun traced;
    EXPECT_EQ(traced.run(gl_app(words), settings), bare) << "the program must not notice";
    EXPECT_EQ(bare.code, 9) << bare.output;
    std::vector<PartContent> parts = traced.parts();
    EXPECT_EQ(parts.size(), 1u);
    if (parts.empty()) return {};
    EXPECT_EQ(parts[0].damage, "");
    EXPECT_TRUE(parts[0].end.has_value());
    return std::move(parts[0]);
  }
};

std::map<std::uint64_t, std::vector<part::VisitRecord>> visits_by_frame(const PartContent& part) {
  std::map<std::uint64_t, std::vector<part::VisitRecord>> result;
  for (const part::VisitRecord& visit : part.visits) result[visit.frame].push_back(visit);
  return result;
}

/// Every frame once, in order of time; every frame but the first, which ends with the first swap, with its visits.
void expect_frames(const PartContent& part, std::size_t frames, std::size_t visits_each) {
  ASSERT_EQ(part.frames.size(), frames);
  const auto visits = visits_by_frame(part);
  for (std::size_t i = 0; i < frames; ++i) {
    const part::FrameRecord& frame = part.frames[i];
    EXPECT_EQ(frame.frame, i + 1);
    EXPECT_LE(frame.present_ns, frame.present_end_ns);
    if (i == 0) continue;
    EXPECT_GE(frame.present_ns, part.frames[i - 1].present_end_ns);
    EXPECT_EQ(frame.visits, visits_each) << "frame " << i + 1;
    EXPECT_EQ(visits.at(i + 1).size(), visits_each) << "frame " << i + 1;
  }
}

/// GPU times lie where they must: after the swap before, in order, and (where the call waited) before its return.
void expect_times(const PartContent& part) {
  std::size_t timed = 0;
  for (const part::VisitRecord& visit : part.visits) {
    EXPECT_LE(visit.submit_ns, visit.submit_end_ns);
    if (visit.gpu_end_ns == 0 || visit.frame > part.frames.size()) continue;
    ++timed;
    const std::int64_t margin = visit.gpu_error_ns + 50'000;
    EXPECT_LE(visit.gpu_begin_ns, visit.gpu_end_ns);
    EXPECT_GE(visit.gpu_begin_ns + margin, part.frames[visit.frame - 2].present_end_ns);
    EXPECT_LE(visit.gpu_end_ns, (visit.is_wait ? visit.submit_end_ns : part.end->at_ns) + margin);
  }
  EXPECT_GE(timed + 8, part.visits.size()) << "most visits have GPU times";
}

class EveryWayToGl : public GlApp, public testing::WithParamInterface<const char*> {};

TEST_P(EveryWayToGl, GivesEveryFrameWithAVisitPerSubmission) {
  const PartContent part = trace(std::string(GetParam()) + " 40 3");
  expect_frames(part, 40, 4);
  expect_times(part);
  EXPECT_EQ(part.process.source, part::Source::kGl);
  EXPECT_EQ(part.end->reason, part::EndReason::kExit);
  ASSERT_EQ(part.swapchains.size(), 1u);
  EXPECT_EQ(part.swapchains[0].width, 64u);
  EXPECT_NE(part.texts.at(part.swapchains[0].renderer), "");
}

INSTANTIATE_TEST_SUITE_P(All, EveryWayToGl, testing::Values("linked", "dlsym", "procaddr"),
                         [](const auto& way) { return std::string(way.param); });

TEST_F(GlApp, AWaitIsMarkedAndItsGpuTimeEndsBeforeItReturns) {
  const PartContent part = trace("linked 30 2 finish");
  expect_frames(part, 30, 3);
  expect_times(part);
  for (const auto& [frame, visits] : visits_by_frame(part)) {
    if (frame > 30) continue;
    const auto waits = std::count_if(visits.begin(), visits.end(), [](const auto& visit) { return visit.is_wait; });
    EXPECT_EQ(waits, 2);
  }
}

TEST_F(GlApp, ItsOwnElapsedQueryAndItsOwnErrorsStay) {
  const PartContent part = trace("linked 20 2 elapsed error");
  expect_frames(part, 20, 3);
  expect_times(part);
}

TEST_F(GlApp, ItsOwnBufferForResultsOfQueriesStays) {
  const PartContent part = trace("linked 20 2 buffer");
  expect_frames(part, 20, 3);
}

TEST_F(GlApp, DisplayListsAreCompiledWithoutStampsInThem) {
  const PartContent part = trace("linked 20 1 list");
  expect_frames(part, 20, 2);
  expect_times(part);
}

/// Draws of each sampled frame.
std::map<std::uint64_t, std::vector<part::DrawRecord>> draws_by_frame(const PartContent& part) {
  std::map<std::uint64_t, std::vector<part::DrawRecord>> result;
  for (const part::DrawRecord& draw : part.draws) result[draw.frame].push_back(draw);
  return result;
}

TEST_F(GlApp, AFewFramesSayOfWhichDrawsTheyAreMade) {
  const PartContent part = trace("linked 10000 2");
  expect_frames(part, 10000, 3);
  const auto sampled = draws_by_frame(part);
  ASSERT_GE(sampled.size(), 1u);
  EXPECT_LE(sampled.size(), 10000u / 61);
  const auto visits = visits_by_frame(part);
  for (const auto& [frame, draws] : sampled) {
    ASSERT_EQ(draws.size(), 6u) << "three visits of a glClear and a triangle, frame " << frame;
    std::int64_t drawn_ns = 0, visited_ns = 0;
    for (const part::DrawRecord& draw : draws) {
      EXPECT_EQ(draw.calls, 1u);
      EXPECT_EQ(draw.swapchain, 1u);
      EXPECT_LE(draw.gpu_begin_ns, draw.gpu_end_ns);
      drawn_ns += draw.gpu_end_ns - draw.gpu_begin_ns;
    }
    for (const part::VisitRecord& visit : visits.at(frame)) visited_ns += visit.gpu_end_ns - visit.gpu_begin_ns;
    EXPECT_LE(drawn_ns, visited_ns + 1000) << "frame " << frame;
    EXPECT_GE(drawn_ns, visited_ns / 2) << "frame " << frame;
  }
}

std::vector<int> passes_of(const std::vector<part::DrawRecord>& draws) {
  std::vector<int> passes;
  for (const part::DrawRecord& draw : draws) passes.push_back(draw.pass);
  return passes;
}

TEST_F(GlApp, DrawsSayOfWhichPassTheyAre) {
  for (const auto& [frame, draws] : draws_by_frame(trace("linked 10000 2")))
    EXPECT_EQ(passes_of(draws), (std::vector<int>{1, 1, 2, 2, 3, 3})) << "one a visit, frame " << frame;
  for (const std::string way : {"linked", "procaddr"}) {
    const auto sampled = draws_by_frame(trace(way + " 10000 2 passes"));
    EXPECT_GE(sampled.size(), 1u) << way;
    for (const auto& [frame, draws] : sampled)
      EXPECT_EQ(passes_of(draws), (std::vector<int>{1, 2, 3, 4, 5, 6})) << "frame " << frame << ", " << way;
  }
}

TEST_F(GlApp, DisplayListsInsideOfADrawGetNoStamps) {
  const PartContent part = trace("linked 10000 1 list inside");
  for (const auto& [frame, draws] : draws_by_frame(part)) {
    ASSERT_EQ(draws.size(), 4u) << "two visits of a glClear and a triangle, frame " << frame;
    for (const part::DrawRecord& draw : draws) EXPECT_EQ(draw.calls, 2u) << "with its display list";
  }
  EXPECT_GE(part.draws.size(), 4u);
}

TEST_F(GlApp, GlesFramesHaveGpuTimesToo) {
  const PartContent part = trace("dlsym 20 2 es");
  expect_frames(part, 20, 3);
  expect_times(part);
}

TEST_F(GlApp, FramesOfTwoContextsAreKeptApart) {
  const PartContent part = trace("linked 20 2 contexts");
  EXPECT_EQ(part.frames.size(), 40u);
  EXPECT_EQ(part.swapchains.size(), 2u);
  std::map<std::uint32_t, std::size_t> per_swapchain;
  for (const part::FrameRecord& frame : part.frames) {
    const bool is_settled = ++per_swapchain[frame.swapchain] > 2;  // both have been shown before it began
    EXPECT_TRUE(!is_settled || frame.visits == 3) << "frame " << frame.frame << ": " << frame.visits;
  }
  EXPECT_EQ(per_swapchain[1], 20u);
  EXPECT_EQ(per_swapchain[2], 20u);
}

TEST_F(GlApp, FramesOfTwoThreadsAreKeptApart) {
  const PartContent part = trace("dlsym 50 2 threads");
  // One thread opens the part at its first swap; the other's first, if it comes meanwhile, is not recorded.
  EXPECT_LE(part.frames.size(), 100u);
  EXPECT_GE(part.frames.size(), 99u);
  std::map<std::uint32_t, std::set<std::uint32_t>> threads;
  std::set<std::uint64_t> numbers;
  for (const part::FrameRecord& frame : part.frames) {
    threads[frame.swapchain].insert(frame.thread);
    numbers.insert(frame.frame);
  }
  EXPECT_EQ(numbers.size(), part.frames.size()) << "no number is given twice";
  EXPECT_EQ(threads[1].size(), 1u);
  EXPECT_EQ(threads[2].size(), 1u);
  EXPECT_NE(threads[1], threads[2]);
}

TEST_F(GlApp, AThreadThatOnlySubmitsIsSeenUnderTheFrameInTheMaking) {
  const PartContent part = trace("dlsym 10 1 loader");
  EXPECT_EQ(part.frames.size(), 10u);
  std::vector<part::VisitRecord> loads, draws;
  for (const part::VisitRecord& visit : part.visits) {
    (visit.thread == part.frames[0].thread ? draws : loads).push_back(visit);
  }
  ASSERT_EQ(loads.size(), 3u);
  for (const part::VisitRecord& visit : loads) {
    EXPECT_EQ(visit.frame, 6u);
    EXPECT_NE(visit.queue, draws.at(0).queue);
  }
  EXPECT_EQ(part.frames[5].visits, 5u) << "two of its own and three loads";
}

TEST_F(GlApp, ItsForkedChildWritesNothing) {
  const PartContent part = trace("linked 20 1 fork");
  expect_frames(part, 20, 2);
}

TEST_F(GlApp, OnlyTheFramesAskedForAreKept) {
  const PartContent part = trace("linked 40 1", "CORUN_TRACE_FRAMES=11..20");
  ASSERT_EQ(part.frames.size(), 10u);
  EXPECT_EQ(part.frames.front().frame, 11u);
  for (const auto& [frame, visits] : visits_by_frame(part)) {
    EXPECT_TRUE(frame >= 11 && frame <= 20) << frame;
    EXPECT_EQ(visits.size(), 2u);
  }
}

/// What becomes of a visit for which there is no query is the matter of visits_test.cpp.
TEST_F(GlApp, MoreSubmissionsInAFrameThanThereAreQueriesAreAllSeen) {
  const PartContent part = trace("linked 3 5000");
  ASSERT_EQ(part.frames.size(), 3u);
  EXPECT_EQ(part.frames[2].visits, 5001u);
  EXPECT_EQ(visits_by_frame(part).at(3).size(), 5001u);
}

TEST_F(GlApp, IsLeftAloneWhereNothingIsAskedFor) {
  const Ended bare = run(gl_app("linked 10 1 elapsed"));
  const TracedRun off;
  EXPECT_EQ(off.run(gl_app("linked 10 1 elapsed"), "CORUN_TRACE_GL=off"), bare);
  EXPECT_EQ(off.run(gl_app("linked 10 1 elapsed"), "CORUN_TRACE_DIR="), bare);
  EXPECT_EQ(off.run(gl_app("linked 10 1 elapsed"), "CORUN_TRACE_DIR=/no/such/folder"), bare);
  EXPECT_TRUE(off.parts().empty());
}

/// Which of two preloads comes first, and how the other one finds the true swap.
class BesideAnotherPreload : public GlApp, public testing::WithParamInterface<std::tuple<bool, bool>> {};

TEST_P(BesideAnotherPreload, EverySwapIsSeenOnce) {
  const auto [is_first, is_by_handle] = GetParam();
  const std::string other = (build_folder() / "libgl_overlay.so").string();
  const std::string app = gl_app("linked 20 1");
  const std::string way = is_by_handle ? "OVERLAY_BY_HANDLE=1" : "";
  const Ended bare = run("env " + way + " LD_PRELOAD=" + other + " " + app);
  EXPECT_NE(bare, run(app)) << "the overlay shows";
  const std::string both = is_first ? "$LD_PRELOAD:" + other : other + ":$LD_PRELOAD";
  const TracedRun traced;
  EXPECT_EQ(traced.run("sh -c 'LD_PRELOAD=" + both + " " + app + "'", way), bare);
  const std::vector<PartContent> parts = traced.parts();
  ASSERT_EQ(parts.size(), 1u);
  expect_frames(parts[0], 20, 2);
}

INSTANTIATE_TEST_SUITE_P(All, BesideAnotherPreload, testing::Combine(testing::Bool(), testing::Bool()),
                         [](const auto& way) {
                           return std::string(std::get<0>(way.param) ? "first" : "second") +
                                  (std::get<1>(way.param) ? "_by_handle" : "_by_next");
                         });

/// Programs of Mesa and others, under a virtual screen, that say themselves how many frames they drew.
class PublicPrograms : public testing::Test {
 protected:
  static constexpr const char* kScreen = "xvfb-run -a -s '-screen 0 640x480x24'";

  bool can_run(const std::string& program) { return is_installed("xvfb-run") && is_installed(program); }

  PartContent trace(const std::string& command) {
    const TracedRun traced;
    ended_ = traced.run(command, "", kScreen);
    std::vector<PartContent> parts = traced.parts();
    EXPECT_EQ(parts.size(), 1u) << ended_.output;
    return parts.empty() ? PartContent{} : std::move(parts[0]);
  }

  Ended ended_;
};

TEST_F(PublicPrograms, Glmark2DrawsItsFramesThroughGlx) {
  if (!can_run("glmark2")) GTEST_SKIP() << "needs xvfb-run and glmark2";
  const PartContent part = trace("glmark2 -s 64x64 -b build:nframes=100");
  expect_frames(part, 100, 1);
  expect_times(part);
}

TEST_F(PublicPrograms, Glmark2Es2DrawsItsFramesThroughEgl) {
  if (!can_run("glmark2-es2")) GTEST_SKIP() << "needs xvfb-run and glmark2-es2";
  const PartContent part = trace("glmark2-es2 -s 64x64 -b build:nframes=100");
  expect_frames(part, 100, 1);
  expect_times(part);
}

/// glxgears counts from its first frame and reports behind the first one that is 5 seconds later. With its second
/// report the frames of the first are in the file.
TEST_F(PublicPrograms, GlxgearsCountsTheSameFrames) {
  if (!can_run("glxgears")) GTEST_SKIP() << "needs xvfb-run and glxgears";
  const PartContent part = trace(
      "sh -c '(timeout 60 stdbuf -oL glxgears & echo $!; wait) |"
      " { read glxgears; read first; read second; echo $first; kill $glxgears; }'");
  std::smatch said;
  ASSERT_TRUE(std::regex_search(ended_.output, said, std::regex("([0-9]+) frames in ([0-9.]+) seconds")))
      << ended_.output;
  const auto frames = std::stoul(said[1]);
  ASSERT_GT(part.frames.size(), frames);
  const auto ns = static_cast<double>(part.frames[frames - 1].present_ns - part.frames[0].present_ns);
  EXPECT_NEAR(ns / 1e9, std::stod(said[2]), 0.5) << "its clock starts a little before the first swap; a busy host more";
}

}  // namespace
}  // namespace corun
