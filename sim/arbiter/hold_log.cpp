#include "sim/arbiter/hold_log.h"

#include <string_view>

namespace corun {

namespace {

/// Rules are literals: the same one is mostly at the same place.
bool is_same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && (a.data() == b.data() || a == b);
}

}  // namespace

void HoldLog::state(std::span<const Actions::ClientHold> holds, bool keeps) {
  keeps_ = keeps;
  ++turn_;
  if (!keeps) {
    stated_.for_each([&](ClientId client) { holdings_[client.value].is_stated = false; });
    stated_.clear();
  }
  concerned_.clear();
  for (const auto& [client, hold] : holds) {
    if (client.value >= holdings_.size()) continue;
    Holding& holding = holdings_[client.value];
    holding.stated = hold;
    holding.is_stated = true;
    holding.stated_in = turn_;
    stated_.insert(client);
    concerned_.insert(client);
  }
}

void HoldLog::emptied(ClientId client) {
  Holding& holding = holdings_[client.value];
  if (keeps_ && holding.stated_in != turn_) holding.is_stated = false;
}

void HoldLog::update_after(std::span<const Action> actions, std::span<const ClientView> clients, Time now) {
  if (keeps_) {
    for (const Action& action : actions) concerned_.insert(action.client);
    concerned_.for_each([&](ClientId client) { update(clients[client.value], now); });
  } else if (held_ > 0 || !concerned_.empty()) {
    for (const ClientView& client : clients) update(client, now);
  }
  ++turn_;
}

void HoldLog::update(const ClientView& client, Time now) {
  Holding& holding = holdings_[client.id.value];
  const Hold* reason = holding.is_stated ? &holding.stated : nullptr;
  if (reason == nullptr && !holding.is_held) return;
  if (reason != nullptr && (client.gate_is_open || client.waiting.empty() || reason->rule.empty())) reason = nullptr;
  const bool goes_on =
      reason == nullptr ? !holding.is_held : holding.is_held && is_same(holding.hold.rule, reason->rule);
  if (!goes_on) return change(client.id, reason, now);
  // A stretch that begins now began with the reason of the decision before, whose numbers are another operation's.
  if (reason != nullptr && holding.since == now) holding.hold = *reason;
}

void HoldLog::change(ClientId client, const Hold* reason, Time now) {
  end(client, now);
  if (reason == nullptr) return;
  Holding& begun = holdings_[client.value];
  begun.is_held = true;
  begun.hold = *reason;
  begun.since = now;
  ++held_;
}

void HoldLog::end(ClientId client, Time now) {
  Holding& holding = holdings_[client.value];
  if (!holding.is_held) return;
  if (holding.since < now) recorder_.on_hold(HoldFact{client, holding.since, now, holding.hold});
  holding.is_held = false;
  --held_;
}

}  // namespace corun
