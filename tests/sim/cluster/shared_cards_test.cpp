#include <gtest/gtest.h>

#include "sim/cluster/cluster_metrics.h"
#include "sim/run/open_gates.h"
#include "sim/solo/solo.h"
#include "sim/workload/synthetic/synthetic.h"
#include "traces/base/error.h"

namespace corun {
namespace {

using namespace std::chrono_literals;

/// The first node that fits, its first card with room.
class FirstFit : public PlacementPolicy {
 public:
  std::optional<Placement> place(const ClusterView& view, const PodView& pod) override {
    for (const NodeView& node : view.nodes)
      for (std::uint32_t card = 0; card < node.cards.size(); ++card)
        if (fits(node, pod) && fits(node.cards[card], pod)) return Placement{node.index, {card}};
    return std::nullopt;
  }
};

/// Refuses clients that ask for more than half of a card, and opens the gates of all others.
class HalvesOnly : public Policy {
 public:
  void decide(const GpuView& view, Actions& actions) override {
    for (const ClientView& client : view.clients) {
      if (!client.is_present) continue;
      if (client.requested_share > 0.5) {
        actions.refuse(client.id);
      } else {
        actions.open(client.id);
      }
    }
  }
};

/// Admits launch by launch.
class AdmitsEach : public Policy {
 public:
  void decide(const GpuView& view, Actions& actions) override {
    for (const ClientView& client : view.clients)
      if (client.is_present) actions.admit(client.id, static_cast<std::uint32_t>(client.waiting.size()));
  }
};

constexpr Duration kSolo{1'000'000'000};

/// A thousand kernels of a millisecond, one at a time, without host time.
ClientSpec training(std::uint64_t repeat = 1000) {
  ClientSpec spec;
  spec.name = "train";
  spec.workload = std::make_shared<Workload>(make_kernels({.duration = 1ms, .count = 1, .launch_gap = 0ns}));
  spec.pacing.mode = Pacing::Mode::kSyncEachJob;
  spec.repeat = repeat;
  return spec;
}

PodSpec pod(std::string name, Milli milli, Duration arrival = 0s) {
  PodSpec spec;
  spec.name = std::move(name);
  spec.cards = 1;
  spec.milli = milli;
  spec.arrival = arrival;
  spec.client = "train";
  return spec;
}

DeviceSpec device(Sharing sharing) {
  DeviceSpec spec;
  spec.sharing = sharing;
  spec.time_slice = 2ms;
  spec.switch_cost = 0ns;
  return spec;
}

template <class SharingPolicy = OpenGates>
ClusterInput cluster(std::vector<PodSpec> pods, Sharing sharing = Sharing::kExclusive) {
  ClusterInput input;
  input.nodes.push_back({"n", "", 1, 0, 0, 0, {}});
  input.pods = std::move(pods);
  input.policy_name = "first_fit";
  input.horizon = 1h;
  input.sharing.clients = {training()};
  input.sharing.device = device(sharing);
  input.sharing.make_policy = [] { return std::make_unique<SharingPolicy>(); };
  input.sharing.policy_name = "sharing";
  return input;
}

ClusterResult run(ClusterInput input) {
  FirstFit first_fit;
  input.policy = &first_fit;
  for (PodSpec& pod : input.pods) pod.alone = kSolo;
  return simulate_cluster(input);
}

double metric(const ClusterResult& result, std::string_view client, std::string_view name) {
  for (const Metric& figure : cluster_metrics(result))
    if (figure.client == client && figure.name == name) return figure.value;
  return -1;
}

TEST(SharedCards, APodAloneOnItsCardTakesTheTimeOfItsWork) {
  const auto result = run(cluster({pod("a", 500, 3s)}));
  EXPECT_EQ(result.pods[0].start, kRunStart + 3s);
  EXPECT_EQ(result.pods[0].end, kRunStart + 4s);
  EXPECT_DOUBLE_EQ(metric(result, "cluster", "slowdown_mean"), 1);
  EXPECT_EQ(time_alone(training(), device(Sharing::kExclusive), 1, 1h), kSolo);
}

TEST(SharedCards, CardsWhoseGatesAnswerLateTakeLonger) {
  ClusterInput input = cluster<AdmitsEach>({pod("a", 500)});
  input.sharing.gate.answer = 1ms;
  EXPECT_EQ(run(input).pods[0].end, kRunStart + 2 * kSolo) << "a thousand kernels ask for a millisecond each";
}

TEST(SharedCards, TwoPodsThatShareACardTakeTwiceAsLong) {
  for (const Sharing sharing : {Sharing::kExclusive, Sharing::kTimeSliced}) {
    const auto result = run(cluster({pod("a", 500), pod("b", 500)}, sharing));
    for (const PodFact& fact : result.pods)
      EXPECT_NEAR(to_seconds(fact.end - fact.start), 2, 0.003) << fact.name << ' ' << static_cast<int>(sharing);
    EXPECT_NEAR(metric(result, "train", "slowdown_mean"), 2, 0.003);
  }
}

TEST(SharedCards, PodsOnTwoCardsDoNotSlowEachOtherDown) {
  ClusterInput input = cluster({pod("a", 500), pod("b", 600)});
  input.nodes[0].cards = 2;
  const auto result = run(input);
  for (const PodFact& fact : result.pods) EXPECT_EQ(fact.end, kRunStart + kSolo);
}

TEST(SharedCards, AThirdPodStartsExactlyWhenOneOfTwoLeaves) {
  const auto result = run(cluster({pod("a", 500), pod("b", 500), pod("c", 500)}));
  const Time left = std::min(result.pods[0].end, result.pods[1].end);
  EXPECT_EQ(result.pods[2].start, left);
  EXPECT_EQ(result.pods[2].begin, left);
  EXPECT_NEAR(to_seconds(result.pods[2].end - left), 1, 0.003);
}

TEST(SharedCards, ALateNeighbourSlowsDownWhatIsLeft) {
  const auto result = run(cluster({pod("a", 500), pod("b", 500, 500ms)}));
  EXPECT_NEAR(to_seconds(result.pods[0].end - kRunStart), 1.5, 0.003);
  EXPECT_NEAR(to_seconds(result.pods[1].end - kRunStart), 2.0, 0.003);
}

TEST(SharedCards, RegisteringWithTheManagerDelaysTheFirstKernelAndNoMore) {
  ClusterInput input = cluster({pod("a", 500)});
  input.times.container = 250ms;
  const auto result = run(input);
  EXPECT_EQ(result.pods[0].end, kRunStart + 1250ms);
  EXPECT_DOUBLE_EQ(result.pods[0].slowdown, 1);
}

TEST(SharedCards, EndlessWorkEndsWithTheJobInWhichItsRuntimeIsOver) {
  PodSpec endless = pod("a", 1000);
  endless.runtime = Duration{705'500us};
  ClusterInput input = cluster({endless, pod("b", 1000)});
  input.sharing.clients = {training(0)};
  input.horizon = 2s;
  const auto result = run(input);
  EXPECT_EQ(result.pods[0].state, PodState::kFinished);
  EXPECT_EQ(result.pods[0].end, kRunStart + 706ms);
  EXPECT_EQ(result.pods[0].slowdown, 0) << "it did not finish by itself";
  EXPECT_EQ(result.pods[1].state, PodState::kRunning);
}

TEST(SharedCards, APodWhoseProgramGetsAnErrorHasFailedAndItsCardIsFree) {
  const auto result = run(cluster<HalvesOnly>({pod("large", 800), pod("small", 500)}));
  EXPECT_EQ(result.pods[0].state, PodState::kFailed);
  EXPECT_EQ(result.pods[1].start, result.pods[0].end);
  EXPECT_EQ(result.pods[1].state, PodState::kFinished);
  EXPECT_EQ(metric(result, "cluster", "pods_failed"), 1);
}

TEST(SharedCards, ThePolicyOfACardSeesWhatEachOfItsPodsAsksFor) {
  struct Listening : OpenGates {
    void on_joined(const GpuView& view, ClientId client) override {
      const ClientView& its = view.client(client);
      EXPECT_EQ(its.name, "a");
      EXPECT_DOUBLE_EQ(its.requested_share, 0.3);
      EXPECT_EQ(its.requested_bytes, 4ULL << 30);
    }
  };
  PodSpec asking = pod("a", 300);
  asking.memory_bytes = 4ULL << 30;
  ClusterInput input = cluster<Listening>({asking});
  input.nodes[0].card_memory_bytes = 8ULL << 30;
  EXPECT_EQ(run(input).pods[0].state, PodState::kFinished);
}

TEST(SharedCards, TheSameSeedGivesTheSameEndsAndAnotherOneOthers) {
  const auto ends = [](std::uint64_t seed) {
    ClusterInput input = cluster({pod("a", 500), pod("b", 500), pod("c", 500)}, Sharing::kTimeSliced);
    input.sharing.clients[0].duration_jitter = 0.2;
    input.sharing.seed = seed;
    std::vector<Time> all;
    for (const PodFact& fact : run(input).pods) all.push_back(fact.end);
    return all;
  };
  EXPECT_EQ(ends(1), ends(1));
  EXPECT_NE(ends(1), ends(2));
}

}  // namespace
}  // namespace corun
