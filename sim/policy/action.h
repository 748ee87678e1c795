#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "traces/base/ids.h"
#include "traces/base/time.h"

namespace corun {

/// What a policy may ask for: only what an interposer can really do.
struct Action {
  enum class Kind : std::uint8_t {
    kOpen,        ///< let the client's operations pass, those that wait included
    kClose,       ///< hold its operations at the gate; what is in flight runs on (draining)
    kAdmit,       ///< let the first `count` waiting operations pass through a closed gate, once
    kSetQuality,  ///< choose the quality level from its next frame on
  };
  Kind kind;
  ClientId client;
  std::uint32_t count = 0;  ///< kAdmit: operations; kSetQuality: index into the menu
};

/// Name of an action in messages and results ("open", "set_quality").
constexpr std::string_view to_string(Action::Kind kind) {
  switch (kind) {
    case Action::Kind::kOpen:
      return "open";
    case Action::Kind::kClose:
      return "close";
    case Action::Kind::kAdmit:
      return "admit";
    case Action::Kind::kSetQuality:
      return "set_quality";
  }
  return "unknown action";
}

/// Collects the wishes of one decision. The arbiter checks and applies them in the given order when decide() returns.
///
/// Illegal (Error(kPolicy), naming policy, action, client and time): an unknown or absent client, admitting more than
/// waits or through an open gate, a level outside the menu, a wake-up that is not in the future.
class Actions {
 public:
  void open(ClientId client) { list_.push_back({Action::Kind::kOpen, client}); }
  void close(ClientId client) { list_.push_back({Action::Kind::kClose, client}); }
  void admit(ClientId client, std::uint32_t count = 1) { list_.push_back({Action::Kind::kAdmit, client, count}); }
  void set_quality(ClientId client, std::uint32_t level) { list_.push_back({Action::Kind::kSetQuality, client, level}); }

  /// "Ask me again at `when`." Each decision replaces the wish of the one before; no call means no wish. Several calls
  /// in one decision keep the earliest.
  void wake_at(Time when) { wake_ = when < wake_ ? when : wake_; }

  const std::vector<Action>& list() const { return list_; }
  Time wake() const { return wake_; }
  void clear() {
    list_.clear();
    wake_ = kNever;
  }

 private:
  std::vector<Action> list_;
  Time wake_ = kNever;
};

}  // namespace corun
