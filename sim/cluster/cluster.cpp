#include "sim/cluster/cluster.h"

#include <algorithm>
#include <deque>
#include <list>
#include <map>
#include <tuple>

#include "sim/engine/engine.h"
#include "sim/policy/fragmentation.h"
#include "traces/base/error.h"

namespace corun {

namespace {

struct Node {
  std::vector<CardView> cards;
  double fragmented = 0.0;
};

PodView view_of(const PodSpec& pod, std::uint64_t number) {
  PodView view;
  view.number = number;
  view.name = pod.name;
  view.cards = pod.cards;
  view.milli = pod.milli;
  view.memory_bytes = pod.memory_bytes;
  view.cpu_milli = pod.cpu_milli;
  view.memory_mib = pod.memory_mib;
  view.models = pod.models;
  return view;
}

/// The kinds of pods that ask for cards, each with its share of them; a kind is what it asks of a card, with the least
/// of host resources that any of the kind asks for.
std::vector<PodShare> mix_of(const std::vector<PodSpec>& pods) {
  std::map<std::tuple<std::uint32_t, Milli, std::uint64_t>, PodShare> kinds;
  double total = 0;
  for (const PodSpec& pod : pods) {
    if (pod.cards == 0) continue;
    auto [kind, is_new] = kinds.try_emplace({pod.cards, pod.milli, pod.memory_bytes}, PodShare{view_of(pod, 0), 0});
    PodView& its = kind->second.pod;
    its.models = {};
    its.cpu_milli = std::min(its.cpu_milli, pod.cpu_milli);
    its.memory_mib = std::min(its.memory_mib, pod.memory_mib);
    kind->second.share += 1;
    total += 1;
  }
  std::vector<PodShare> mix;
  for (auto& [key, kind] : kinds) mix.push_back({kind.pod, kind.share / total});
  return mix;
}

class ClusterRun {
 public:
  explicit ClusterRun(const ClusterInput& input) : input_(input), mix_(mix_of(input.pods)) {
    for (const NodeSpec& spec : input.nodes) add_node(spec);
    for (std::size_t i = 0; i < input.pods.size(); ++i) {
      PodFact& fact = result_.pods.emplace_back();
      fact.pod = i;
      fact.name = input.pods[i].name;
      fact.arrival = kRunStart + input.pods[i].arrival;
      engine_.at(kRunStart + input.pods[i].arrival, Phase::kArrival, &ClusterRun::on_arrival, this, i);
    }
    level_changed();
  }

  ClusterResult run() {
    const bool is_drained = engine_.run(kRunStart + input_.horizon) == StopReason::kDrained;
    result_.end = is_drained ? engine_.now() : kRunStart + input_.horizon;
    result_.events = engine_.events_fired();
    return std::move(result_);
  }

 private:
  static ClusterRun& self(void* subject) { return *static_cast<ClusterRun*>(subject); }
  static void on_arrival(void* subject, std::uint64_t pod) { self(subject).arrive(pod); }
  static void on_admission(void* subject, std::uint64_t pod) { self(subject).admit(pod); }
  static void on_allocation(void* subject, std::uint64_t pod) { self(subject).allocate(pod); }
  static void on_end(void* subject, std::uint64_t pod) { self(subject).end(pod); }
  static void on_level(void* subject, std::uint64_t) { self(subject).note_level(); }

  void add_node(const NodeSpec& spec) {
    CORUN_ASSERT(spec.links.empty() || spec.links.size() == std::size_t{spec.cards} * spec.cards, "node '{}': {} links",
                 spec.name, spec.links.size());
    Node& node = nodes_.emplace_back();
    node.cards.assign(spec.cards, CardView{kWholeCard, spec.card_memory_bytes, 0});
    NodeView view;
    view.index = static_cast<std::uint32_t>(views_.size());
    view.name = spec.name;
    view.model = spec.model;
    view.card_memory_bytes = spec.card_memory_bytes;
    view.cpu_milli = view.free_cpu_milli = spec.cpu_milli;
    view.memory_mib = view.free_memory_mib = spec.memory_mib;
    view.links = spec.links;
    view.cards = node.cards;
    views_.push_back(view);
    empty_.push_back(view);
    node.fragmented = fragmentation(view, mix_);
    fragmented_ += node.fragmented;
    result_.cards += spec.cards;
    empty_cards_.push_back(node.cards);
  }

  ClusterView view() const { return {engine_.now(), views_, mix_}; }
  PodView pod_view(std::uint64_t pod) const { return view_of(input_.pods[pod], pod); }

  void arrive(std::uint64_t pod) {
    const PodView asked = pod_view(pod);
    if (!could_ever_fit(asked)) {
      result_.pods[pod].state = PodState::kRejected;
      return;
    }
    engine_.after(input_.latency.admission, Phase::kDecide, &ClusterRun::on_admission, this, pod);
  }

  bool could_ever_fit(const PodView& pod) {
    for (std::size_t i = 0; i < empty_.size(); ++i) {
      NodeView node = empty_[i];
      node.cards = empty_cards_[i];
      if (fits(node, pod)) return true;
    }
    return false;
  }

  void admit(std::uint64_t pod) {
    if (!place(pod)) {
      waiting_.push_back(pod);
      level_changed();
    }
  }

