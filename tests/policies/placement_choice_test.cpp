// Which node and card each placement policy prefers, one consideration at a time.

#include <gtest/gtest.h>

#include "policies/builtin.h"

namespace corun {
namespace {

constexpr std::uint64_t kGb = 1'000'000'000;

/// Nodes of cards, as a policy sees them.
class Cluster {
 public:
  /// A node whose cards have so much free compute; a card that is not free has one pod.
  NodeView& add(const std::vector<Milli>& free) {
    auto& cards = cards_.emplace_back();
    for (const Milli milli : free) cards.push_back({milli, 0, milli == kWholeCard ? 0U : 1U});
    NodeView& node = nodes_.emplace_back();
    node.index = static_cast<std::uint32_t>(nodes_.size() - 1);
    node.cpu_milli = node.free_cpu_milli = 96'000;
    node.memory_mib = node.free_memory_mib = 1 << 20;
    return node;
  }
  CardView& card(std::size_t node, std::size_t card) { return cards_[node][card]; }
  void set_memory(std::size_t node, std::uint64_t bytes, const std::vector<std::uint64_t>& free) {
    nodes_[node].card_memory_bytes = bytes;
    for (std::size_t i = 0; i < free.size(); ++i) cards_[node][i].free_memory_bytes = free[i];
  }

  std::optional<Placement> place(const PolicyDescriptor& descriptor, const PodView& pod,
                                 std::vector<std::pair<std::string, ParameterValue>> values = {}) {
    Parameters parameters = descriptor.defaults();
    for (auto& [name, value] : values) parameters.set(name, value);
    return place(*descriptor.create_placement(parameters), pod);
  }
  std::optional<Placement> place(PlacementPolicy& policy, const PodView& pod) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i].cards = cards_[i];
    return policy.place({kRunStart, nodes_, mix}, pod);
  }

  std::vector<PodShare> mix;

 private:
  std::vector<NodeView> nodes_;
  std::vector<std::vector<CardView>> cards_;
};

PodView asking(std::uint32_t cards, Milli milli = kWholeCard) {
  PodView pod;
  pod.cards = cards;
  pod.milli = milli;
  return pod;
}

const PodView kPart = asking(1, 100);

using Where = std::optional<Placement>;
Where at(std::uint32_t node, std::vector<std::uint32_t> cards) { return Placement{node, std::move(cards)}; }

TEST(BinPack, TakesTheNodeWithLeastFreeComputeThenLeastFreeCpu) {
  Cluster cluster;
  cluster.add({1000, 1000}).free_cpu_milli = 10'000;
  cluster.add({600, 1000}).free_cpu_milli = 60'000;
  cluster.add({1000, 600}).free_cpu_milli = 50'000;
  EXPECT_EQ(cluster.place(bin_pack_policy(), kPart), at(2, {1}));
  EXPECT_EQ(cluster.place(bin_pack_policy(), asking(0)), at(2, {})) << "without cards, too";
  EXPECT_EQ(cluster.place(bin_pack_policy(), asking(2)), at(0, {0, 1}));
  EXPECT_EQ(cluster.place(bin_pack_policy(), asking(3)), std::nullopt);
}

TEST(Spread, TakesTheNodeWithMostFreeComputeThenMostFreeCpu) {
  Cluster cluster;
  cluster.add({600, 1000}).free_cpu_milli = 90'000;
  cluster.add({800, 1000}).free_cpu_milli = 50'000;
  cluster.add({800, 1000}).free_cpu_milli = 60'000;
  EXPECT_EQ(cluster.place(spread_policy(), kPart), at(2, {1}));
}

TEST(KubeshareFit, OpensACardForSharingWhereTheFewestAreFree) {
  Cluster cluster;
  cluster.add({1000, 1000});
  cluster.add({200, 1000});
  EXPECT_EQ(cluster.place(kubeshare_fit_policy(), asking(1, 500)), at(1, {1}));
  EXPECT_EQ(cluster.place(kubeshare_fit_policy(), asking(1)), at(1, {1})) << "a whole card goes there as well";
  EXPECT_EQ(cluster.place(kubeshare_fit_policy(), asking(2)), at(0, {0, 1}));
}

TEST(KubeshareFit, FillsTheSharedCardOfAnyNodeThatFitsBest) {
  Cluster cluster;
  cluster.add({600, 1000});
  cluster.add({1000, 1000, 500});
  cluster.add({400});
  EXPECT_EQ(cluster.place(kubeshare_fit_policy(), asking(1, 500)), at(1, {2}));
  EXPECT_EQ(cluster.place(kubeshare_fit_policy(), asking(1, 501)), at(0, {0}));
}

TEST(KubeshareFit, GivesSeveralCardsOfTheNodeWithTheFewestThatAreEnough) {
  Cluster cluster;
  cluster.add({1000, 1000, 1000, 100});
  cluster.add({1000, 1000});
  EXPECT_EQ(cluster.place(kubeshare_fit_policy(), asking(2)), at(1, {0, 1}));
}

TEST(RandomFit, DrawsFromTheNodesWithRoomAlikeAndTakesTheirFirstCards) {
  Cluster cluster;
  cluster.add({100, 900});
  cluster.add({100, 100});
  cluster.add({1000, 1000});
  const PolicyDescriptor descriptor = random_fit_policy();
  const auto policy = descriptor.create_placement(descriptor.defaults());
  std::vector<int> drawn(3);
  for (int i = 0; i < 400; ++i) {
    const Where where = cluster.place(*policy, asking(1, 500));
    ASSERT_TRUE(where);
    ++drawn[where->node];
    EXPECT_EQ(where->cards, (std::vector<std::uint32_t>{where->node == 0 ? 1U : 0U}));
  }
  EXPECT_EQ(drawn[1], 0);
  EXPECT_NEAR(drawn[0], 200, 50);
  EXPECT_EQ(cluster.place(*policy, asking(3)), std::nullopt);
}

