#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "policies/placement/topology_tree.h"
#include "sim/cluster/cluster.h"
#include "sim/policy/fragmentation.h"

namespace corun {
namespace {

using namespace std::chrono_literals;
using Cards = std::vector<std::uint32_t>;

/// Eight cards: pairs under one switch, two pairs under one host bridge, two halves across the system.
std::vector<Link> eight_in_pairs() {
  std::vector<Link> links;
  for (int a = 0; a < 8; ++a)
    for (int b = 0; b < 8; ++b)
      links.push_back(a == b           ? Link::kSame
                      : a / 2 == b / 2 ? Link::kSwitch
                      : a / 4 == b / 4 ? Link::kHostBridge
                                       : Link::kSystem);
  return links;
}

/// A node whose cards have so much free compute.
struct OneNode {
  explicit OneNode(std::vector<Milli> free, std::vector<Link> its_links = {}) : links(std::move(its_links)) {
    for (const Milli milli : free) cards.push_back({milli, 0, milli == kWholeCard ? 0U : 1U});
    view.name = "node";
    view.cpu_milli = view.free_cpu_milli = 96'000;
    view.memory_mib = view.free_memory_mib = 1 << 20;
    view.cards = cards;
    view.links = links;
  }
  OneNode(const OneNode&) = delete;
  std::vector<CardView> cards;
  std::vector<Link> links;
  NodeView view;
};

PodView pod(std::uint32_t cards, Milli milli = kWholeCard) {
  PodView asked;
  asked.name = "pod";
  asked.cards = cards;
  asked.milli = milli;
  return asked;
}

// The fixtures describe what gpu-manager's own tests describe: which cards each mode takes on a node with pairs.

TEST(TopologyTree, LinkTakesTwoCardsUnderOneSwitch) {
  const OneNode node({500, 1000, 1000, 1000, 1000, 500, 1000, 500}, eight_in_pairs());
  EXPECT_EQ(TopologyTree(node.view).link(2), (Cards{2, 3}));
}

TEST(TopologyTree, LinkTakesTheClosestGroupThatIsLeftWhenNoPairIsFree) {
  const OneNode node({1000, 500, 500, 500, 1000, 500, 1000, 500}, eight_in_pairs());
  EXPECT_EQ(TopologyTree(node.view).link(2), (Cards{4, 6}));
}

TEST(TopologyTree, LinkTakesTheWholeNodeWhenTheCardsAreScattered) {
  const OneNode node({1000, 500, 500, 500, 1000, 500, 500, 500}, eight_in_pairs());
  EXPECT_EQ(TopologyTree(node.view).link(2), (Cards{0, 4}));
  EXPECT_EQ(TopologyTree(node.view).link(3), std::nullopt);
}

TEST(TopologyTree, FragmentSparesIntactPairs) {
  const OneNode node({1000, 1000, 1000, 1000, 1000, 500, 1000, 1000}, eight_in_pairs());
  EXPECT_EQ(TopologyTree(node.view).fragment(1), (Cards{4}));
}

TEST(TopologyTree, FragmentTakesTheLowestCardOfAnIntactNode) {
  const OneNode node(std::vector<Milli>(8, 1000), eight_in_pairs());
  EXPECT_EQ(TopologyTree(node.view).fragment(1), (Cards{0}));
}

TEST(TopologyTree, ShareIsBestFitAndTheLowestNumberAmongEquals) {
  const OneNode node({1000, 700, 300, 200, 300, 1000, 1000, 1000}, eight_in_pairs());
  EXPECT_EQ(TopologyTree(node.view).share(pod(1, 300)), 2U);
  EXPECT_EQ(TopologyTree(node.view).share(pod(1, 250)), 2U);
  EXPECT_EQ(TopologyTree(node.view).share(pod(1, 400)), 1U);
  EXPECT_EQ(TopologyTree(node.view).share(pod(1, 100)), 3U);
}

TEST(Fragmentation, CountsWhatIsFreeOnCardsThatATypicalPodCannotUse) {
  const OneNode node({1000, 300, 600, 0});
  const std::vector<PodShare> half{{pod(1, 500), 1.0}};
  EXPECT_DOUBLE_EQ(fragmentation(node.view, half), 300);
  const std::vector<PodShare> two_whole{{pod(2), 1.0}};
  EXPECT_DOUBLE_EQ(fragmentation(node.view, two_whole), 1900) << "the node cannot hold the pod at all";
  const std::vector<PodShare> mixed{{pod(1, 500), 0.25}, {pod(2), 0.75}};
  EXPECT_DOUBLE_EQ(fragmentation(node.view, mixed), 0.25 * 300 + 0.75 * 1900);
}

/// Places pods on a cluster of nodes without limits on CPU and memory; everything arrives at once and stays.
ClusterResult place_all(PolicyDescriptor (*describe)(), std::uint32_t nodes, std::uint32_t cards,
                        const std::vector<PodView>& pods, const Parameters* parameters = nullptr) {
  const PolicyDescriptor descriptor = describe();
  const auto policy = descriptor.create_placement(parameters == nullptr ? descriptor.defaults() : *parameters);
  ClusterInput input;
  for (std::uint32_t i = 0; i < nodes; ++i)
    input.nodes.push_back(
        {"node-" + std::to_string(i), "", cards, 0, 0, 0, cards == 8 ? eight_in_pairs() : std::vector<Link>{}});
  for (const PodView& asked : pods) {
    PodSpec spec;
    spec.name = "pod-" + std::to_string(input.pods.size());
    spec.cards = asked.cards;
    spec.milli = asked.milli;
    spec.runtime = 1h;
    input.pods.push_back(spec);
  }
  input.policy = policy.get();
  input.policy_name = descriptor.name;
  input.horizon = 30min;
  return simulate_cluster(input);
}

std::vector<Placement> placements(const ClusterResult& result) {
  std::vector<Placement> all;
  for (const PodFact& fact : result.pods) all.push_back(fact.placement);
  return all;
}

TEST(PlacementPolicies, BinPackFillsACardBeforeItTakesTheNext) {
  const auto result = place_all(bin_pack_policy, 2, 2, {pod(1, 400), pod(1, 400), pod(1, 400), pod(2)});
  EXPECT_EQ(placements(result), (std::vector<Placement>{{0, {0}}, {0, {0}}, {0, {1}}, {1, {0, 1}}}));
}

TEST(PlacementPolicies, SpreadTakesAnEmptyNodeAsLongAsThereIsOne) {
  const auto result = place_all(spread_policy, 2, 2, {pod(1, 400), pod(1, 400), pod(1, 400), pod(2)});
  EXPECT_EQ(placements(result)[0], (Placement{0, {0}}));
  EXPECT_EQ(placements(result)[1], (Placement{1, {0}}));
  EXPECT_EQ(placements(result)[2], (Placement{0, {1}}));
  EXPECT_EQ(result.pods[3].state, PodState::kWaiting);
}

TEST(PlacementPolicies, FragmentationDescentKeepsPodsOfAHalfAndPodsOfAWholeApart) {
  // A card with one half taken is of no use to a whole: the second half belongs on it.
  const auto result = place_all(fragmentation_descent_policy, 1, 4, {pod(1, 500), pod(1), pod(1, 500), pod(2)});
  EXPECT_EQ(placements(result)[2], placements(result)[0]);
  EXPECT_EQ(result.pods[3].state, PodState::kRunning);
}

TEST(PlacementPolicies, FragmentationDescentTakesTheFirstOfEqualNodesWhateverRoundingSays) {
  const OneNode first({500, 900, 800}), second({500, 900, 650});
  std::vector<NodeView> nodes{first.view, second.view};
  nodes[1].index = 1;
  const std::vector<PodShare> thirds{{pod(1, 100), 1.0 / 3}, {pod(1, 300), 1.0 / 3}, {pod(1, 700), 1.0 / 3}};
  const PolicyDescriptor descriptor = fragmentation_descent_policy();
  const auto policy = descriptor.create_placement(descriptor.defaults());
  EXPECT_EQ(policy->place({kRunStart, nodes, thirds}, pod(1, 200)), (Placement{0, {0}}));
}

TEST(PlacementPolicies, HamiPacksNodesAndSpreadsOverTheCardsOfOne) {
  const auto result = place_all(hami_score_policy, 2, 2, {pod(1, 200), pod(1, 200), pod(1, 200)});
  EXPECT_EQ(placements(result), (std::vector<Placement>{{0, {0}}, {0, {1}}, {0, {0}}}));
}

TEST(PlacementPolicies, HamiPacksCardsAndSpreadsOverNodesWhereItIsTold) {
  Parameters otherwise = hami_score_policy().defaults();
  otherwise.set("node", std::string("spread"));
  otherwise.set("card", std::string("bin_pack"));
  const auto nodes = place_all(hami_score_policy, 2, 1, {pod(1, 200), pod(1, 200), pod(1, 200)}, &otherwise);
  EXPECT_EQ(placements(nodes), (std::vector<Placement>{{0, {0}}, {1, {0}}, {0, {0}}}));
  const auto cards = place_all(hami_score_policy, 1, 2, {pod(1, 300), pod(1, 800), pod(1, 100)}, &otherwise);
  EXPECT_EQ(placements(cards), (std::vector<Placement>{{0, {0}}, {0, {1}}, {0, {1}}}));
}

TEST(PlacementPolicies, KubeshareFillsTheSharedCardThatFitsBest) {
  const auto result = place_all(kubeshare_fit_policy, 2, 2, {pod(1, 300), pod(1, 900), pod(1, 600), pod(1, 100)});
  EXPECT_EQ(placements(result)[2], placements(result)[0]);
  EXPECT_EQ(placements(result)[3], placements(result)[0]);
}

Parameters admission_chooses() {
  Parameters parameters = gaiagpu_topology_policy().defaults();
  parameters.set("scheduler", std::string("admission"));
  return parameters;
}

TEST(PlacementPolicies, GaiagpuWholeCardsAreThoseOfTheAllocatorWhateverTheFilterCounted) {
  const Parameters admission = admission_chooses();
  const std::vector<PodView> pods{pod(1, 900), pod(2), pod(1)};
  const auto result = place_all(gaiagpu_topology_policy, 1, 8, pods, &admission);
  EXPECT_EQ(placements(result), (std::vector<Placement>{{0, {0}}, {0, {2, 3}}, {0, {1}}}));
  for (const PodFact& fact : result.pods) EXPECT_EQ(fact.state, PodState::kRunning);
}

TEST(PlacementPolicies, GaiagpuPartsFailWhereTheFilterCountsCardsAsTakenThatTheAllocatorLeftFree) {
  // The filter counts cards 1 and 2 for the pair that has 2 and 3: the next part goes to 3, says the one, to 1 the
  // other.
  const Parameters admission = admission_chooses();
  const std::vector<PodView> pods{pod(1, 900), pod(2), pod(1, 900), pod(1, 100)};
  const auto by_number = place_all(gaiagpu_topology_policy, 1, 8, pods, &admission);
  EXPECT_EQ(by_number.pods[2].state, PodState::kFailed);
  EXPECT_EQ(by_number.pods[3].state, PodState::kRunning) << "both know card 0";
  const auto by_tree = place_all(gaiagpu_topology_policy, 1, 8, pods);
  for (const PodFact& fact : by_tree.pods) EXPECT_EQ(fact.state, PodState::kRunning);
}

TEST(PlacementPolicies, GaiagpuManagerLooksForPodsThatHaveGoneBeforeItAllocates) {
  const Parameters admission = admission_chooses();
  ClusterInput input;
  input.nodes = {{"node", "", 2, 0, 0, 0, {}}};
  const auto add = [&](Milli milli, Duration arrival, Duration runtime) {
    PodSpec& spec = input.pods.emplace_back();
    spec.cards = 1, spec.milli = milli, spec.arrival = arrival, spec.runtime = runtime;
  };
  add(700, 0s, 10s);
  add(600, 1s, 1h);
  add(300, 12s, 1h);   // beside the second: with the first still there it would go beside that
  add(1000, 13s, 1h);  // where the first was
  input.times.check_period = 30s;
  const auto policy = gaiagpu_topology_policy().create_placement(admission);
  input.policy = policy.get();
  input.horizon = 10min;
  const ClusterResult result = simulate_cluster(input);
  EXPECT_EQ(placements(result), (std::vector<Placement>{{0, {0}}, {0, {1}}, {0, {1}}, {0, {0}}}));
  EXPECT_EQ(result.pods[2].start, kRunStart + 12s);
  EXPECT_EQ(result.pods[3].start, kRunStart + 13s);
}

TEST(PlacementPolicies, GaiagpuOffersTheMostLoadedNodeThatFitsThenTheOneWithLeastMemoryThenByName) {
  const PolicyDescriptor descriptor = gaiagpu_topology_policy();
  const auto policy = descriptor.create_placement(descriptor.defaults());
  OneNode empty({1000, 1000}), full({100, 100}), loaded({1000, 600}), same({600, 1000}), alike({600, 1000});
  for (OneNode* node : {&empty, &full, &loaded, &same, &alike})
    for (CardView& card : node->cards) card.free_memory_bytes = 8ULL << 30;
  std::vector<NodeView> nodes{empty.view, full.view, loaded.view, same.view, alike.view};
  const std::string_view names[] = {"a", "b", "z", "y", "x"};
  for (std::uint32_t i = 0; i < nodes.size(); ++i) nodes[i].index = i, nodes[i].name = names[i];
  EXPECT_EQ(policy->place({kRunStart, nodes, {}}, pod(1, 500)), (Placement{4, {0}})) << "three alike: by name";
  loaded.cards[0].free_memory_bytes = 7ULL << 30;
  EXPECT_EQ(policy->place({kRunStart, nodes, {}}, pod(1, 500)), (Placement{2, {1}})) << "less memory goes first";
  EXPECT_EQ(policy->place({kRunStart, nodes, {}}, pod(2)), (Placement{0, {0, 1}})) << "only one fits";
}

std::vector<PolicyDescriptor> placement_policies() {
  PolicyRegistry registry;
  add_builtin_policies(registry);
  std::vector<PolicyDescriptor> policies = registry.all();
  std::erase_if(policies, [](const PolicyDescriptor& policy) { return policy.create_placement == nullptr; });
  return policies;
}

TEST(PlacementPolicies, EveryOnePlacesWhateverFitsAndDoesTheSameAgain) {
  for (const PolicyDescriptor& descriptor : placement_policies()) {
    SCOPED_TRACE(descriptor.name);
    std::uint64_t random = 88172645463325252ULL;
    const auto next = [&](std::uint64_t below) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      return random % below;
    };
    ClusterInput input;
    for (int i = 0; i < 12; ++i)
      input.nodes.push_back({"n" + std::to_string(i), i % 3 == 0 ? "T4" : "V100", i % 2 == 0 ? 8U : 2U, 16ULL << 30,
                             64'000, 256'000, i % 2 == 0 ? eight_in_pairs() : std::vector<Link>{}});
    for (int i = 0; i < 600; ++i) {
      PodSpec spec;
      spec.name = "p" + std::to_string(i);
      const std::uint64_t kind = next(10);
      spec.cards = kind == 0 ? 0 : kind < 7 ? 1 : static_cast<std::uint32_t>(1 + next(8));
      spec.milli = spec.cards == 1 && kind < 7 ? static_cast<Milli>(50 + next(900)) : spec.cards > 0 ? kWholeCard : 0;
      spec.memory_bytes = next(4) << 30;
      spec.cpu_milli = static_cast<std::int64_t>(next(8'000));
      spec.memory_mib = static_cast<std::int64_t>(next(16'000));
      if (next(5) == 0) spec.models = {"V100"};
      spec.arrival = Duration{static_cast<std::int64_t>(next(1'000)) * 1'000'000'000};
      spec.runtime = Duration{static_cast<std::int64_t>(1 + next(300)) * 1'000'000'000};
      input.pods.push_back(spec);
    }
    input.horizon = 10h;
    input.policy_name = descriptor.name;
    const auto run = [&] {
      const auto policy = descriptor.create_placement(descriptor.defaults());
      input.policy = policy.get();
      return simulate_cluster(input);
    };
    const ClusterResult first = run(), second = run();
    for (const PodFact& fact : first.pods)
      EXPECT_TRUE(fact.state == PodState::kFinished || fact.state == PodState::kRejected) << fact.pod;
    EXPECT_EQ(placements(first), placements(second));
    EXPECT_DOUBLE_EQ(first.levels.back().allocated, 0);
    for (const ClusterLevel& level : first.levels) EXPECT_LE(level.allocated, first.cards + 1e-9);
  }
}

}  // namespace
}  // namespace corun
