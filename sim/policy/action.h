#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "traces/base/ids.h"
#include "traces/base/time.h"

namespace corun {

/// What a policy may ask for: only what an interposer, a driver setting or a daemon can do on hardware.
struct Action {
  enum class Kind : std::uint8_t {
    kOpen,         ///< let the client's operations pass, including those that wait
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

/// What an action is called, and which of its values it carries.
struct ActionForm {
  enum class Value : std::uint8_t { kNone, kCount, kDuration, kLevel, kFraction };
  std::string_view name;  ///< in messages and results
  Value value = Value::kNone;
};

constexpr ActionForm form_of(Action::Kind kind) {
  using enum ActionForm::Value;
  constexpr std::array<ActionForm, 14> kForms{{{"open", kNone},
                                               {"close", kNone},
                                               {"admit", kCount},
                                               {"set_quality", kCount},
                                               {"shadow", kCount},
                                               {"snapshot", kNone},
                                               {"kill", kNone},
                                               {"refuse", kNone},
                                               {"prefetch", kNone},
                                               {"set_slice", kDuration},
                                               {"set_priority", kLevel},
                                               {"set_sm_cap", kFraction},
                                               {"set_sm_share", kFraction},
                                               {"set_instance", kFraction}}};
  return kForms[static_cast<std::size_t>(kind)];
}

constexpr std::string_view to_string(Action::Kind kind) { return form_of(kind).name; }

/// Whether it states how the device treats the client: the newest of each kind holds until the client leaves.
constexpr bool is_control(Action::Kind kind) { return kind >= Action::Kind::kSetSlice; }

/// Why a client's operations wait at the gate: the rule and, where there are numbers, what the next operation needs and
/// what is available. `simcli policy why` shows it.
struct Hold {
  std::string_view rule;  ///< name of the rule in snake_case, a literal: "window", "lock", "tokens"
  double needed = 0.0;
  double available = 0.0;
  std::string_view unit;  ///< of both, a literal: "ns", "blocks", "kernels", "bytes"; "" = the rule has no numbers
};

/// Collects the actions of one decision. The arbiter checks and applies them in the given order when decide() returns.
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
  /// Policy::on_shadow reports its cost and quality. It takes the GPU time of a frame at that level, plus that of a
  /// frame at the best level, to compare with, where neither that level nor the frame's own is the best. At the frame's
  /// own level it takes that of the best.
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

  /// Requests a decision at `when`. Each decision replaces the request of the one before; without a call there is none.
  /// Several calls in one decision keep the earliest.
  void wake_at(Time when) { wake_ = when < wake_ ? when : wake_; }

  /// States why the operations that this decision leaves at the client's gate wait there, until the next decision or as
  /// keep_holds() says; the last call counts, and one without a rule takes back. A client without waiting operations
  /// needs none. Has no effect on the run.
  // Inlined by force, since policies state a hold for most clients in most decisions: it is then written in place.
  [[gnu::always_inline]] void hold(ClientId client, const Hold& hold) {
    if (stated_ == holds_.size()) holds_.emplace_back();
    ClientHold& stated = holds_[stated_++];
    stated.client = client;
    stated.hold = hold;
  }

  /// Clients of which this decision states nothing wait for the reason that was stated of them last, unless all their
  /// operations have passed or gone since.
  void keep_holds() { keeps_holds_ = true; }

  struct alignas(64) ClientHold {  // one cache line, for the same reason
    ClientId client;
    Hold hold;
  };
  const std::vector<Action>& list() const { return list_; }
  std::span<const ClientHold> holds() const { return std::span(holds_).first(stated_); }
  bool keeps_holds() const { return keeps_holds_; }
  Time wake() const { return wake_; }
  void clear() {
    list_.clear();
    stated_ = 0;
    keeps_holds_ = false;
    wake_ = kNever;
  }

 private:
  std::vector<Action> list_;
  std::vector<ClientHold> holds_;  ///< the first `stated_` are of this decision
  std::size_t stated_ = 0;
  bool keeps_holds_ = false;
  Time wake_ = kNever;
};

}  // namespace corun
