// What the owner of a live client is told after a run.
#include "sim/live/live_notes.h"
#include "tests/sim/live/client/one_client.h"

namespace corun {
namespace {

using namespace std::chrono_literals;
using gate::LaunchKind;
using gate::Obstacle;
using Notes = std::vector<std::string>;

class ClientNotes : public testing::OneClient {
 protected:
  ClientNotes() { spec_.name = "a"; }
  Notes notes(Duration warmup = 0ns, bool is_gated_by_cupti = false) const {
    RunInput input;
    input.warmup = warmup;
    live::LiveOptions options;
    options.is_gated_by_cupti = is_gated_by_cupti;
    return live::notes_of(*client_, *lane_, input, options);
  }
  /// At the gate, with a launch.
  void begin() {
    lane_->by_preload = 1;
    join();
    set_open(true);
    launch();
    client_->poll();
  }
};

TEST_F(ClientNotes, NothingIsToldOfOneThatIsAsItShouldBe) {
  begin();
  EXPECT_EQ(notes(), Notes{});
  EXPECT_EQ(notes(0ns, true), Notes{});
}

TEST_F(ClientNotes, OneThatWasNeverAtTheGateIsToldOf) {
  join();
  const std::string never =
      "client 'a' was never at the gate: it used no CUDA and showed no frames, or says on standard error that it "
      "cannot "
      "reach it";
  EXPECT_EQ(notes(), Notes{never});
  lane_->frame_count = 1;
  EXPECT_EQ(notes(), Notes{}) << "it showed a frame";
  lane_->frame_count = 0;
  lane_->by_cupti = 1;
  EXPECT_EQ(notes(0ns, true), Notes{"client 'a' started CUDA and launched nothing"});
}

TEST_F(ClientNotes, AnObstacleIsToldWithItsReason) {
  join();
  const std::pair<Obstacle, const char*> reasons[] = {
      {Obstacle::kNoDriver, "its CUDA driver lacks a function that a gate calls"},
      {Obstacle::kNoCupti, "its launches could be seen by CUPTI only, and no libcupti.so.13 was found"},
      {Obstacle::kCuptiTaken, "its launches could be seen by CUPTI only, which another profiler holds"}};
  for (const auto& [obstacle, reason] : reasons) {
    lane_->obstacle = obstacle;
    EXPECT_EQ(notes(), Notes{std::string("client 'a' ran without a gate: ") + reason});
  }
  launch();
  client_->poll();
  lane_->by_preload = 1;
  EXPECT_EQ(notes().front().find("client 'a' was in part without a gate: "), 0u);
  for (const Obstacle obstacle : {Obstacle::kNoSlot, Obstacle::kNoScheduler}) {
    lane_->obstacle = obstacle;
    EXPECT_EQ(notes(), Notes{}) << "told otherwise";
  }
}

TEST_F(ClientNotes, OneThatBeginsAfterTheWarmUpIsToldOf) {
  begin();
  EXPECT_EQ(notes(1h), Notes{});
  EXPECT_EQ(notes(1ns).size(), 1u);
  EXPECT_EQ(notes(1ns)[0].find("client 'a' launched nothing until 0.0 s: its figures count from 0.0 s"), 0u);
  EXPECT_EQ(notes(client_->counts().first_work - kRunStart).size(), 1u);
  EXPECT_EQ(notes(client_->counts().first_work - kRunStart + 1ns), Notes{});
}

TEST_F(ClientNotes, GraphsAloneAreToldOf) {
  lane_->by_preload = 1;
  join();
  launch(LaunchKind::kGraph);
  client_->poll();
  EXPECT_EQ(notes(), Notes{"client 'a' launches graphs only: each passes its gate as a whole, and no profile tells how "
                           "long it takes"});
  launch();
  client_->poll();
  EXPECT_EQ(notes(), Notes{});
}

TEST_F(ClientNotes, WhatIsCountedIsToldOf) {
  begin();
  lane_->by_cupti = 1;
  EXPECT_EQ(notes(), Notes{"client 'a' came to its driver past the preload: CUPTI tells its gate of launches"});
  EXPECT_EQ(notes(0ns, true), Notes{});
  lane_->by_cupti = 0;
  lane_->processes_without_slot = 1;
  EXPECT_EQ(notes(), Notes{"client 'a' had too many processes at once: 1 of its processes ran without a gate"});
  lane_->processes_without_slot = 0;
  lane_->frames_lost = 1;
  EXPECT_EQ(notes(), Notes{"client 'a' lost 1 frame records"});
}

TEST_F(ClientNotes, ARateThatIsNotKnownIsToldOf) {
  Workload workload;
  workload.names = {"kernel"};
  workload.launches = 5;
  workload.jobs.push_back(Job{.first_op = 0, .op_count = 1});
  workload.ops.push_back(WorkOp{});
  spec_.workload = std::make_shared<const Workload>(workload);
  begin();
  EXPECT_EQ(notes(), Notes{}) << "nothing has ended";
  end({0}, 1us);
  client_->poll();
  EXPECT_EQ(notes(), Notes{"client 'a' made 1 launches, fewer than a job of its trace (5): its rate is not known; "
                           "record its trace anew, or state `iterations` for it"});
}

}  // namespace
}  // namespace corun