  /// Asks the policy; true if it found a place. The place is promised at once, so that nobody else gets it meanwhile.
  bool place(std::uint64_t pod) {
    const PodView asked = pod_view(pod);
    const auto placement = input_.policy->place(view(), asked);
    if (!placement) return false;
    check(*placement, asked);
    take(*placement, asked);
    result_.pods[pod].placement = *placement;
    result_.pods[pod].node = views_[placement->node].name;
    engine_.after(input_.latency.allocation, Phase::kDecide, &ClusterRun::on_allocation, this, pod);
    return true;
  }

  void check(const Placement& placement, const PodView& pod) const {
    const auto fail = [&](const std::string& why) {
      throw Error(ErrorKind::kPolicy, fmt::format("policy '{}' at t={:.3f} s: pod '{}': {}", input_.policy_name,
                                                  to_seconds(engine_.now() - kRunStart), pod.name, why));
    };
    if (placement.node >= views_.size()) fail(fmt::format("node {} of {}", placement.node, views_.size()));
    const NodeView& node = views_[placement.node];
    if (!fits(node, pod)) fail(fmt::format("node '{}' has no room for it", node.name));
    if (placement.cards.size() != pod.cards)
      fail(fmt::format("it asks for {} cards and got {}", pod.cards, placement.cards.size()));
    for (std::size_t i = 0; i < placement.cards.size(); ++i) {
      const std::uint32_t card = placement.cards[i];
      if (card >= node.cards.size() || (i > 0 && card <= placement.cards[i - 1]))
        fail(fmt::format("cards of node '{}' out of range or order", node.name));
      if (!fits(node.cards[card], pod)) fail(fmt::format("card {} of node '{}' has no room for it", card, node.name));
    }
  }

  /// The cards are given back for the time of the question, so that the allocator sees what the scheduler saw.
  void allocate(std::uint64_t pod) {
    const PodView asked = pod_view(pod);
    PodFact& fact = result_.pods[pod];
    release(fact.placement, asked);
    const std::vector<std::uint32_t> cards = input_.policy->allocate(view(), asked, fact.placement);
    if (cards != fact.placement.cards) {
      fact.state = PodState::kFailed;
      fact.end = engine_.now();
      return retry(fact.placement.node);
    }
    take(fact.placement, asked);
    fact.state = PodState::kRunning;
    fact.start = engine_.now();
    engine_.after(input_.pods[pod].runtime, Phase::kCompletion, &ClusterRun::on_end, this, pod);
  }

  void end(std::uint64_t pod) {
    PodFact& fact = result_.pods[pod];
    fact.state = PodState::kFinished;
    fact.end = engine_.now();
    release(fact.placement, pod_view(pod));
    retry(fact.placement.node);
  }

  /// Only what could use the node that changed is asked about again: the others' answer is still no.
  void retry(std::uint32_t node) {
    for (auto pod = waiting_.begin(); pod != waiting_.end();) {
      const bool is_placed = fits(views_[node], pod_view(*pod)) && place(*pod);
      pod = is_placed ? waiting_.erase(pod) : std::next(pod);
    }
    level_changed();
  }

  void take(const Placement& placement, const PodView& pod) { change(placement, pod, 1); }
  void release(const Placement& placement, const PodView& pod) { change(placement, pod, -1); }

  void change(const Placement& placement, const PodView& pod, int sign) {
    NodeView& node = views_[placement.node];
    Node& own = nodes_[placement.node];
    node.free_cpu_milli -= sign * pod.cpu_milli;
    node.free_memory_mib -= sign * pod.memory_mib;
    for (const std::uint32_t index : placement.cards) {
      CardView& card = own.cards[index];
      card.free -= static_cast<Milli>(sign) * pod.milli;
      card.free_memory_bytes -= static_cast<std::uint64_t>(sign) * pod.memory_bytes;
      card.pods += static_cast<std::uint32_t>(sign);
      allocated_ += sign * static_cast<double>(pod.milli);
    }
    fragmented_ -= own.fragmented;
    own.fragmented = fragmentation(node, mix_);
    fragmented_ += own.fragmented;
    level_changed();
  }

  /// One level per instant, after all that happens in it.
  void level_changed() {
    if (is_level_due_) return;
    is_level_due_ = true;
    engine_.at(engine_.now(), Phase::kSample, &ClusterRun::on_level, this);
  }

  void note_level() {
    is_level_due_ = false;
    result_.levels.push_back({engine_.now(), allocated_ / kWholeCard, fragmented_ / kWholeCard, waiting_.size()});
  }

  const ClusterInput& input_;
  const std::vector<PodShare> mix_;
  Engine engine_;
  std::deque<Node> nodes_;  // a deque: views point into its elements
  std::vector<NodeView> views_;
  std::vector<NodeView> empty_;
  std::vector<std::vector<CardView>> empty_cards_;
  std::list<std::uint64_t> waiting_;
  double allocated_ = 0.0, fragmented_ = 0.0;
  bool is_level_due_ = false;
  ClusterResult result_;
};

}  // namespace

ClusterResult simulate_cluster(const ClusterInput& input) {
  CORUN_ASSERT(input.policy != nullptr, "no placement policy");
  return ClusterRun(input).run();
}

}  // namespace corun
