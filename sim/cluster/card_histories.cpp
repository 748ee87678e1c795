#include "sim/cluster/card_histories.h"

#include <algorithm>
#include <ranges>

namespace corun {

CardHistory& CardHistories::begin(const EmptyCard& empty, Time start) {
  const auto [at, is_new] = empty_.try_emplace(empty);
  CardHistory& history = at->second;
  if (is_new) {
    history.empty = &at->first;
    history.start = start;
    history.is_over = true;
  }
  ++history.cards;
  return history;
}

CardHistory& CardHistories::go_on(CardHistory& history, const Coming& coming) {
  std::unique_ptr<CardHistory>& next = history.next[coming];
  if (next == nullptr) {
    next = std::make_unique<CardHistory>();
    next->empty = history.empty;
    next->before = &history;
    next->coming = coming;
    next->start = history.start;
  }
  ++next->cards;
  --history.cards;
  const bool is_simulated = next->simulation != nullptr || next->known >= coming.after;
  if (history.cards == 0 && is_simulated) history.simulation.reset();
  return *next;
}

void CardHistories::extend(CardHistory& history, std::span<const std::uint64_t> pods, Duration until) {
  std::unique_ptr<CardSimulation>& simulation = history.simulation;
  if (simulation == nullptr) simulation = take_over(history);
  if (simulation == nullptr) simulation = simulation_of(history, pods);
  const std::vector<CardSimulation::End> ends = simulation->run(history.start + until);
  for (const auto& [time, pod, turn, is_refused] : ends) {
    if (time - history.start <= history.known) continue;
    history.ends.push_back({time - history.start, pod, turn, is_refused});
  }
  history.known = std::max(history.known, ends.empty() ? until : ends.back().time - history.start);
  history.is_over = simulation->is_over();
  if (!history.is_over) return;
  history.events = simulation->events();
  history.last_event = simulation->now() - history.start;
  history.last_turn = simulation->last_turn();
  if (history.last_turn && kinds_.are_shared()) simulation.reset();  // its cards begin anew
}

/// The simulation of the history before, if no card needs it there and it can go on with one more pod.
std::unique_ptr<CardSimulation> CardHistories::take_over(CardHistory& history) {
  CardHistory* const before = history.before;
  if (before == nullptr || before->cards > 0) return nullptr;
  const Coming& coming = history.coming;
  const Time when = history.start + coming.after;
  auto simulation = before->simulation != nullptr ? std::move(before->simulation) : take_over(*before);
  if (simulation == nullptr || simulation->now() > when || !simulation->has_place_for(coming.kind, coming.rank))
    return nullptr;
  simulation->join(coming.kind, coming.rank, when);
  return simulation;
}

std::unique_ptr<CardSimulation> CardHistories::simulation_of(const CardHistory& history,
                                                             std::span<const std::uint64_t> pods) const {
  std::vector<const Coming*> comings;
  for (const CardHistory* at = &history; at->before != nullptr; at = at->before) comings.push_back(&at->coming);
  auto simulation = std::make_unique<CardSimulation>(input_.sharing, kinds_, pods, input_.interrupt);
  if (history.empty->left) simulation->first_has_left(*history.empty->left);
  for (const Coming* coming : comings | std::views::reverse)
    simulation->join(coming->kind, coming->rank, history.start + coming->after);
  return simulation;
}

std::vector<std::uint64_t> CardHistories::count_events(CardHistory& history, std::span<const std::uint64_t> pods,
                                                       std::span<const Duration> ends) {
  std::vector<std::uint64_t> events;
  std::unique_ptr<CardSimulation> again;
  for (const Duration end : ends) {
    if (history.is_over && history.last_event < end) {
      events.push_back(history.events);
      continue;
    }
    CardSimulation* simulation = history.simulation.get();
    if (simulation == nullptr || simulation->now() - history.start >= end) {
      if (again == nullptr) again = simulation_of(history, pods);
      simulation = again.get();
    }
    while (!simulation->run(history.start + end - Duration{1}).empty()) {
    }
    events.push_back(simulation->events());
  }
  return events;
}

}  // namespace corun
