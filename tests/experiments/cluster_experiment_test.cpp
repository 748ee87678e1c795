#include <gtest/gtest.h>

#include "experiments/cluster_lists.h"
#include "experiments/summary.h"
#include "tests/experiments/experiment_text.h"

namespace corun {
namespace {

using namespace std::chrono_literals;
using testing::complaints;
using testing::read_text;
using testing::TemporaryFolder;
using testing::write_text;
using Lines = std::vector<std::string>;

std::string cluster(const std::string& pods) {
  return "name: x\npolicies: [bin_pack]\ncluster: { nodes: [{ cards: 2 }], pods: [" + pods + "] }\n";
}

TEST(ClusterChoice, counts_groups_of_nodes_and_pods_out) {
  const Experiment experiment = read_text(cluster("{ count: 3, cards: 0.3, arrival: 5s, every: 30s, runtime: 2h }"));
  const ClusterChoice& choice = *experiment.scenarios[0].cluster;
  ASSERT_EQ(choice.pods.size(), 3U);
  EXPECT_EQ(choice.pods[2].name, "pod-2");
  EXPECT_EQ(choice.pods[2].milli, 300U);
  EXPECT_EQ(choice.pods[2].arrival, Duration{65s});
}

TEST(ClusterChoice, a_scenario_changes_single_keys_of_the_cluster_at_the_top) {
  const Experiment experiment = read_text(cluster("{ cards: 1 }") +
                                          "scenarios:\n  - { name: a, cluster: { pods_stay: true } }\n"
                                          "  - { name: b, cluster: { pods: [{ cards: 2, count: 5 }] } }\n");
  const ClusterChoice& a = *experiment.scenarios[0].cluster;
  const ClusterChoice& b = *experiment.scenarios[1].cluster;
  EXPECT_TRUE(a.pods_stay);
  EXPECT_EQ(a.pods.size(), 1U);
  EXPECT_FALSE(b.pods_stay);
  EXPECT_EQ(b.pods.size(), 5U);
  EXPECT_EQ(b.nodes.size(), 1U);
}

TEST(ClusterChoice, what_no_pod_can_ask_for_is_located) {
  EXPECT_EQ(complaints(cluster("{ cards: 2.5 }"))[0],
            "3:51: E0202 a pod asks for a part of one card or for whole cards / for example 0.3, 1 or 4");
  EXPECT_EQ(complaints(cluster("{ cards: 0.0002 }")), Lines{"3:51: E0202 the smallest part of a card is 0.001"});
  EXPECT_EQ(complaints(cluster("{ cards: 1, count: 1000000, every: 10000h }")),
            Lines{"3:42: E0202 the last of them arrives after more than ten years"});
}

constexpr char kOpenb[] =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,deletion_time,scheduled_time\n";

std::string complaint(const std::string& rows) {
  const TemporaryFolder folder;
  try {
    read_pod_list(write_text(folder, "pods.csv", kOpenb + rows));
  } catch (const Error& error) {
    return fmt::format("{}: {}", error.where().line, error.message());
  }
  return "";
}

TEST(ClusterLists, a_pod_runs_from_its_scheduled_time_to_its_deletion) {
  const TemporaryFolder folder;
  const std::string rows = "late,1000,2048,1,460,V100M16|V100M32,50,100,60\nearly,1,1,0,0,,10,30,\n";
  const std::vector<PodSpec> pods = read_pod_list(write_text(folder, "pods.csv", kOpenb + rows));
  ASSERT_EQ(pods.size(), 2U);
  EXPECT_EQ(pods[0].name, "early");
  EXPECT_EQ(pods[0].runtime, Duration{20s});
  EXPECT_EQ(pods[1].runtime, Duration{40s});
  EXPECT_EQ(pods[1].milli, 460U);
  EXPECT_EQ(pods[1].models, (std::vector<std::string>{"V100M16", "V100M32"}));
}

TEST(ClusterLists, what_no_pod_can_ask_for_is_refused_with_its_line) {
  EXPECT_EQ(complaint("a,1,1,1,500,,0,1,\nb,1,1,2,500,,0,1,\n"),
            "3: 2 cards of 500 thousandths each: a pod asks for a part of one card or for whole cards");
  EXPECT_EQ(complaint("a,1,1,1,0,,0,1,\n"),
            "2: 1 cards of 0 thousandths each: a pod asks for a part of one card or for whole cards");
  EXPECT_EQ(complaint("a,1,1,1,1000,,1700000000,1700000001,\n"),
            "2: `creation_time` is `1700000000`, expected seconds from the begin of the list, of ten years at most");
}

TEST(Summary, a_kill_in_one_run_of_two_is_half_a_kill_and_none_at_all_satisfies_a_limit) {
  const Experiment experiment = read_text(
      "name: x\nhorizon: 1s\ndevice: h200\nseeds: 2\npolicies: [passthrough]\n"
      "clients: [{ name: a, synthetic: { training: bert } }, { name: b, synthetic: { training: bert } }]\n"
      "expect: [passthrough.a.kills <= 1, passthrough.b.kills <= 0]\n");
  Summary summary(experiment);
  for (const std::uint64_t seed : {1, 2}) {
    RunOutcome outcome;
    for (const char* client : {"a", "b"}) outcome.metrics.push_back({client, "gpu_busy_ratio", 0.5, "ratio"});
    if (seed == 2) outcome.metrics.push_back({"a", "kills", 2, "count"});
    RunSpec spec;
    spec.seed = seed;
    summary.add(spec, outcome);
  }
  const Scenario& scenario = experiment.scenarios[0];
  EXPECT_DOUBLE_EQ(summary.get(scenario, "passthrough", "a", "kills")->mean, 1);
  EXPECT_EQ(summary.get(scenario, "passthrough", "b", "kills"), std::nullopt);
  for (const Summary::Verdict& verdict : summary.verdicts(scenario, false)) EXPECT_TRUE(verdict.holds) << verdict.text;
}

}  // namespace
}  // namespace corun
