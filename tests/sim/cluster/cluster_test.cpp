#include <gtest/gtest.h>

#include "sim/cluster/cluster_metrics.h"
#include "sim/cluster/node_books.h"
#include "traces/base/error.h"

namespace corun {
namespace {

using namespace std::chrono_literals;

/// The first node that fits, its lowest cards with room.
class FirstFit : public PlacementPolicy {
 public:
  std::optional<Placement> place(const ClusterView& view, const PodView& pod) override {
    for (const NodeView& node : view.nodes) {
      if (!fits(node, pod)) continue;
      Placement placement{node.index, {}};
      for (std::uint32_t i = 0; i < node.cards.size() && placement.cards.size() < pod.cards; ++i)
        if (fits(node.cards[i], pod)) placement.cards.push_back(i);
      return placement;
    }
    return std::nullopt;
  }
};

PodSpec pod(std::string name, double cards, Duration arrival, Duration runtime) {
  PodSpec spec;
  spec.name = std::move(name);
  spec.cards = cards > 0 && cards < 1 ? 1 : static_cast<std::uint32_t>(cards);
  spec.milli = cards == 0 ? 0 : cards < 1 ? static_cast<Milli>(cards * kWholeCard) : kWholeCard;
  spec.arrival = arrival;
  spec.runtime = runtime;
  return spec;
}

ClusterResult run(std::vector<PodSpec> pods, std::uint32_t nodes = 1, std::uint32_t cards = 2,
                  PlacementPolicy* policy = nullptr, PlacementTimes times = {}) {
  FirstFit first_fit;
  ClusterInput input;
  for (std::uint32_t i = 0; i < nodes; ++i) input.nodes.push_back({"n", "", cards, 16ULL << 30, 8'000, 64'000, {}});
  input.pods = std::move(pods);
  input.policy = policy == nullptr ? &first_fit : policy;
  input.policy_name = "first_fit";
  input.horizon = 100h;
  input.times = times;
  return simulate_cluster(input);
}

double metric(const ClusterResult& result, std::string_view name) {
  for (const Metric& figure : cluster_metrics(result))
    if (figure.name == name) return figure.value;
  return -1;
}

TEST(Cluster, APodThatDoesNotFitWaitsUntilSomethingLeaves) {
  const auto result = run({pod("a", 2, 0s, 10s), pod("b", 1, 1s, 10s)});
  EXPECT_EQ(result.pods[0].start, kRunStart);
  EXPECT_EQ(result.pods[1].start, kRunStart + 10s);
  EXPECT_EQ(result.pods[1].end, kRunStart + 20s);
  EXPECT_DOUBLE_EQ(metric(result, "pod_wait_mean_s"), 4.5);
}

TEST(Cluster, ALargePodThatWaitsHoldsNoSmallOneUp) {
  const auto result = run({pod("a", 1, 0s, 10s), pod("large", 2, 1s, 10s), pod("small", 0.5, 2s, 1s)});
  EXPECT_EQ(result.pods[2].start, kRunStart + 2s);
  EXPECT_EQ(result.pods[1].start, kRunStart + 10s);
}

TEST(Cluster, TwoHalvesShareACardAndThreeDoNot) {
  const auto result = run({pod("a", 0.5, 0s, 10s), pod("b", 0.5, 0s, 10s), pod("c", 0.5, 0s, 10s)}, 1, 1);
  EXPECT_EQ(result.pods[1].start, kRunStart);
  EXPECT_EQ(result.pods[2].start, kRunStart + 10s);
}

TEST(Cluster, WhatNoEmptyNodeCouldHoldIsRejected) {
  PodSpec greedy = pod("greedy", 1, 0s, 1s);
  greedy.cpu_milli = 9'000;
  const auto result = run({pod("large", 3, 0s, 1s), greedy, pod("fits", 2, 0s, 1s)});
  EXPECT_EQ(result.pods[0].state, PodState::kRejected);
  EXPECT_EQ(result.pods[1].state, PodState::kRejected);
  EXPECT_EQ(result.pods[2].state, PodState::kFinished);
  EXPECT_EQ(metric(result, "pods_rejected"), 2);
}

TEST(Cluster, CardMemoryAndModelAreRequirementsToo) {
  PodSpec memory = pod("memory", 0.1, 0s, 10s), more = pod("more", 0.1, 0s, 10s), other = pod("other", 1, 0s, 10s);
  memory.memory_bytes = more.memory_bytes = 9ULL << 30;
  other.models = {"H200"};
  const auto result = run({memory, more, other}, 1, 1);
  EXPECT_EQ(result.pods[1].start, kRunStart + 10s);
  EXPECT_EQ(result.pods[2].state, PodState::kRejected);
}

TEST(Cluster, LatenciesComeBetweenArrivalChoiceAndStart) {
  const auto result = run({pod("a", 1, 5s, 10s)}, 1, 2, nullptr, {200ms, 800ms});
  EXPECT_EQ(result.pods[0].start, kRunStart + 6s);
  EXPECT_EQ(result.pods[0].end, kRunStart + 16s);
}

TEST(Cluster, AllocationIsAMeanOverTimeWhilePodsArrive) {
  // One of two cards for four seconds, both for the fifth and sixth.
  const auto result = run({pod("a", 1, 0s, 6s), pod("b", 1, 4s, 2s), pod("end", 0, 6s, 0s)});
  EXPECT_NEAR(metric(result, "allocated_ratio"), (4 * 0.5 + 2 * 1.0) / 6, 1e-9);
  EXPECT_DOUBLE_EQ(metric(result, "allocated_peak_ratio"), 1);
}

TEST(Cluster, ACardHalfTakenIsAFragmentForPodsOfWholeCards) {
  const auto result = run({pod("half", 0.5, 0s, 10s), pod("whole", 1, 5s, 5s), pod("end", 0, 10s, 0s)}, 1, 2);
  // Half of what comes is a half, which can use it: a quarter of a card on average, of two.
  EXPECT_NEAR(metric(result, "fragmented_ratio"), 0.25 / 2, 1e-9);
}

TEST(Cluster, FragmentsThatAreThereFromTheBeginCountBeforeTheFirstPodIsPlaced) {
  // Two nodes of one card each: no pod of two cards can use them.
  const auto result = run({pod("wide", 2, 0s, 1s), pod("end", 0, 10s, 0s)}, 2, 1);
  EXPECT_EQ(result.pods[0].state, PodState::kRejected);
  EXPECT_DOUBLE_EQ(metric(result, "fragmented_ratio"), 1);
}

TEST(Cluster, AnIllegalPlacementNamesPolicyTimeAndPod) {
  struct Wrong : PlacementPolicy {
    std::optional<Placement> place(const ClusterView&, const PodView&) override { return Placement{0, {5}}; }
  } wrong;
  try {
    run({pod("a", 1, 2s, 1s)}, 1, 2, &wrong);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kPolicy);
    EXPECT_EQ(error.message(), "policy 'first_fit' at t=2.000 s: pod 'a': cards of node 'n' out of range or order");
  }
}

TEST(Cluster, NodesHaveCardsOnlyWhenTheyHaveRegisteredThem) {
  const auto result = run({pod("card", 1, 0s, 1s), pod("no-card", 0, 0s, 1s), pod("later", 1, 40s, 1s)}, 1, 2, nullptr,
                          {.registration = 30s});
  EXPECT_EQ(result.pods[0].start, kRunStart + 30s);
  EXPECT_EQ(result.pods[1].start, kRunStart);
  EXPECT_EQ(result.pods[2].start, kRunStart + 40s);
}

TEST(Cluster, AContainerWithCardsRegistersBeforeItBeginsToWork) {
  const auto result = run({pod("card", 1, 0s, 10s), pod("no-card", 0, 0s, 10s)}, 1, 2, nullptr, {.container = 2s});
  EXPECT_EQ(result.pods[0].start, kRunStart);
  EXPECT_EQ(result.pods[0].begin, kRunStart + 2s);
  EXPECT_EQ(result.pods[0].end, kRunStart + 12s);
  EXPECT_EQ(result.pods[1].end, kRunStart + 10s);
}

TEST(Cluster, WhatAPodLeftIsFreeAtTheNextCheckAndNotBefore) {
  const auto result =
      run({pod("a", 1, 0s, 10s), pod("b", 1, 1s, 20s), pod("c", 1, 2s, 1s)}, 1, 1, nullptr, {.check_period = 30s});
  EXPECT_EQ(result.pods[0].end, kRunStart + 10s);
  EXPECT_EQ(result.pods[1].start, kRunStart + 30s);
  EXPECT_EQ(result.pods[1].end, kRunStart + 50s);
  EXPECT_EQ(result.pods[2].start, kRunStart + 60s);
}

TEST(Cluster, APodThatEndsAtACheckIsSeenByIt) {
  const auto result = run({pod("a", 1, 0s, 30s), pod("b", 1, 1s, 1s)}, 1, 1, nullptr, {.check_period = 30s});
  EXPECT_EQ(result.pods[1].start, kRunStart + 30s);
}

TEST(Cluster, ConfigurationsOfPodsThatHaveGoneAreThereUntilTheyAreCollected) {
  const auto result = run({pod("a", 1, 0s, 15s), pod("b", 1, 0s, 30s), pod("no-card", 0, 0s, 1s)}, 1, 2, nullptr,
                          {.collection_period = 60s});
  EXPECT_EQ(metric(result, "stale_configs_peak"), 2);
  EXPECT_NEAR(metric(result, "stale_configs_mean"), (15 * 1 + 30 * 2) / 60.0, 1e-9);
  EXPECT_EQ(metric(run({pod("a", 1, 0s, 15s)}), "stale_configs_peak"), -1) << "collected at once: none to tell of";
}

TEST(Cluster, ARegistrationHoweverShortComesFirst) {
  const auto result = run({pod("a", 1, 0s, 1s)}, 1, 1, nullptr, {.registration = 1ns});
  EXPECT_EQ(result.pods[0].start, kRunStart + 1ns);
}

TEST(NodeBooks, SayWhatEachCardHasLeftAndHowManyPodsRunThere) {
  ClusterInput input;
  input.nodes = {{"n", "A100", 2, 16, 8'000, 64'000, {}}};
  NodeBooks books(input);
  EXPECT_TRUE(books.nodes()[0].cards.empty()) << "not registered yet";
  books.advertise();
  ASSERT_EQ(books.nodes()[0].cards.size(), 2u);
  EXPECT_EQ(books.nodes()[0].cards[0].pods, 0u);
  EXPECT_EQ(books.nodes()[0].cards[0].free, kWholeCard);
  EXPECT_EQ(books.nodes()[0].cards[0].free_memory_bytes, 16u);
  PodSpec spec = pod("half", 0.5, 0s, 1s);
  spec.memory_bytes = 6, spec.cpu_milli = 1'000, spec.memory_mib = 4'000;
  const Placement second{0, {1}};
  books.take(second, view_of(spec, 0));
  const NodeView& node = books.nodes()[0];
  EXPECT_EQ(node.free_cpu_milli, 7'000);
  EXPECT_EQ(node.free_memory_mib, 60'000);
  EXPECT_EQ(node.cards[0].pods, 0u);
  EXPECT_EQ(node.cards[1].pods, 1u);
  EXPECT_EQ(node.cards[1].free, kWholeCard / 2);
  EXPECT_EQ(node.cards[1].free_memory_bytes, 10u);
  EXPECT_EQ(books.allocated(), 0.5);
  books.release(second, view_of(spec, 0));
  EXPECT_EQ(node.cards[1].pods, 0u);
  EXPECT_TRUE(node.cards[1].is_free());
  EXPECT_EQ(node.free_cpu_milli, 8'000);
  EXPECT_EQ(books.allocated(), 0);
  EXPECT_EQ(books.cards(), 2);
}

TEST(NodeBooks, TellTheSharesOfTheKindsOfPodsWithTheLeastThatAnyOfAKindAsksFor) {
  ClusterInput input;
  input.nodes = {{"n", "", 1, 0, 8'000, 64'000, {}}};
  PodSpec small = pod("small", 0.5, 0s, 1s), large = small, whole = pod("whole", 1, 0s, 1s);
  small.cpu_milli = 1'000, small.memory_mib = 500;
  large.cpu_milli = 400, large.memory_mib = 900;
  input.pods = {small, large, whole, small, pod("none", 0, 0s, 1s)};
  const NodeBooks books(input);
  ASSERT_EQ(books.mix().size(), 2u);
  EXPECT_EQ(books.mix()[0].share, 0.75);
  EXPECT_EQ(books.mix()[0].pod.cpu_milli, 400);
  EXPECT_EQ(books.mix()[0].pod.memory_mib, 500);
  EXPECT_EQ(books.mix()[1].share, 0.25);
}

}  // namespace
}  // namespace corun
