#include <gtest/gtest.h>

#include <set>

#include "experiments/question/cluster_lists.h"
#include "experiments/summary/summary.h"
#include "sim/metrics/metric_table.h"
#include "tests/experiments/question/experiment_text.h"

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

TEST(ClusterChoice, CountsGroupsOfNodesAndPodsOut) {
  const Experiment experiment = read_text(cluster("{ count: 3, cards: 0.3, arrival: 5s, every: 30s, runtime: 2h }"));
  const ClusterChoice& choice = *experiment.scenarios[0].cluster;
  ASSERT_EQ(choice.pods.size(), 3U);
  EXPECT_EQ(choice.pods[2].name, "pod-2");
  EXPECT_EQ(choice.pods[2].milli, 300U);
  EXPECT_EQ(choice.pods[2].arrival, Duration{65s});
}

TEST(ClusterChoice, AScenarioChangesSingleKeysOfTheClusterAtTheTop) {
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

TEST(ClusterChoice, WhatNoPodCanAskForIsLocated) {
  EXPECT_EQ(complaints(cluster("{ cards: 2.5 }"))[0],
            "3:51: E0202 a pod asks for a part of one card or for whole cards / for example 0.3, 1 or 4");
  EXPECT_EQ(complaints(cluster("{ cards: 0.0002 }")), Lines{"3:51: E0202 the smallest part of a card is 0.001"});
  EXPECT_EQ(complaints(cluster("{ cards: 1, count: 1000000, every: 10000h }")),
            Lines{"3:42: E0202 the last of them arrives after more than ten years"});
}

/// Every run of an experiment, in order.
std::vector<RunOutcome> run_all(const std::string& text) {
  const TemporaryFolder folder;
  PolicyRegistry policies;
  add_builtin_policies(policies);
  const Experiment experiment = read_experiment(write_text(folder, "e.yaml", text), {}, policies);
  const Plan plan = make_plan(experiment);
  RunInputs run_inputs(experiment, plan.hashes, policies);
  run_inputs.check();
  std::vector<RunOutcome> outcomes;
  for (const RunSpec& spec : plan.runs) {
    outcomes.push_back(run_one(experiment, spec, run_inputs, policies));
    if (outcomes.back().error) throw *outcomes.back().error;
  }
  return outcomes;
}

double metric(const RunOutcome& outcome, std::string_view client, std::string_view name) {
  for (const Metric& figure : outcome.metrics)
    if (figure.client == client && figure.name == name) return figure.value;
  return -1;
}

/// Cards on which pods do a second of kernels each, or what `client` says instead.
std::string working(const std::string& pods, const std::string& more_of_cluster = "",
                    const std::string& client =
                        "synthetic: { kernels: { duration: 1ms, count: 1, launch_gap: 0us } }, pacing: sync_each_job, "
                        "repeat: 1000") {
  return "name: x\ndevice: { model: h200, sharing: exclusive }\nhorizon: 1h\npolicies: [bin_pack]\n"
         "clients: [{ name: train, " +
         client +
         " }]\n"
         "cluster: { nodes: [{ cards: 2 }], " +
         more_of_cluster + "pods: [" + pods + "] }\n";
}

TEST(PodPrograms, PodsThatShareACardSlowEachOtherDownAndOneAloneIsAsFastAsAlone) {
  const RunOutcome outcome =
      run_all(working("{ count: 2, cards: 0.5, client: train }, { cards: 0.7, client: train }")).front();
  EXPECT_NEAR(outcome.pods[0].slowdown, 2, 0.01);
  EXPECT_NEAR(outcome.pods[1].slowdown, 2, 0.01);
  EXPECT_DOUBLE_EQ(outcome.pods[2].slowdown, 1);
  EXPECT_NEAR(metric(outcome, "cluster", "slowdown_mean"), 5.0 / 3, 0.01);
  EXPECT_NEAR(metric(outcome, "train", "pod_time_mean_s"), 5.0 / 3, 0.01);
}

TEST(PodPrograms, GaiagpuHoldsAPodToItsPartOfACardAndPassthroughDoesNot) {
  // Long kernels of many blocks, which its controller can hold.
  const std::string client =
      "synthetic: { kernels: { duration: 100us, count: 100, blocks: 4096, launch_gap: 1us } }, "
      "pacing: sync_each_job, repeat: 1000";
  const std::string pods = "{ cards: 0.3, client: train }";
  const double held = run_all(working(pods, "sharing: gaiagpu, ", client)).front().pods[0].slowdown;
  const double free = run_all(working(pods, "", client)).front().pods[0].slowdown;
  EXPECT_DOUBLE_EQ(free, 1);
  EXPECT_GT(held, 2);
}

TEST(PodPrograms, TheSameSeedGivesTheSameFiguresAndAnotherOneOthers) {
  const std::string client =
      "synthetic: { kernels: { duration: 1ms, count: 10 } }, repeat: 50, duration_jitter: 0.2, host_jitter: 0.1";
  const std::string text = working("{ count: 6, cards: 0.5, client: train }", "", client) + "seeds: [1, 2]\n";
  const auto first = run_all(text), second = run_all(text);
  const auto values = [](const RunOutcome& outcome) {
    std::vector<double> all;
    for (const Metric& figure : outcome.metrics) all.push_back(figure.value);
    for (const PodFact& pod : outcome.pods) all.push_back(static_cast<double>(to_ns(pod.end)));
    return all;
  };
  EXPECT_EQ(values(first[0]), values(second[0]));
  EXPECT_NE(values(first[0]), values(first[1]));
}

TEST(PodPrograms, WhatAPodCannotDoIsLocated) {
  const std::string endless = "synthetic: { training: bert }";
  EXPECT_EQ(
      complaints(working("{ cards: 2, client: train }"))[0],
      "6:62: E0202 a pod with a `client` runs on one card, and this one asks for 2 / for example `cards: 0.5`, or "
      "`cards: 1`");
  EXPECT_EQ(complaints(working("{ cards: 1, client: train }", "", endless))[0],
            "6:62: E0202 the work of client `train` never ends, and these pods have no `runtime` / give the client a "
            "`repeat`, or the pods a `runtime`");
  EXPECT_EQ(complaints(working("{ cards: 1, client: train, runtime: 5s }", "", endless)), Lines{});
  EXPECT_EQ(complaints(working("{ cards: 1, client: trains }"))[0],
            "6:62: E0306 unknown client `trains` / did you mean `train`?");
  EXPECT_EQ(complaints(working("{ cards: 1, runtime: 1s }"))[0],
            "5:11: E0202 the `clients` of a cluster are what its pods do, and no pod names one / give pods a `client`");
  EXPECT_EQ(complaints(working("{ cards: 1, client: train }", "pods_stay: true, "))[0],
            "6:10: E0202 `pods_stay` keeps pods for ever, and a pod with a `client` leaves when its work is done");
  EXPECT_EQ(
      complaints(working("{ cards: 1, client: train }", "", endless + ", repeat: 1, arrival: 1s"))[0],
      "5:11: E0202 client `train` of a cluster is what pods do: `count`, `every` or `arrival` means nothing to it / "
      "pods say how many come, and when");
  EXPECT_EQ(
      complaints(working("{ cards: 1, client: train }", "sharing: { gaiagpu: { limits: { train: 0.4 } } }, "))[0],
      "6:46: E0202 parameter `limits` of `gaiagpu` names clients, and those of a card are its pods / a pod's part "
      "of its card is its `cards`");
}

bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(PodsByMix, AnEstimateIsNearWhatIsSimulatedAndSaysWhatItIs) {
  const std::string pods = "{ count: 2, cards: 0.5, client: train }, { cards: 0.7, client: train }";
  const RunOutcome outcome = run_all(working(pods, "progress: by_mix, mix_window: 1s, ")).front();
  EXPECT_NEAR(outcome.pods[0].slowdown, 2, 0.01);
  EXPECT_NEAR(outcome.pods[2].slowdown, 1, 1e-3);
  EXPECT_TRUE(says(outcome.notes,
                   "warning: bin_pack: times of pods are estimates (`progress: by_mix`): each pod has its rate "
                   "in the mix of pods on its card. Mixes that cards had: 2, simulated twice for 1s each."))
      << outcome.notes;
  const RunOutcome simulated = run_all(working(pods)).front();
  EXPECT_FALSE(says(simulated.notes, "by_mix"));
  EXPECT_EQ(metric(simulated, "cluster", "slowdown_mean_low"), -1);
}

TEST(PodsByMix, TheTableOfARunHasItsLabelAndRange) {
  const Experiment experiment =
      read_text(working("{ count: 2, cards: 0.5, client: train }", "progress: by_mix, mix_window: 1s, "));
  RunOutcome outcome;
  outcome.metrics = {make_metric("cluster", "allocated_ratio", 0.5), make_metric("cluster", "slowdown_mean", 2),
                     make_metric("cluster", "slowdown_mean_low", 1.9),
                     make_metric("cluster", "slowdown_mean_high", 2.3)};
  Summary summary(experiment);
  summary.add(RunSpec{}, outcome);
  const std::string table = summary.table(experiment.scenarios[0], 200);
  EXPECT_TRUE(says(table, "pods' times")) << table;
  EXPECT_TRUE(says(table, "by mix")) << table;
  EXPECT_TRUE(says(table, "2.00 (1.90 to 2.30)")) << table;
}

TEST(PodsByMix, IsAnotherRunThanASimulatedOneAndThanOneWithAnotherWindow) {
  std::set<std::string> ids;
  for (const char* keys : {"", "progress: by_mix, ", "progress: by_mix, mix_window: 1s, "})
    ids.insert(make_plan(read_text(working("{ cards: 1, client: train }", keys))).runs[0].id);
  EXPECT_EQ(ids.size(), 3U);
  EXPECT_EQ(make_plan(read_text(working("{ cards: 1, client: train }", "progress: simulated, "))).runs[0].id,
            make_plan(read_text(working("{ cards: 1, client: train }"))).runs[0].id);
}

TEST(PodsByMix, WhatRatesDoNotTellIsLocated) {
  const auto refused = [](const std::string& pods, const std::string& client) {
    const Lines all = complaints(working(pods, "progress: by_mix, ", client));
    return all.empty() ? "" : all.front();
  };
  const std::string kernels = "synthetic: { kernels: { duration: 1ms } }, ", pod = "{ cards: 1, client: train }";
  const std::string begin = "6:80: E0202 `progress: by_mix` cannot estimate pods of client `train`: ",
                    end = " / `progress: simulated` can";
  EXPECT_EQ(refused(pod, kernels + "repeat: 9"), "");
  EXPECT_EQ(refused("{ cards: 1, client: train, runtime: 5s }", kernels + "repeat: 9"),
            begin + "they end by the clock, and not after a number of jobs (`repeat`)" + end);
  EXPECT_EQ(refused(pod, "synthetic: { requests: { rate: 9/s, mean: 1ms } }, repeat: 1"),
            begin + "its jobs come at their own times" + end);
  EXPECT_EQ(refused(pod, kernels + "repeat: 9, working_set: 1GiB"),
            begin + "what is paged depends on what was there before (`working_set`)" + end);
  EXPECT_EQ(complaints(working(pod, "progress: roughly, "))[0],
            "6:45: E0202 found `roughly`, expected one of simulated, by_mix");
}

TEST(PodsByMix, APolicyThatMayRememberPodsHasAWarning) {
  const auto notes = [](const std::string& sharing) {
    return run_all(working("{ count: 2, cards: 0.5, client: train }",
                           "progress: by_mix, mix_window: 1s, sharing: " + sharing + ", "))
        .front()
        .notes;
  };
  EXPECT_TRUE(says(notes("xsched_fair"), "policy xsched_fair may remember pods")) << notes("xsched_fair");
  EXPECT_FALSE(says(notes("gaiagpu"), "may remember"));
}

TEST(PodPrograms, ACardIsSharedByAPolicyWhoseNeedsAreMet) {
  const auto complaint_about = [](const std::string& sharing) -> std::string {
    try {
      run_all(working("{ cards: 1, client: train }", "sharing: " + sharing + ", "));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
      return fmt::format("{}:{}: {}", error.where().line, error.where().column, error.message());
    }
    return "";
  };
  EXPECT_EQ(complaint_about("spread"),
            "6:44: `sharing: spread`: this policy places pods, and what is wanted is one for the clients of a card");
  EXPECT_EQ(complaint_about("djay"), "6:44: policy `djay` needs frame events, and no client of scenario `x` has them");
  EXPECT_EQ(complaint_about("exclusive"), "");
}

TEST(ClusterChoice, RequestsAreCountedInWholeUnitsAndSoIsWhatThereIs) {
  const std::string units = "unit_cores: 100, unit_memory: 256MiB, ";
  const RunOutcome outcome =
      run_all("name: x\npolicies: [bin_pack]\ncluster: { nodes: [{ cards: 1, card_memory: 1000MiB }], " + units +
              "pods: [{ cards: 0.501, card_memory: 300MiB, runtime: 10s }, { cards: 0.49, card_memory: 1MiB, runtime: "
              "10s }, "
              "{ cards: 0.499, runtime: 10s }] }\n")
          .front();
  // 51 + 49 of 100 vcores, and 2 + 1 of the card's 3 units of memory.
  EXPECT_EQ(outcome.pods[1].start, kRunStart);
  EXPECT_EQ(outcome.pods[2].start, kRunStart + 10s);
  EXPECT_EQ(
      complaints("name: x\npolicies: [bin_pack]\ncluster: { nodes: [{ cards: 1 }], pods: [{}], unit_cores: 3 }\n"),
      Lines{"3:59: E0202 a card cannot be cut into 3 equal parts of whole thousandths / for example 100, GPU "
            "Manager's, or 10"});
}

TEST(ClusterChoice, PartsOfCardsFailWhereAdmissionAndAllocatorComeToDifferentOnes) {
  const std::vector<RunOutcome> outcomes = run_all(
      "name: x\ncluster:\n  nodes: [{ cards: 4, links: pairs }]\n  allocation_latency: 1s\n"
      "  pods: [{ cards: 0.9, runtime: 1h }, { cards: 2, arrival: 1min, runtime: 10min },\n"
      "         { cards: 0.5, arrival: 2min, runtime: 1min, count: 2, every: 30min }]\n"
      "policies: [gaiagpu_topology, { gaiagpu_topology: { scheduler: admission }, as: admission }]\n");
  EXPECT_EQ(metric(outcomes[0], "cluster", "pods_failed"), 0);
  // Beside the part on card 0, the filter counts cards 1 and 2 for the pair, which gets 2 and 3: for the next part the
  // filter names card 3, and the manager finds 1. Half an hour later the pair has gone, and both find 1.
  EXPECT_EQ(metric(outcomes[1], "cluster", "pods_failed"), 1);
  EXPECT_EQ(outcomes[1].pods[1].placement.cards, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(outcomes[1].pods[2].state, PodState::kFailed);
  EXPECT_EQ(outcomes[1].pods[2].end, kRunStart + 121s);
  EXPECT_EQ(outcomes[1].pods[3].placement.cards, std::vector<std::uint32_t>{1});
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

TEST(ClusterLists, APodRunsFromItsScheduledTimeToItsDeletion) {
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

TEST(ClusterLists, WhatNoPodCanAskForIsRefusedWithItsLine) {
  EXPECT_EQ(complaint("a,1,1,1,500,,0,1,\nb,1,1,2,500,,0,1,\n"),
            "3: 2 cards of 500 thousandths each: a pod asks for a part of one card or for whole cards");
  EXPECT_EQ(complaint("a,1,1,1,0,,0,1,\n"),
            "2: 1 cards of 0 thousandths each: a pod asks for a part of one card or for whole cards");
  EXPECT_EQ(complaint("a,1,1,1,1000,,1700000000,1700000001,\n"),
            "2: `creation_time` is `1700000000`, expected seconds from the begin of the list, of ten years at most");
}

TEST(Summary, AKillInOneRunOfTwoIsHalfAKillAndNoneAtAllSatisfiesALimit) {
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
