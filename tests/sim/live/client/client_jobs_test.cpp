// Launches of a live client that make jobs, as a capture of its program has them.
#include "tests/sim/live/client/one_client.h"

namespace corun {
namespace {

using namespace std::chrono_literals;
using gate::LaunchKind;

class ClientJobs : public testing::OneClient {
 protected:
  /// Of a capture with so many jobs, launches and graphs among these.
  void join_with(std::uint32_t jobs, std::uint64_t launches, std::uint64_t graphs = 0) {
    Workload workload;
    workload.names = {"kernel"};
    workload.launches = launches;
    workload.graphs = graphs;
    for (std::uint32_t i = 0; i < jobs; ++i) workload.jobs.push_back(Job{.first_op = i, .op_count = 1});
    for (std::uint32_t i = 0; i < jobs; ++i) workload.ops.push_back(WorkOp{});
    spec_.workload = std::make_shared<const Workload>(workload);
    join();
    set_open(true);
  }
  /// Launches that end at once. Jobs since the run began.
  std::size_t end_launches(int count, LaunchKind kind = LaunchKind::kKernel) {
    for (int i = 0; i < count; ++i) end({launch(kind)}, 1us);
    client_->poll();
    return facts_.jobs.size();
  }
  std::string why() const { return client_->why_rate_is_unknown(); }
};

TEST_F(ClientJobs, AJobHasAsManyLaunchesAsInTheCapture) {
  join_with(10, 30);
  EXPECT_EQ(why(), "") << "nothing was launched";
  EXPECT_EQ(end_launches(2), 0u);
  EXPECT_EQ(why(), "made 2 launches, fewer than a job of its trace (3)");
  EXPECT_EQ(end_launches(1), 1u);
  EXPECT_EQ(why(), "");
  EXPECT_EQ(facts_.jobs[0].begin, facts_.ops[0].submitted);
  EXPECT_EQ(facts_.jobs[0].arrival, facts_.ops[0].submitted);
  EXPECT_EQ(facts_.jobs[0].end, facts_.ops[2].end);
  EXPECT_EQ(end_launches(5), 2u);
  EXPECT_EQ(end_launches(1), 3u);
  EXPECT_EQ(facts_.jobs[2].begin, facts_.ops[6].submitted);
  EXPECT_EQ(facts_.jobs[2].number, 2u);
  EXPECT_EQ(facts_.ops[2].job, 0u);
  EXPECT_EQ(facts_.ops[3].job, 1u);
  EXPECT_EQ(policy_.submitted[4].position, 1u);
}

TEST_F(ClientJobs, OnAverageAsManyWhereTheyDiffer) {
  join_with(2, 5);
  EXPECT_EQ(end_launches(2), 0u);
  EXPECT_EQ(end_launches(1), 1u) << "two and a half";
  EXPECT_EQ(end_launches(1), 1u);
  EXPECT_EQ(end_launches(1), 2u) << "five make two";
  EXPECT_EQ(end_launches(3), 3u);
  EXPECT_EQ(policy_.submitted[3].position, 1u) << "two launches, rounded";
}

TEST_F(ClientJobs, ACaptureWithoutLaunchesCountsItsOperations) {
  join_with(4, 0);
  EXPECT_EQ(end_launches(3), 3u);
}

TEST_F(ClientJobs, AJobHasALaunchAtLeast) {
  join_with(4, 2);
  EXPECT_EQ(end_launches(3), 3u);
  EXPECT_EQ(policy_.submitted[2].position, 0u);
}

TEST_F(ClientJobs, WithoutACaptureEveryLaunchIsOneAGraphAsWell) {
  join();
  set_open(true);
  EXPECT_EQ(end_launches(3), 3u);
  EXPECT_EQ(end_launches(2, LaunchKind::kGraph), 5u);
  EXPECT_EQ(why(), "");
}

TEST_F(ClientJobs, StretchesWithOtherGraphsThanAJobHasAreNone) {
  join_with(10, 40, 20);  // four launches, of which two graphs
  EXPECT_EQ(end_launches(4), 0u);
  EXPECT_EQ(why(), "launches otherwise than in its trace: 0.0 graphs for every 4.0 launches, 2.0 there");
  end_launches(2);
  EXPECT_EQ(end_launches(2, LaunchKind::kGraph), 1u);
  EXPECT_EQ(why(), "") << "half of them are alike";
  end_launches(3);
  EXPECT_EQ(end_launches(1, LaunchKind::kGraph), 2u) << "one more or less";
  end_launches(1);
  EXPECT_EQ(end_launches(3, LaunchKind::kGraph), 3u);
  EXPECT_EQ(end_launches(4, LaunchKind::kGraph), 3u) << "two more";
  EXPECT_EQ(facts_.jobs[2].number, 2u);
  EXPECT_EQ(client_->jobs_finished(), 3u);
}

TEST_F(ClientJobs, OfManyGraphsAQuarterMoreOrLessIsAlike) {
  join_with(1, 20, 12);
  end_launches(5);
  EXPECT_EQ(end_launches(15, LaunchKind::kGraph), 1u) << "three more";
  end_launches(4);
  EXPECT_EQ(end_launches(16, LaunchKind::kGraph), 1u);
  end_launches(11);
  EXPECT_EQ(end_launches(9, LaunchKind::kGraph), 2u) << "three fewer";
  EXPECT_EQ(why(), "");
  end_launches(20);
  end_launches(20);
  EXPECT_EQ(why(), "launches otherwise than in its trace: 8.0 graphs for every 20.0 launches, 12.0 there");
}

TEST_F(ClientJobs, AJobWithoutGraphsHasNone) {
  join_with(10, 20, 4);  // of which less than a half has one
  EXPECT_EQ(end_launches(2), 1u);
  end_launches(1);
  EXPECT_EQ(end_launches(1, LaunchKind::kGraph), 1u) << "a job that has one is another";
}

TEST_F(ClientJobs, HalfAGraphIsOne) {
  join_with(10, 20, 5);
  EXPECT_EQ(end_launches(2), 0u);
  end_launches(1);
  EXPECT_EQ(end_launches(1, LaunchKind::kGraph), 1u);
}

TEST_F(ClientJobs, LostLaunchesMakeNoJob) {
  join_with(10, 10);
  launch();
  client_->poll();
  client_->evict();
  EXPECT_EQ(facts_.ops.size(), 1u);
  EXPECT_TRUE(facts_.jobs.empty());
}

TEST_F(ClientJobs, WhereFramesAreTheJobsLaunchesAreNone) {
  Workload frames;
  frames.job_kind = JobKind::kFrame;
  frames.jobs.push_back(Job{});
  spec_.workload = std::make_shared<const Workload>(frames);
  join();
  set_open(true);
  EXPECT_EQ(end_launches(5), 0u);
  EXPECT_EQ(why(), "");
}

}  // namespace
}  // namespace corun