TEST(HamiScore, PacksOrSpreadsNodesByTheMeanOfTheirCards) {
  Cluster cluster;
  cluster.add({1000, 1000, 500, 500});
  cluster.add({500});
  cluster.add({1000});
  EXPECT_EQ(cluster.place(hami_score_policy(), kPart), at(1, {0}));
  EXPECT_EQ(cluster.place(hami_score_policy(), kPart, {{"node", std::string("spread")}}), at(2, {0}));
  EXPECT_EQ(cluster.place(hami_score_policy(), asking(2), {{"node", std::string("spread")}}), at(0, {0, 1}));
}

/// The card of one node that HAMi's spread chooses.
std::uint32_t emptier(Cluster& cluster) { return cluster.place(hami_score_policy(), kPart)->cards.at(0); }

TEST(HamiScore, SlotsAndComputeCountAsPartsOfTheCard) {
  Cluster cluster;
  cluster.add({900, 750});
  cluster.card(0, 0).pods = 2;
  EXPECT_EQ(emptier(cluster), 0U) << "3 of 10 slots and 200 of 1000, against 2 and 350";
  cluster.card(0, 0).pods = 4;
  EXPECT_EQ(emptier(cluster), 1U) << "5 of 10 slots and 200 of 1000";
  const Where packed = cluster.place(hami_score_policy(), kPart, {{"card", std::string("bin_pack")}});
  EXPECT_EQ(packed, at(0, {0}));
}

TEST(HamiScore, MemoryCountsAsMuchWhereItsSizeIsKnown) {
  Cluster cluster;
  cluster.add({900, 500});
  EXPECT_EQ(emptier(cluster), 0U);
  cluster.set_memory(0, 16 * kGb, {4 * kGb, 16 * kGb});
  EXPECT_EQ(emptier(cluster), 1U) << "three quarters of the memory against 400 of 1000";
  cluster.set_memory(0, 16 * kGb, {10 * kGb, 16 * kGb});
  EXPECT_EQ(emptier(cluster), 0U) << "three eighths";
}

TEST(HamiScore, CardWithoutAFreeSlotTakesNoPod) {
  Cluster cluster;
  cluster.add({900, 300});
  cluster.card(0, 0).pods = 2;
  const std::vector<std::pair<std::string, ParameterValue>> two{{"slots_per_card", std::int64_t{2}}};
  EXPECT_EQ(cluster.place(hami_score_policy(), kPart, two), at(0, {1}));
  cluster.card(0, 1).pods = 2;
  EXPECT_EQ(cluster.place(hami_score_policy(), kPart, two), std::nullopt);
  cluster.add({200});
  EXPECT_EQ(cluster.place(hami_score_policy(), kPart, two), at(1, {0}));
}

TEST(HamiScore, EveryCardOfAPodNeedsASlot) {
  Cluster cluster;
  cluster.add({1000, 1000, 1000});
  cluster.card(0, 0).pods = 1;
  const std::vector<std::pair<std::string, ParameterValue>> one{{"slots_per_card", std::int64_t{1}}};
  EXPECT_EQ(cluster.place(hami_score_policy(), asking(2), one), at(0, {1, 2}));
  cluster.card(0, 1).pods = 1;
  EXPECT_EQ(cluster.place(hami_score_policy(), asking(2), one), std::nullopt);
}

TEST(FragmentationDescent, MemoryThatAPodTakesMayMakeComputeUseless) {
  Cluster cluster;
  cluster.add({900, 800});
  cluster.set_memory(0, 16 * kGb, {16 * kGb, 10 * kGb});
  PodView usual = asking(1, 100), pod = kPart;
  usual.memory_bytes = 8 * kGb;
  pod.memory_bytes = 4 * kGb;
  cluster.mix = {{usual, 1.0}};
  EXPECT_EQ(cluster.place(fragmentation_descent_policy(), pod), at(0, {0})) << "the other would keep 6 GB";
  pod.memory_bytes = 2 * kGb;
  EXPECT_EQ(cluster.place(fragmentation_descent_policy(), pod), at(0, {1})) << "of equal ones the fullest";
}

TEST(FragmentationDescent, CpuAndMemoryOfTheHostDoSoToo) {
  for (const bool is_cpu : {true, false}) {
    Cluster cluster;
    NodeView& small = cluster.add({900});
    (is_cpu ? small.free_cpu_milli : small.free_memory_mib) = 3'000;
    cluster.add({900});
    PodView pod = kPart;
    (is_cpu ? pod.cpu_milli : pod.memory_mib) = 2'000;
    cluster.mix = {{pod, 1.0}};
    EXPECT_EQ(cluster.place(fragmentation_descent_policy(), pod), at(1, {0})) << is_cpu;
  }
}

TEST(FragmentationDescent, PodWithoutCardsGoesToTheFirstNodeThatItMakesNoWorse) {
  Cluster cluster;
  cluster.add({900}).free_cpu_milli = 3'000;
  cluster.add({900});
  PodView usual = asking(1, 100), pod = asking(0);
  usual.cpu_milli = pod.cpu_milli = 2'000;
  cluster.mix = {{usual, 1.0}};
  EXPECT_EQ(cluster.place(fragmentation_descent_policy(), pod), at(1, {}));
  usual.cpu_milli = 500;
  cluster.mix = {{usual, 1.0}};
  EXPECT_EQ(cluster.place(fragmentation_descent_policy(), pod), at(0, {}));
}

}  // namespace
}  // namespace corun
