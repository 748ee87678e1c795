#include "sim/cluster/cluster.h"

#include <optional>

#include "sim/cluster/mix_cards.h"
#include "sim/cluster/node_books.h"
#include "sim/cluster/shared_cards.h"
#include "sim/cluster/waiting_pods.h"
#include "sim/engine/engine.h"
#include "traces/base/error.h"

namespace corun {

namespace {

/// The first multiple of `period` since the start that does not lie before `now`; `now` where there is no period.
Time next_multiple(Time now, Duration period) {
  if (period == Duration{0}) return now;
  const std::int64_t periods = ((now - kRunStart).count() + period.count() - 1) / period.count();
  return kRunStart + periods * period;
}

std::unique_ptr<Cards> make_cards(const ClusterInput& input) {
  if (input.sharing.mixes != nullptr) return std::make_unique<MixCards>(input);
  return std::make_unique<SharedCards>(input);
}

class ClusterRun {
 public:
  explicit ClusterRun(const ClusterInput& input)
      : input_(input),
        books_(input),
        held_(input.pods.size()),
        engine_(input.interrupt),
        waiting_(input.pods),
        cards_(make_cards(input)) {
    if (input.policy->has_two_books()) managers_.emplace(input);
    if (input.times.registration > Duration{0}) {
      engine_.at(kRunStart + input.times.registration, Phase::kCompletion, &ClusterRun::on_registration, this);
    } else {
      advertise_cards();
    }
    result_.cards = books_.cards();
    for (std::size_t i = 0; i < input.pods.size(); ++i) {
      PodFact& fact = result_.pods.emplace_back();
      fact.pod = i;
      fact.name = input.pods[i].name;
      fact.client = input.pods[i].client;
      fact.arrival = kRunStart + input.pods[i].arrival;
      engine_.at(kRunStart + input.pods[i].arrival, Phase::kArrival, &ClusterRun::on_arrival, this, i);
    }
    level_changed();
  }

  ClusterResult run() {
    const Time end = kRunStart + input_.horizon;
    while (true) {
      const Time last = std::min(engine_.next_time(), end - Duration{1});
      for (const Cards::End& finished : cards_->run(last)) client_finished(finished);
      if (engine_.next_time() >= end) break;
      engine_.run_through(engine_.next_time());
    }
    const std::optional<Time> last = engine_.next_time() == kNever ? cards_->last_event(end) : std::nullopt;
    result_.end = last ? std::max(engine_.now(), *last) : end;
    result_.events = engine_.events_fired() + cards_->count_events(end);
    result_.mix_use = cards_->mix_use();
    return std::move(result_);
  }

 private:
  static ClusterRun& self(void* subject) { return *static_cast<ClusterRun*>(subject); }
  static void on_arrival(void* subject, std::uint64_t pod) { self(subject).arrive(pod); }
  static void on_admission(void* subject, std::uint64_t pod) { self(subject).admit(pod); }
  static void on_allocation(void* subject, std::uint64_t pod) { self(subject).allocate(pod); }
  static void on_registration(void* subject, std::uint64_t) { self(subject).advertise(); }
  static void on_begin(void* subject, std::uint64_t pod) { self(subject).begin(pod); }
  static void on_end(void* subject, std::uint64_t pod) { self(subject).end(pod, PodState::kFinished); }
  static void on_refused(void* subject, std::uint64_t pod) { self(subject).end(pod, PodState::kFailed); }
  static void on_seen_free(void* subject, std::uint64_t pod) { self(subject).free(pod); }
  static void on_collected(void* subject, std::uint64_t) { self(subject).collect_config(); }
  static void on_level(void* subject, std::uint64_t) { self(subject).note_level(); }

  void advertise_cards() {
    books_.advertise();
    if (managers_) managers_->advertise();
  }

  void advertise() {
    advertise_cards();
    retry([](const PodView&) { return true; });
  }

  /// Managers count no host resources.
  static PodView cards_of(PodView pod) {
    pod.cpu_milli = pod.memory_mib = 0;
    return pod;
  }

  ClusterView view() const { return {engine_.now(), books_.nodes(), books_.mix()}; }
  PodView pod_view(std::uint64_t pod) const { return view_of(input_.pods[pod], pod); }

  void arrive(std::uint64_t pod) {
    const PodView asked = pod_view(pod);
    if (!books_.could_ever_fit(asked)) {
      result_.pods[pod].state = PodState::kRejected;
      return;
    }
    engine_.after(input_.times.admission, Phase::kDecide, &ClusterRun::on_admission, this, pod);
  }

  void admit(std::uint64_t pod) {
    if (!place(pod)) {
      waiting_.push(pod);
      level_changed();
    }
  }

  /// Asks the policy; true if it found a place. The place is promised at once, so that no other pod gets it meanwhile.
  bool place(std::uint64_t pod) {
    const PodView asked = pod_view(pod);
    const auto placement = input_.policy->place(view(), asked);
    if (!placement) return false;
    check(*placement, asked, books_);
    take(*placement, asked);
    held_[pod] = result_.pods[pod].placement = *placement;
    result_.pods[pod].node = books_.nodes()[placement->node].name;
    engine_.after(input_.times.allocation, Phase::kDecide, &ClusterRun::on_allocation, this, pod);
    return true;
  }

