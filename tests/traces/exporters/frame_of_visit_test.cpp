#include "traces/exporters/frame_of_visit.h"

#include <gtest/gtest.h>

#include <utility>

namespace corun {
namespace {

constexpr std::uint32_t kNone = OpRecord::kNoIndex;

// A game whose frames and visits are added by their instants; all else is as plain as can be.
class Game {
 public:
  void frame(std::int64_t submit_ns, std::int64_t gpu_begin_ns, std::int64_t gpu_end_ns) {
    present_ns_ += 10;
    builder_.add(FrameRecord{.present_ns = present_ns_,
                             .submit_ns = submit_ns,
                             .gpu_begin_ns = gpu_begin_ns,
                             .gpu_end_ns = gpu_end_ns,
                             .swapchain = builder_.swapchain({.process = 7})});
  }

  void visit(std::int64_t submit_ns, std::int64_t begin_ns, std::int64_t end_ns, std::uint64_t process = 7) {
    const std::uint32_t queue = builder_.queue({.process = process});
    const std::uint32_t thread = builder_.thread({.process = process});
    const std::uint32_t call =
        submit_ns == -1 ? kNone : builder_.add(CallRecord{.start_ns = submit_ns, .thread = thread, .queue = queue});
    builder_.add(OpRecord{
        .start_ns = begin_ns, .duration_ns = end_ns - begin_ns, .kind = OpKind::kRender, .queue = queue, .call = call});
  }

  std::vector<std::uint32_t> frames_of_visits() && { return corun::frames_of_visits(std::move(builder_).seal()); }

 private:
  TimelineBuilder builder_;
  std::int64_t present_ns_ = 0;
};

TEST(FrameOfVisit, IsTheOneBeingSubmittedThoughTheGpuIsFarBehind) {
  Game game;
  game.frame(0, 100, 200);
  game.frame(10, 150, 300);
  game.visit(0, 100, 160);
  game.visit(10, 150, 190);
  game.visit(5, 170, 200);
  game.visit(12, 190, 300);
  EXPECT_EQ(std::move(game).frames_of_visits(), (std::vector<std::uint32_t>{0, 1, 0, 1}));
}

TEST(FrameOfVisit, IsTheOneTheGpuBeganLastWhereTheSubmissionIsNotKnown) {
  Game game;
  game.frame(0, 0, 50);
  game.frame(-1, 60, 90);
  game.visit(-1, 0, 50);
  game.visit(-1, 70, 90);
  EXPECT_EQ(std::move(game).frames_of_visits(), (std::vector<std::uint32_t>{0, 1}));
}

TEST(FrameOfVisit, IsNoneOutsideEveryGpuSpanAndInOtherPrograms) {
  Game game;
  game.frame(0, 0, 50);
  game.frame(-1, -1, -1);
  game.visit(0, 10, 51);
  game.visit(-1, 20, 30, 8);
  EXPECT_EQ(std::move(game).frames_of_visits(), (std::vector<std::uint32_t>{kNone, kNone}));
}

}  // namespace
}  // namespace corun
