// Pods whose times are estimated by the mixes that they are in, next to the same pods on simulated cards.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "sim/cluster/cluster_metrics.h"
#include "sim/cluster/mix_table.h"
#include "sim/run/open_gates.h"
#include "sim/solo/solo.h"
#include "sim/workload/synthetic/synthetic.h"

namespace corun {
namespace {

using namespace std::chrono_literals;

/// Pod i on card i modulo the number of cards of the one node, so that what ends when changes no placement.
class RoundRobin : public PlacementPolicy {
 public:
  std::optional<Placement> place(const ClusterView& view, const PodView& pod) override {
    const auto card = static_cast<std::uint32_t>(pod.number % view.nodes[0].cards.size());
    if (!fits(view.nodes[0].cards[card], pod)) return std::nullopt;
    return Placement{0, {card}};
  }
};

/// Lets one client at a time launch, the first for the first quantum, and so on.
class Quanta : public OpenGates {
 public:
  explicit Quanta(Duration quantum) : quantum_(quantum) {}
  void decide(const GpuView& view, Actions& actions) override {
    std::vector<ClientId> present;
    for (const ClientView& client : view.clients)
      if (client.is_present) present.push_back(client.id);
    const auto turn = static_cast<std::uint64_t>(view.now.time_since_epoch() / quantum_);
    for (std::size_t i = 0; i < present.size(); ++i) {
      if (i == turn % present.size()) {
        actions.open(present[i]);
      } else {
        actions.close(present[i]);
      }
    }
    if (!present.empty()) actions.wake_at(Time{(static_cast<std::int64_t>(turn) + 1) * quantum_});
  }

