#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "traces/base/ids.h"
#include "traces/base/time.h"

namespace corun {

/// What a policy may ask for: only what an interposer, a driver's setting or a daemon can really do.
struct Action {
  enum class Kind : std::uint8_t {
    kOpen,         ///< let the client's operations pass, those that wait included
    kClose,        ///< hold its operations at the gate; what is in flight runs on (draining)
    kAdmit,        ///< let the first `count` waiting operations pass through a closed gate, once
    kSetQuality,   ///< choose the quality level `count` from its next frame on
    kShadow,       ///< render its next frame once more, off screen, at quality level `count`
    kSnapshot,     ///< copy its persistent memory to the host; its gate must be closed and nothing in flight
    kKill,         ///< end its context at once: what is in flight is lost, then it is restored from its snapshot
    kRefuse,       ///< answer its next call with an error: it leaves without doing its work
    kPrefetch,     ///< bring its working set into device memory in bulk
    kSetSlice,     ///< length `duration` of its turns in the driver's round robin; zero = the device's own
    kSetPriority,  ///< priority `level` of its kernels among those of the same context; higher goes first
    kSetSmCap,     ///< most of the SMs that its kernels get together, `fraction` (0, 1]; reserves nothing (MPS)
    kSetSmShare,   ///< SMs of its own, `fraction` [0, 1]; no other client uses them (green context); 0 = none
    kSetInstance,  ///< a device instance of its own with `fraction` (0, 1] of SMs and memory (MIG); 0 = none
  };
  Kind kind;
  ClientId client;
  std::uint32_t count = 0;  ///< kAdmit: operations; kSetQuality, kShadow: index into the menu
  Duration duration{};      ///< kSetSlice
  std::int32_t level = 0;   ///< kSetPriority
  double fraction = 0.0;    ///< kSetSmCap, kSetSmShare, kSetInstance
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
    case Action::Kind::kShadow:
      return "shadow";
    case Action::Kind::kSnapshot:
      return "snapshot";
    case Action::Kind::kKill:
      return "kill";
    case Action::Kind::kRefuse:
      return "refuse";
    case Action::Kind::kPrefetch:
      return "prefetch";
    case Action::Kind::kSetSlice:
      return "set_slice";
    case Action::Kind::kSetPriority:
      return "set_priority";
    case Action::Kind::kSetSmCap:
      return "set_sm_cap";
    case Action::Kind::kSetSmShare:
      return "set_sm_share";
    case Action::Kind::kSetInstance:
      return "set_instance";
  }
  return "unknown action";
}

/// Why a client's operations wait at the gate: the rule and, where there are numbers, what the next operation needs and
/// what there is. It answers `simcli policy why`.
struct Hold {
  std::string_view rule;  ///< name of the rule in snake_case, a literal: "window", "lock", "tokens"
  double needed = 0.0;
  double available = 0.0;
  std::string_view unit;  ///< of both, a literal: "ns", "blocks", "kernels", "bytes"; "" = the rule has no numbers
};

/// Collects the wishes of one decision. The arbiter checks and applies them in the given order when decide() returns.
///
/// Illegal (Error(kPolicy), naming policy, action, client and time): an unknown or absent client, admitting more than
/// waits or through an open gate, a level outside the menu, a fraction out of range, shares or instances that exceed
/// the device, a snapshot of a client whose gate is open or that has work in flight, opening, admitting or taking a
/// snapshot while a snapshot or a restore of that client goes on, a wake-up that is not in the future.
class Actions {
 public:
  void open(ClientId client) { list_.push_back({Action::Kind::kOpen, client}); }
  void close(ClientId client) { list_.push_back({Action::Kind::kClose, client}); }
  void admit(ClientId client, std::uint32_t count = 1) { list_.push_back({Action::Kind::kAdmit, client, count}); }
  void set_quality(ClientId client, std::uint32_t level) {
    list_.push_back({Action::Kind::kSetQuality, client, level});
  }
  /// Policy::on_shadow tells what it cost and how it looked. It takes the GPU time of a frame at that level, and of one
  /// at the best level too where neither that level nor the frame's own is the best: there must be something to
  /// compare with. At the frame's own level it takes that of the best.
  void shadow(ClientId client, std::uint32_t level) { list_.push_back({Action::Kind::kShadow, client, level}); }
  void snapshot(ClientId client) { list_.push_back({Action::Kind::kSnapshot, client}); }
  void kill(ClientId client) { list_.push_back({Action::Kind::kKill, client}); }
  void refuse(ClientId client) { list_.push_back({Action::Kind::kRefuse, client}); }
  void prefetch(ClientId client) { list_.push_back({Action::Kind::kPrefetch, client}); }
  void set_slice(ClientId client, Duration slice) { list_.push_back({Action::Kind::kSetSlice, client, 0, slice}); }
  void set_priority(ClientId client, std::int32_t level) {
    list_.push_back({Action::Kind::kSetPriority, client, 0, {}, level});
  }
  void set_sm_cap(ClientId client, double fraction) {
    list_.push_back({Action::Kind::kSetSmCap, client, 0, {}, 0, fraction});
  }
  void set_sm_share(ClientId client, double fraction) {
    list_.push_back({Action::Kind::kSetSmShare, client, 0, {}, 0, fraction});
  }
  void set_instance(ClientId client, double fraction) {
    list_.push_back({Action::Kind::kSetInstance, client, 0, {}, 0, fraction});
  }

  /// "Ask me again at `when`." Each decision replaces the wish of the one before; no call means no wish. Several calls
  /// in one decision keep the earliest.
  void wake_at(Time when) { wake_ = when < wake_ ? when : wake_; }

  /// Why the operations that this decision leaves waiting at the client's gate wait. Each decision states it anew; the
  /// last of one decision counts; a client without waiting operations needs none. Changes nothing.
  // Inline, so that a hold is made where it stays: a copy of what has just been written would have to wait for it.
  [[gnu::always_inline]] void hold(ClientId client, const Hold& hold) {
    if (stated_ == holds_.size()) holds_.emplace_back();
    ClientHold& stated = holds_[stated_++];
    stated.client = client;
    stated.hold = hold;
  }

  struct alignas(64) ClientHold {  // a cache line
    ClientId client;
    Hold hold;
  };
  const std::vector<Action>& list() const { return list_; }
  std::span<const ClientHold> holds() const { return std::span(holds_).first(stated_); }
  Time wake() const { return wake_; }
  void clear() {
    list_.clear();
    stated_ = 0;
    wake_ = kNever;
  }

 private:
  std::vector<Action> list_;
  std::vector<ClientHold> holds_;  ///< the first `stated_` are of this decision
  std::size_t stated_ = 0;
  Time wake_ = kNever;
};

}  // namespace corun