  void check(const Placement& placement, const PodView& pod, const NodeBooks& books) const {
    const auto fail = [&](const std::string& why) {
      throw Error(ErrorKind::kPolicy, fmt::format("policy '{}' at t={:.3f} s: pod '{}': {}", input_.policy_name,
                                                  to_seconds(engine_.now() - kRunStart), pod.name, why));
    };
    const std::vector<NodeView>& nodes = books.nodes();
    if (placement.node >= nodes.size()) fail(fmt::format("node {} of {}", placement.node, nodes.size()));
    const NodeView& node = nodes[placement.node];
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

  /// Where all have the same books, the cards are given back for the time of the question, so that the allocator sees
  /// what the scheduler saw.
  void allocate(std::uint64_t pod) {
    const PodView asked = pod_view(pod);
    PodFact& fact = result_.pods[pod];
    if (!managers_) release(fact.placement, asked);
    const NodeBooks& seen = managers_ ? *managers_ : books_;
    const std::vector<std::uint32_t> cards =
        input_.policy->allocate({engine_.now(), seen.nodes(), seen.mix()}, asked, fact.placement);
    if (cards.empty() && asked.cards > 0) {
      fact.state = PodState::kFailed;
      fact.end = engine_.now();
      if (managers_) release(fact.placement, asked);
      return retry_on(fact.placement.node);
    }
    fact.placement.cards = cards;
    check(fact.placement, managers_ ? cards_of(asked) : asked, seen);
    if (managers_) {
      managers_->take(fact.placement, cards_of(asked));
    } else {
      held_[pod] = fact.placement;
      take(fact.placement, asked);
    }
    fact.state = PodState::kRunning;
    fact.start = engine_.now();
    const Duration container = asked.cards > 0 ? input_.times.container : Duration{0};
    engine_.after(container, Phase::kArrival, &ClusterRun::on_begin, this, pod);
  }

  void begin(std::uint64_t pod) {
    const PodSpec& spec = input_.pods[pod];
    PodFact& fact = result_.pods[pod];
    fact.begin = engine_.now();
    if (spec.client.empty()) {
      engine_.after(spec.runtime, Phase::kCompletion, &ClusterRun::on_end, this, pod);
      return;
    }
    cards_->begin(pod, fact.placement.node, fact.placement.cards.front(), engine_.now());
  }

  void client_finished(const Cards::End& end) {
    const auto& [pod, when, is_refused, range] = end;
    const PodSpec& spec = input_.pods[pod];
    PodFact& fact = result_.pods[pod];
    const Duration time = when - fact.begin;
    const bool is_done = !is_refused && (spec.runtime == Duration{0} || time < spec.runtime);
    if (is_done && spec.alone > Duration{0}) fact.slowdown = to_seconds(time) / to_seconds(spec.alone);
    fact.range = range;
    engine_.at(when, Phase::kCompletion, is_refused ? &ClusterRun::on_refused : &ClusterRun::on_end, this, pod);
  }

  void end(std::uint64_t pod, PodState state) {
    PodFact& fact = result_.pods[pod];
    fact.state = state;
    fact.end = engine_.now();
    if (input_.pods[pod].cards == 0) return free(pod);
    ++stale_configs_;
    later(input_.times.collection_period, &ClusterRun::on_collected, pod);
    if (managers_) return free(pod);
    later(input_.times.check_period, &ClusterRun::on_seen_free, pod);
  }

  /// At the next multiple of `period`; at once where that is now.
  void later(Duration period, EventAction action, std::uint64_t pod) {
    const Time when = next_multiple(engine_.now(), period);
    if (when == engine_.now()) return action(this, pod);
    engine_.at(when, Phase::kCompletion, action, this, pod);
  }

  void free(std::uint64_t pod) {
    const PodView asked = pod_view(pod);
    if (managers_) managers_->release(result_.pods[pod].placement, cards_of(asked));
    release(held_[pod], asked);
    retry_on(held_[pod].node);
  }

  void collect_config() {
    --stale_configs_;
    level_changed();
  }

  /// Only what could use the node that changed is asked about again: the others' answer is still no.
  void retry_on(std::uint32_t node) {
    retry([&](const PodView& pod) { return fits(books_.nodes()[node], pod); });
  }

  template <class MayFit>
  void retry(MayFit may_fit) {
    waiting_.retry([&](std::uint64_t pod) { return may_fit(pod_view(pod)) && place(pod); });
    level_changed();
  }

  void take(const Placement& placement, const PodView& pod) {
    books_.take(placement, pod);
    level_changed();
  }

  void release(const Placement& placement, const PodView& pod) {
    books_.release(placement, pod);
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
    result_.levels.push_back({engine_.now(), books_.allocated(), books_.fragmented(), waiting_.size(), stale_configs_});
  }

  const ClusterInput& input_;
  NodeBooks books_;                    ///< of the scheduler
  std::optional<NodeBooks> managers_;  ///< of the nodes' managers, where they are others
  std::vector<Placement> held_;        ///< by pod; what the scheduler's books hold
  Engine engine_;
  WaitingPods waiting_;
  const std::unique_ptr<Cards> cards_;
  std::uint64_t stale_configs_ = 0;
  bool is_level_due_ = false;
  ClusterResult result_;
};

}  // namespace

ClusterResult simulate_cluster(const ClusterInput& input) {
  CORUN_ASSERT(input.policy != nullptr, "no placement policy");
  return ClusterRun(input).run();
}

}  // namespace corun