 private:
  const Duration quantum_;
};

class RefusesAll : public OpenGates {
 public:
  void decide(const GpuView& view, Actions& actions) override {
    for (const ClientView& client : view.clients)
      if (client.is_present) actions.refuse(client.id);
  }
};

ClientSpec kernels(std::string name, Duration duration, std::uint32_t count, std::uint64_t repeat,
                   Duration launch_gap = 10us) {
  ClientSpec spec;
  spec.name = std::move(name);
  spec.workload = std::make_shared<Workload>(
      make_kernels({.duration = duration, .count = count, .blocks = 500, .launch_gap = launch_gap}));
  spec.pacing.mode = Pacing::Mode::kSyncEachJob;
  spec.repeat = repeat;
  return spec;
}

PodSpec pod(std::string client, Milli milli, Duration arrival = 0s) {
  PodSpec spec;
  spec.name = client;
  spec.cards = 1;
  spec.milli = milli;
  spec.arrival = arrival;
  spec.client = std::move(client);
  return spec;
}

template <class SharingPolicy = OpenGates>
ClusterInput cluster(std::vector<PodSpec> pods, std::vector<ClientSpec> clients, Sharing sharing) {
  ClusterInput input;
  input.nodes.push_back({"n", "", 1, 0, 0, 0, {}});
  input.pods = std::move(pods);
  input.policy_name = "round_robin";
  input.horizon = 1h;
  input.sharing.clients = std::move(clients);
  input.sharing.device.sharing = sharing;
  input.sharing.device.time_slice = 2ms;
  input.sharing.device.switch_cost = 100us;
  input.sharing.make_policy = [] { return std::make_unique<SharingPolicy>(); };
  input.sharing.policy_name = "sharing";
  input.sharing.forgets = true;
  return input;
}

Duration alone(const ClusterInput& input, const PodSpec& pod) {
  const auto model = std::ranges::find(input.sharing.clients, pod.client, &ClientSpec::name);
  return *time_alone(*model, input.sharing.device, 1, input.horizon);
}

ClusterResult simulated(ClusterInput input) {
  RoundRobin policy;
  input.policy = &policy;
  std::map<std::string, Duration> times;
  for (PodSpec& pod : input.pods) {
    Duration& time = times[pod.client];
    if (time == Duration{}) time = alone(input, pod);
    pod.alone = time;
  }
  return simulate_cluster(input);
}

ClusterResult by_mix(ClusterInput input, Duration window = 2s) {
  input.sharing.mixes = std::make_shared<MixTable>(input.sharing, window, SourceLocation{"x.yaml", 7, 3});
  return simulated(std::move(input));
}

double work_s(const PodFact& pod) { return to_seconds(pod.end - pod.begin); }

double metric(const ClusterResult& result, std::string_view client, std::string_view name) {
  for (const Metric& figure : cluster_metrics(result))
    if (figure.client == client && figure.name == name) return figure.value;
  return -1;
}

TEST(MixCards, APodAloneOnItsCardEndsAtTheTimeOfItsWork) {
  const ClusterInput input = cluster({pod("a", 500, 3s)}, {kernels("a", 700us, 9, 1000)}, Sharing::kTimeSliced);
  const PodFact fact = by_mix(input).pods[0];
  EXPECT_EQ(fact.start, kRunStart + 3s);
  EXPECT_NEAR(work_s(fact), to_seconds(alone(input, input.pods[0])), 1e-4);
  EXPECT_NEAR(fact.slowdown, 1, 1e-4);
}

TEST(MixCards, EqualPodsUnderFairTurnsHaveEqualRatesThatAddUpToTheCard) {
  for (const Sharing sharing : {Sharing::kExclusive, Sharing::kTimeSliced}) {
    for (const std::size_t pods : {2U, 3U, 5U}) {
      ClusterInput input =
          cluster(std::vector<PodSpec>(pods, pod("a", 100)), {kernels("a", 1ms, 3, 400, 0ns)}, sharing);
      input.sharing.device.switch_cost = 0ns;
      const ClusterResult result = by_mix(input);
      for (const PodFact& fact : result.pods) {
        EXPECT_EQ(fact.end, result.pods[0].end);
        EXPECT_NEAR(work_s(fact), 1.2 * static_cast<double>(pods), 0.01 * static_cast<double>(pods));
      }
    }
  }
}

TEST(MixCards, APodThatComesLateChangesRatesFromThenOn) {
  const ClusterInput input =
      cluster({pod("a", 500), pod("a", 500, 500ms)}, {kernels("a", 1ms, 1, 1000, 0ns)}, Sharing::kExclusive);
  const ClusterResult result = by_mix(input);
  EXPECT_NEAR(to_seconds(result.pods[0].end - kRunStart), 1.5, 0.003);
  EXPECT_NEAR(to_seconds(result.pods[1].end - kRunStart), 2.0, 0.003);
}

TEST(MixCards, RangesHoldTheirEstimatesAndAreTold) {
  ClusterInput input = cluster({pod("a", 300), pod("b", 300)}, {kernels("a", 900us, 5, 300), kernels("b", 2ms, 2, 200)},
                               Sharing::kTimeSliced);
  input.sharing.clients[0].duration_jitter = 0.3;
  const ClusterResult result = by_mix(input);
  for (const PodFact& fact : result.pods) {
    ASSERT_TRUE(fact.range);
    EXPECT_LE(fact.range->shortest_ns, static_cast<double>((fact.end - fact.begin).count()));
    EXPECT_GE(fact.range->longest_ns, static_cast<double>((fact.end - fact.begin).count()) - 1);
    EXPECT_LT(fact.range->shortest_ns, fact.range->longest_ns) << "durations are drawn";
  }
  for (const char* client : {"cluster", "a", "b"}) {
    EXPECT_LE(metric(result, client, "slowdown_mean_low"), metric(result, client, "slowdown_mean") + 1e-9);
    EXPECT_GE(metric(result, client, "slowdown_mean_high"), metric(result, client, "slowdown_mean") - 1e-9);
    EXPECT_LT(metric(result, client, "pod_time_mean_low_s"), metric(result, client, "pod_time_mean_high_s"));
  }
  ASSERT_TRUE(result.mix_use);
  EXPECT_EQ(result.mix_use->mixes, 2U) << "both, and the one that is left";
  EXPECT_GT(result.mix_use->widest, 1);
  EXPECT_FALSE(simulated(input).mix_use) << "what is simulated is no estimate";
  EXPECT_EQ(metric(simulated(input), "cluster", "slowdown_mean_low"), -1);
}

TEST(MixCards, AMixIsSimulatedOnceForAllCardsAndRuns) {
  std::size_t policies = 0;
  std::vector<PodSpec> pods;
  for (int i = 0; i < 100; ++i) pods.push_back(pod("a", 500, i * 1ms));
  ClusterInput input = cluster(pods, {kernels("a", 1ms, 5, 100)}, Sharing::kTimeSliced);
  input.nodes[0].cards = 50;
  input.sharing.make_policy = [&] {
    ++policies;
    return std::make_unique<OpenGates>();
  };
  input.sharing.mixes = std::make_shared<MixTable>(input.sharing, 1s, SourceLocation{});
  const ClusterResult first = simulated(input), second = simulated(input);
  EXPECT_EQ(policies, 4U) << "one and two pods, each twice";
  EXPECT_EQ(first.events, second.events) << "a mix that was known already counts, too";
}

template <class SharingPolicy>
std::string refusal(SharingPolicy (*make)()) {
  ClusterInput input = cluster({pod("a", 500), pod("b", 500)}, {kernels("a", 1ms, 5, 100), kernels("b", 1ms, 5, 100)},
                               Sharing::kTimeSliced);
  input.sharing.make_policy = [=] { return std::make_unique<SharingPolicy>(make()); };
  try {
    by_mix(input);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    const std::string what = error.what();
    return what.substr(0, what.find(';'));
  }
  return "";
}

TEST(MixCards, WhatAMixCannotTellIsRefusedWithItsPlace) {
  EXPECT_EQ(refusal<RefusesAll>([] { return RefusesAll(); }),
            "x.yaml:7:3: `progress: by_mix`: on a card with a, b under `sharing`, b is answered with an error");
  EXPECT_EQ(
      refusal<Quanta>([] { return Quanta(30s); }),
      "x.yaml:7:3: `progress: by_mix`: on a card with a, b under `sharing`, b finishes 0 jobs in 2 s, or none in a "
      "half of them");
  EXPECT_EQ(refusal<Quanta>([] { return Quanta(100ms); }), "") << "its turns fit into halves of the window";
}

/// Pods of three programs on a few cards, four at a time on each; others wait.
ClusterInput drawn_cluster() {
  std::vector<PodSpec> pods(*rc::gen::inRange<std::size_t>(1, 10));
  for (PodSpec& each : pods)
    each = pod(*rc::gen::element<std::string>("short", "long", "host"), 250, *rc::gen::inRange(0, 2000) * 1ms);
  ClusterInput input = cluster(
      pods, {kernels("short", 400us, 5, 600), kernels("long", 1500us, 3, 250), kernels("host", 300us, 8, 300, 900us)},
      *rc::gen::element(Sharing::kTimeSliced, Sharing::kExclusive, Sharing::kConcurrent));
  input.nodes[0].cards = *rc::gen::inRange(1U, 4U);
  input.sharing.device.launch_queue_depth = 64;
  input.sharing.device.turn_order = *rc::gen::element(TurnOrder::kFixed, TurnOrder::kAsWoken);
  return input;
}

/// Each pod's time is within 20 % and 100 ms of the simulated one, their sum within 6 % and 50 ms a pod. Programs may
/// stay in step for long in one and not in the other.
RC_GTEST_PROP(MixCards, TimesOfPodsAreNearThoseOfSimulatedCards, ()) {
  const ClusterInput input = drawn_cluster();
  const ClusterResult exact = simulated(input), estimate = by_mix(input, 1s);
  double exact_sum = 0, estimated_sum = 0;
  for (std::size_t i = 0; i < input.pods.size(); ++i) {
    const PodFact &its = exact.pods[i], &about = estimate.pods[i];
    RC_ASSERT(about.state == PodState::kFinished);
    RC_ASSERT(about.placement.cards == its.placement.cards);
    RC_ASSERT(about.begin >= about.arrival);
    RC_ASSERT(about.slowdown > 0.98);
    const double time = to_seconds(its.end - its.arrival), estimated = to_seconds(about.end - about.arrival);
    if (std::abs(estimated - time) > 0.1 + 0.2 * time)
      RC_FAIL(fmt::format("pod {} ({}) took {} s, and {} s by mix", i, its.client, time, estimated));
    exact_sum += time;
    estimated_sum += estimated;
  }
  const auto pods = static_cast<double>(input.pods.size());
  if (std::abs(estimated_sum - exact_sum) > pods * 0.05 + 0.06 * exact_sum)
    RC_FAIL(fmt::format("all took {} s, and {} s by mix", exact_sum, estimated_sum));
}

}  // namespace
}  // namespace corun
