#include "sim/cluster/shared_cards.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace corun {

namespace {

bool has_known_power(const CardSharing& sharing) {
  const auto draws = [](const ClientSpec& client) { return client.context.power.watts > 0; };
  return sharing.device.power_limit_w > 0 && std::ranges::any_of(sharing.clients, draws);
}

}  // namespace

SharedCards::SharedCards(const ClusterInput& input)
    : input_(input),
      kinds_(input),
      histories_(input, kinds_),
      time_matters_(has_known_power(input.sharing)),
      begun_(input.pods.size()) {
  std::size_t cards = 0;
  for (const NodeSpec& node : input.nodes) {
    first_cards_.push_back(cards);
    cards += node.cards;
  }
  cards_.resize(cards);
}

SharedCards::Card& SharedCards::card_at(std::uint32_t node, std::uint32_t card) {
  return cards_[first_cards_[node] + card];
}

void SharedCards::begin(std::uint64_t pod, std::uint32_t node, std::uint32_t card, Time now) {
  Card& its = card_at(node, card);
  if (its.history == nullptr || may_begin_anew(its, now)) begin_anew(its, now);
  const auto rank = std::ranges::count_if(its.pods, [&](std::uint64_t other) { return other < pod; });
  its.history = &histories_.go_on(*its.history, {now - its.start, kinds_.of(pod), static_cast<std::uint32_t>(rank)});
  its.pods.push_back(pod);
  its.ends = 0;
  ++its.present;
  begun_[pod] = pods_begun_++;
}

/// Nothing is left on it of what has happened there but whose turn was the last one.
bool SharedCards::may_begin_anew(const Card& card, Time now) const {
  const CardHistory& history = *card.history;
  const bool is_over = history.is_over && card.start + history.last_event <= now;
  return kinds_.are_shared() && card.present == 0 && is_over && history.last_turn;
}

void SharedCards::begin_anew(Card& card, Time now) {
  EmptyCard empty;
  if (!kinds_.are_shared()) empty.card = static_cast<std::uint32_t>(&card - cards_.data());
  if (time_matters_) empty.when = now;
  if (card.history != nullptr) {
    empty.left = card.history->last_turn->is_graphics;
    card.events += card.history->events;
    card.pods = {card.pods[card.history->last_turn->client.value]};
    --card.history->cards;
  }
  card.start = now;
  card.history = &histories_.begin(empty, now);
}

/// At most `last`.
std::optional<Time> SharedCards::next_end(Card& card, Time last) {
  CardHistory& history = *card.history;
  while (card.ends == history.ends.size() && !history.is_over && history.known < last - card.start)
    histories_.extend(history, card.pods, last - card.start);
  if (card.ends == history.ends.size()) return std::nullopt;
  const Time end = card.start + history.ends[card.ends].after;
  return end <= last ? std::optional(end) : std::nullopt;
}

std::vector<Cards::End> SharedCards::run(Time last) {
  for (Card& card : cards_)
    if (card.history != nullptr) last = next_end(card, last).value_or(last);
  std::map<std::tuple<std::uint64_t, std::uint64_t>, End> ends;
  for (Card& card : cards_) {
    while (card.history != nullptr && next_end(card, last) == last) {
      const CardHistory::End& end = card.history->ends[card.ends++];
      const std::uint64_t pod = card.pods[end.pod];
      ends[{end.turn, begun_[pod]}] = {pod, last, end.is_refused, {}};
      --card.present;
    }
  }
  std::vector<End> in_order;
  for (const auto& [order, end] : ends) in_order.push_back(end);
  return in_order;
}

std::uint64_t SharedCards::count_events(Time end) {
  std::map<CardHistory*, std::vector<Card*>> by_history;
  std::uint64_t events = 0;
  for (Card& card : cards_) {
    events += card.events;
    if (card.history != nullptr) by_history[card.history].push_back(&card);
  }
  for (auto& [history, cards] : by_history) {
    std::ranges::sort(cards, std::greater{}, &Card::start);
    std::vector<Duration> ends;
    for (const Card* card : cards) ends.push_back(end - card->start);
    for (const std::uint64_t count : histories_.count_events(*history, cards.back()->pods, ends)) events += count;
  }
  return events;
}

std::optional<Time> SharedCards::last_event(Time end) const {
  Time last = kRunStart;
  for (const Card& card : cards_) {
    if (card.history == nullptr) continue;
    const Time its = card.start + card.history->last_event;
    if (!card.history->is_over || its >= end) return std::nullopt;
    last = std::max(last, its);
  }
  return last;
}

}  // namespace corun
