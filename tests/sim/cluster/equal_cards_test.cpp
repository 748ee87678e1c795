// Cards on which the same happens are simulated once. Nothing of the result may tell.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "policies/builtin.h"
#include "sim/cluster/cluster.h"
#include "sim/workload/synthetic/synthetic.h"

namespace corun {
namespace {

using namespace std::chrono_literals;

/// The first node that fits, its first card with room; or, `spreads`, the card with the fewest pods.
class AnyFit : public PlacementPolicy {
 public:
  explicit AnyFit(bool spreads) : spreads_(spreads) {}
  std::optional<Placement> place(const ClusterView& view, const PodView& pod) override {
    std::optional<Placement> found;
    std::uint32_t fewest = UINT32_MAX;
    for (const NodeView& node : view.nodes) {
      for (std::uint32_t card = 0; card < node.cards.size(); ++card) {
        if (!fits(node, pod) || !fits(node.cards[card], pod) || node.cards[card].pods >= fewest) continue;
        found = Placement{node.index, {card}};
        fewest = spreads_ ? node.cards[card].pods : 0;
      }
    }
    return found;
  }

 private:
  const bool spreads_;
};

ClientSpec kernels(std::string name, Duration duration, std::uint32_t count, std::uint64_t repeat) {
  ClientSpec spec;
  spec.name = std::move(name);
  spec.workload = std::make_shared<Workload>(make_kernels({.duration = duration, .count = count, .blocks = 500}));
  spec.pacing.mode = Pacing::Mode::kSyncEachJob;
  spec.repeat = repeat;
  return spec;
}

ClientSpec game() {
  ClientSpec spec;
  spec.name = "game";
  RandomStream random(1, "game");
  spec.workload = std::make_shared<Workload>(make_game(*game_profile("light"), 10ms, 8, random));
  spec.role = Role::kInteractive;
  spec.pacing = {Pacing::Mode::kVsync, 10ms};
  spec.repeat = 1;
  return spec;
}

DeviceSpec drawn_device() {
  DeviceSpec device;
  device.sharing =
      *rc::gen::element(Sharing::kTimeSliced, Sharing::kTimeSliced, Sharing::kExclusive, Sharing::kConcurrent);
  device.time_slice = 2ms;
  device.switch_cost = *rc::gen::element<Duration>(0us, 200us);
  device.switch_state = 0.5;
  device.turn_order = *rc::gen::element(TurnOrder::kFixed, TurnOrder::kAsWoken);
  device.graphics = *rc::gen::element(GraphicsScheduling::kSliced, GraphicsScheduling::kToCompletion);
  device.launch_queue_depth = 64;
  return device;
}

/// Pods of few kinds that come at few instants, so that the same often happens on several cards.
std::vector<PodSpec> drawn_pods() {
  std::vector<PodSpec> pods(*rc::gen::inRange<std::size_t>(1, 30));
  for (PodSpec& pod : pods) {
    pod.name = fmt::format("pod-{}", &pod - pods.data());
    pod.cards = 1;
    pod.client = *rc::gen::element<std::string>("short", "long", "game", "endless");
    pod.milli = *rc::gen::element<Milli>(300, 500, 1000);
    pod.arrival = *rc::gen::inRange(0, 6) * *rc::gen::element<Duration>(20ms, 13'337'001ns);
    if (pod.client == "endless") pod.runtime = *rc::gen::element<Duration>(15ms, 40ms);
  }
  return pods;
}

ClusterInput drawn_cluster() {
  ClusterInput input;
  for (const char* name : {"a", "b"}) input.nodes.push_back({name, "", *rc::gen::inRange(1U, 5U), 0, 0, 0, {}});
  input.pods = drawn_pods();
  input.horizon = *rc::gen::element<Duration>(70ms, 10s);
  input.times.container = *rc::gen::element<Duration>(0ms, 3ms);
  input.sharing.clients = {kernels("short", 400us, 5, 4), kernels("long", 1500us, 3, 9), game(),
                           kernels("endless", 700us, 2, 0)};
  input.sharing.clients[0].host_jitter = *rc::gen::weightedElement<double>({{5, 0.0}, {1, 0.1}});
  input.sharing.clients[1].context.power.watts = *rc::gen::weightedElement<double>({{5, 0.0}, {1, 300.0}});
  input.sharing.device = drawn_device();
  if (*rc::gen::arbitrary<bool>()) {
    input.sharing.device.power_limit_w = 400;
    input.sharing.device.idle_power_w = 200;
  }
  input.sharing.gate.answer = *rc::gen::element<Duration>(0us, 0us, 30us);
  return input;
}

std::string told(const ClusterResult& result) {
  std::string lines = fmt::format("{} events until {}\n", result.events, to_ns(result.end));
  for (const PodFact& pod : result.pods)
    lines += fmt::format("{} {} on {} {}: {} {} {} {}\n", pod.name, to_string(pod.state), pod.node,
                         pod.placement.cards.empty() ? -1 : static_cast<int>(pod.placement.cards[0]),
                         to_ns(pod.arrival), to_ns(pod.start), to_ns(pod.begin), to_ns(pod.end));
  for (const ClusterLevel& level : result.levels)
    lines += fmt::format("{}: {} {} {}\n", to_ns(level.time), level.allocated, level.fragmented, level.waiting);
  return lines;
}

std::string run(ClusterInput input, bool spreads, bool forgets) {
  AnyFit placement(spreads);
  input.policy = &placement;
  input.sharing.forgets = forgets;
  return told(simulate_cluster(input));
}

std::vector<PolicyDescriptor> policies_that_forget() {
  PolicyRegistry registry;
  add_builtin_policies(registry);
  std::vector<PolicyDescriptor> forgetting;
  for (const PolicyDescriptor& policy : registry.all())
    if (policy.forgets) forgetting.push_back(policy);
  return forgetting;
}

RC_GTEST_PROP(EqualCards, AreSimulatedOnceWithTheSameResult, ()) {
  static const std::vector<PolicyDescriptor> policies = policies_that_forget();
  ClusterInput input = drawn_cluster();
  const PolicyDescriptor& policy = *rc::gen::elementOf(policies);
  input.sharing.make_policy = [&] { return policy.create(policy.defaults()); };
  input.sharing.policy_name = policy.name;
  const bool spreads = *rc::gen::arbitrary<bool>();
  RC_ASSERT(run(input, spreads, true) == run(input, spreads, false));
}

/// Counts the policies made, as there is one for each simulation.
std::size_t count_simulations(ClusterInput input, bool forgets) {
  std::size_t made = 0;
  input.sharing.make_policy = [&made] {
    ++made;
    const PolicyDescriptor policy = passthrough_policy();
    return policy.create(policy.defaults());
  };
  run(input, true, forgets);
  return made;
}

TEST(EqualCards, AHundredCardsThatDoTheSameAtDifferentTimesCostTwoSimulations) {
  ClusterInput input;
  input.nodes.push_back({"a", "", 100, 0, 0, 0, {}});
  input.horizon = 10s;
  input.sharing.clients = {kernels("short", 400us, 5, 4)};
  input.sharing.device.sharing = Sharing::kTimeSliced;
  input.sharing.device.time_slice = 2ms;
  input.sharing.device.switch_cost = 200us;
  for (int i = 0; i < 200; ++i) {
    PodSpec pod;
    pod.name = fmt::format("pod-{}", i);
    pod.cards = 1;
    pod.milli = 1000;
    pod.client = "short";
    pod.arrival = i * 20us;
    input.pods.push_back(pod);
  }
  EXPECT_EQ(count_simulations(input, true), 2) << "a new card, and one that another pod left";
  EXPECT_EQ(count_simulations(input, false), 100);
  input.sharing.clients[0].host_jitter = 0.1;
  EXPECT_EQ(count_simulations(input, true), 100) << "each pod draws its own";
}

}  // namespace
}  // namespace corun
