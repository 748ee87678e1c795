#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "sim/device/model/residency.h"
#include "sim/device/run_set.h"
#include "sim/device/spec.h"

namespace corun {

using ContextIndex = std::uint32_t;
inline constexpr ContextIndex kNoContext = UINT32_MAX;

/// The compute and graphics side of a device, or of one instance of it: a round robin of contexts, one of them
/// resident at a time.
///
/// - A context has work while its set has a member. One that gets work waits for its turn. It leaves when it has no
/// more
///   work, or when its slice ends while others wait.
/// - The next turn is given by TurnOrder. As woken, the ring is a queue. Fixed, contexts keep the places in which they
/// were
///   added; the successor is settled when a turn begins (after the switch) with nothing queued behind what its context
///   runs, or else when the first one wakes.
/// - A switch from one context to another takes `switch_cost`, in which nothing runs, or less where `switch_state` says
/// so:
///   the fewer threads are saved and restored, the less. The same context resumes for nothing.
/// - A lone context is never switched out; what its slice means to one that wakes is LoneSlice. A context may have a
/// slice
///   of its own length. Graphics contexts follow GraphicsScheduling.
///
/// Contexts differ only in their RunSet: which clients share a context and how its operations progress is decided
/// there.
class ContextRing {
 public:
  /// `spec` must outlive it. `residency` may be null: then memory slows no client down.
  ContextRing(const DeviceSpec& spec, OpTable& ops, ClientLedger& ledger, Residency* residency);

  ContextIndex add_context(bool graphics, std::unique_ptr<RunSet> runs);

  /// Length of the context's slices: from the end of the one that runs now if it is resident. 0 = the device's own.
  void set_time_slice(ContextIndex context, Duration time_slice);

  /// An operation of the context is free to run. decide() must follow before time moves on.
  void add(ContextIndex context, OpIndex op);

  /// Removes the client's operations from the context and appends them. decide() must follow before time moves on; a
  /// switch to a context that lost all its work is completed.
  void take_client(ContextIndex context, ClientId client, std::vector<OpIndex>& taken);

  /// The context that ran last; nullopt where one runs or waits, or none has run.
  std::optional<ContextIndex> last_context() const;
  /// Of a new ring: that context ran last, until it had no more work.
  void go_on_after(ContextIndex context) { current_ = loaded_ = context; }

  /// Earliest instant after the last decide() at which something changes by itself; kNever if none.
  Time next_change() const { return next_change_; }

  /// Whether nothing is to be seen or decided at the next change (RunSet::next_is_unseen): then pass_change() may be
  /// called in place of progress() to it and decide().
  bool next_is_unseen() const { return next_is_unseen_; }
  void pass_change();

  /// Moves to `to`, at most next_change(). Returns where the time went.
  DeviceUsage progress(Time to);

  /// Appends operations that completed at the present instant.
  void take_finished(std::vector<OpIndex>& finished);

  /// Settles which context is resident from the present instant on, and at what rates. Called when every event of the
  /// instant is in.
  void decide();

 private:
  struct Context {
    bool graphics = false;
    bool waiting = false;  ///< in the ring
    SmShare saved = 0;     ///< state of what was cut when it was left last, of a full device's; 0 = it ran dry
    Duration time_slice{};
    std::unique_ptr<RunSet> runs;
  };
  enum class State : std::uint8_t { kIdle, kSwitching, kResident };

  bool sliced(const Context& context) const;
  bool visit_ends();
  bool preempted() const;
  void join_tail(ContextIndex context);
  void leave();
  SmShare state_of(const RunSet& runs) const;
  void enter_next();
  Duration cost_of_switch(const Context& from, const Context& to) const;
  void begin_turn();
  Duration settle_runs();
  void change_after(Duration until);
  void slow_down_for_paging();
  std::deque<ContextIndex>::iterator next_in_ring();
  std::deque<ContextIndex>::iterator next_in_order();
  void settle_successor();
  bool rolls() const;
  void slices_begin_at(Time when, Duration slice);
  void roll();
  bool slice_ends();
  Time slice_end();

  const DeviceSpec& spec_;
  const GraphicsScheduling graphics_;
  const LoneSlice lone_slice_;
  const TurnOrder turn_order_;
  const Duration graphics_slice_;
  const Duration time_slice_;
  const Duration switch_cost_;
  const Duration state_cost_;  ///< of it
  OpTable& ops_;
  ClientLedger& ledger_;
  Residency* const residency_;  ///< null where it is not modelled

  std::vector<Context> contexts_;
  std::deque<ContextIndex> ring_;  ///< contexts with work, the resident one left out
  State state_ = State::kIdle;
  ContextIndex current_ = kNoContext;    ///< resident, being switched to, or last resident when idle
  bool settles_ = false;                 ///< in the present turn its successor is settled ahead
  ContextIndex successor_ = kNoContext;  ///< settled to be next; kNoContext = not yet
  ContextIndex loaded_ = kNoContext;     ///< whose state the device holds: entering it again costs nothing
  Time now_ = kRunStart;
  Time entered_ = kRunStart;      ///< start of the visit, or end of the switch while switching
  Duration slice_{};              ///< of the current context, once `slices_from_` is reached
  Time slices_from_ = kRunStart;  ///< from when slices are that long; in the future while an older one runs out
  Time slice_begin_ = kRunStart;  ///< of a slice that rolls: `slices_from_`, or later by whole slices
  Time next_change_ = kNever;
  bool next_is_unseen_ = false;  ///< see next_is_unseen()
  Time turn_end_ = kNever;       ///< of the slice of the resident context, while others wait
  bool visit_over_ = false;      ///< a graphics visit ended at this instant
  std::vector<ClientId> running_;
  Rate pace_ = kFullRate;  ///< of the running client that memory slows down least
};

}  // namespace corun
