#include "sim/cluster/mix_cards.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/cluster/pod_kinds.h"
#include "traces/base/error.h"

namespace corun {

namespace {

constexpr double kLatestEnd_ns = 4e18;  // a century, beyond every horizon, and no overflow

MixMember member_of(const PodSpec& pod) { return {pod.client, pod.milli, pod.memory_bytes}; }

double jobs_of(const ClusterInput& input, const PodSpec& pod) {
  const ClientSpec& model = model_of(input, pod);
  CORUN_ASSERT(model.repeat > 0 && pod.runtime == Duration{}, "pod '{}' has no number of jobs", pod.name);
  return static_cast<double>(model.repeat) * static_cast<double>(model.workload->jobs.size());
}

/// Jobs that a pod of so many passes is behind its mean rate since its start.
double start_of(std::uint64_t passes, const MixRate& rate) {
  return rate.start.empty() ? 0.0 : rate.start[std::min<std::uint64_t>(passes, rate.start.size()) - 1];
}

Time end_of(double jobs, double rate, Time since) {
  const double ns = std::max(1.0, std::ceil(jobs / rate));
  return ns < kLatestEnd_ns ? since + Duration{static_cast<std::int64_t>(ns)} : kNever;
}

}  // namespace

MixCards::MixCards(const ClusterInput& input) : input_(input) {
  std::uint32_t cards = 0;
  for (const NodeSpec& node : input.nodes) {
    first_cards_.push_back(cards);
    cards += node.cards;
  }
  cards_.resize(cards);
  for (const PodSpec& pod : input.pods)
    if (!pod.client.empty()) kinds_.push_back(member_of(pod));
  std::ranges::sort(kinds_);
  const auto repeated = std::ranges::unique(kinds_);
  kinds_.erase(repeated.begin(), repeated.end());
}

void MixCards::begin(std::uint64_t pod, std::uint32_t node, std::uint32_t card, Time now) {
  const std::uint32_t index = first_cards_[node] + card;
  move_to(cards_[index], now);
  const PodSpec& spec = input_.pods[pod];
  std::vector<Pod>& pods = cards_[index].pods;
  const auto kind = static_cast<std::uint32_t>(std::ranges::lower_bound(kinds_, member_of(spec)) - kinds_.begin());
  pods.insert(std::ranges::upper_bound(pods, kind, {}, &Pod::kind),
              {kind, pods_begun_++, pod, jobs_of(input_, spec), {}});
  changed_.insert(index);
  ++present_;
}

/// Its pods have worked until now, and are about to change.
void MixCards::move_to(Card& card, Time now) {
  const auto index = static_cast<std::uint32_t>(&card - cards_.data());
  ends_.erase({card.next_end, index});
  const auto ns = static_cast<double>((now - card.since).count());
  CORUN_ASSERT(card.rates != nullptr || card.pods.empty() || ns == 0, "card {}: no rates for {} ns", index, ns);
  for (std::size_t i = 0; card.rates != nullptr && i < card.pods.size(); ++i) {
    const MixRate& rate = card.rates->members[i];
    card.pods[i].jobs -= ns * rate.mean;
    card.pods[i].range.shortest_ns += ns * rate.mean / rate.most;
    card.pods[i].range.longest_ns += ns * rate.mean / rate.least;
  }
  card.since = now;
  card.rates = nullptr;
  card.next_end = kNever;
}

const MixRates& MixCards::rates_of(const Card& card) {
  KindMix kinds;
  for (const Pod& pod : card.pods) kinds.push_back(pod.kind);
  const MixRates*& known = known_[kinds];
  if (known == nullptr) {
    Mix mix;
    for (const std::uint32_t kind : kinds) mix.push_back(kinds_[kind]);
    known = &input_.sharing.mixes->at(mix, input_.interrupt);
  }
  return *known;
}

void MixCards::look_up(std::uint32_t index) {
  Card& card = cards_[index];
  if (card.pods.empty()) return;
  card.rates = &rates_of(card);
  for (std::size_t i = 0; i < card.pods.size(); ++i)
    if (std::exchange(card.pods[i].is_new, false))
      card.pods[i].jobs += start_of(model_of(input_, input_.pods[card.pods[i].number]).repeat, card.rates->members[i]);
  for (std::size_t i = 0; i < card.pods.size(); ++i)
    card.next_end = std::min(card.next_end, end_of(card.pods[i].jobs, card.rates->members[i].mean, card.since));
  ends_.insert({card.next_end, index});
}

std::vector<Cards::End> MixCards::run(Time last) {
  std::erase_if(changed_, [&](std::uint32_t card) {
    const bool takes_time = cards_[card].since < last;
    if (takes_time) look_up(card);
    return takes_time;
  });
  std::map<std::uint64_t, End> by_begin;
  const Time first = ends_.empty() ? kNever : ends_.begin()->first;
  while (first <= last && !ends_.empty() && ends_.begin()->first == first && first != kNever)
    end_pods(ends_.begin()->second, first, by_begin);
  std::vector<End> ends;
  for (const auto& [begun, end] : by_begin) ends.push_back(end);
  return ends;
}

void MixCards::end_pods(std::uint32_t index, Time now, std::map<std::uint64_t, End>& by_begin) {
  Card& card = cards_[index];
  std::vector<bool> has_ended;
  for (std::size_t i = 0; i < card.pods.size(); ++i)
    has_ended.push_back(end_of(card.pods[i].jobs, card.rates->members[i].mean, card.since) <= now);
  move_to(card, now);
  std::vector<Pod> left;
  for (std::size_t i = 0; i < card.pods.size(); ++i) {
    if (!has_ended[i]) left.push_back(card.pods[i]);
    if (has_ended[i]) by_begin[card.pods[i].begun] = {card.pods[i].number, now, false, card.pods[i].range};
  }
  present_ -= card.pods.size() - left.size();
  card.pods = std::move(left);
  changed_.insert(index);
  last_end_ = now;
}

std::uint64_t MixCards::count_events(Time) {
  std::uint64_t events = 0;
  for (const auto& [kinds, rates] : known_) events += rates->events;
  return events;
}

std::optional<Time> MixCards::last_event(Time) const { return present_ > 0 ? std::nullopt : std::optional(last_end_); }

std::optional<MixUse> MixCards::mix_use() const {
  MixUse use{known_.size(), input_.sharing.mixes->window(), 1.0, {}};
  std::set<std::string> parts;
  for (const auto& [kinds, rates] : known_) {
    parts.insert(rates->parts.begin(), rates->parts.end());
    for (const MixRate& rate : rates->members) use.widest = std::max(use.widest, rate.most / rate.least);
  }
  use.parts.assign(parts.begin(), parts.end());
  return use;
}

}  // namespace corun
