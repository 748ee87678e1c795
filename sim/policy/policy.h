#pragma once

#include <cstdint>

#include "sim/policy/action.h"
#include "sim/policy/view.h"

namespace corun {

/// A moment in the life of a frame, as frame hooks report it.
enum class FrameEvent : std::uint8_t {
  kBegin,  ///< the frame's first GPU work began
  kEnd,    ///< its last GPU work ended
};

/// What became of a client's persistent memory.
enum class CopyEvent : std::uint8_t {
  kSnapshot,  ///< it has been copied to the host
  kRestored,  ///< after a kill: a new context holds what the last snapshot kept; its operations may pass again
};

/// Which events a policy wants to hear and, hearing them, be asked to decide. Joining and leaving are always heard.
struct Hears {
  bool submitted = true;
  bool launched = true;
  bool completed = true;
  bool frames = true;
};

/// A rule for sharing the device: *hear, then decide*.
///
/// Hearing may update the policy's own state and must not act. Deciding is done once per instant, after everything of
/// that instant has been heard, and on every wake-up that was asked for. A decision states what should hold; deciding
/// twice in a row with nothing heard between must change nothing more. The same history gives the same decisions: no
/// clock, no environment, no random numbers but seeded ones.
///
/// One thread calls a policy, in simulation and on hardware alike; it needs no locks. Gates are closed when a client
/// joins. A policy must not keep views or spans after the call returns.
class Policy {
 public:
  virtual ~Policy() = default;

  virtual Hears hears() const { return {}; }

  virtual void on_joined(const GpuView&, ClientId) {}
  virtual void on_left(const GpuView&, ClientId) {}
  /// A client asked to run `op`. It is launched at once if the gate is open, else it waits.
  virtual void on_submitted(const GpuView&, ClientId, const OpView& /*op*/) {}
  /// `op` passed the gate.
  virtual void on_launched(const GpuView&, ClientId, const OpView& /*op*/) {}
  /// `op` finished, or was lost in a kill; `device_time` is what it received of the device: while others had it, it
  /// received nothing. On hardware that is an estimate (docs/execute.md).
  virtual void on_completed(const GpuView&, ClientId, const OpView& /*op*/, Duration /*device_time*/) {}
  virtual void on_frame(const GpuView&, ClientId, FrameEvent) {}
  /// Its owner asks for another share or amount of memory while it runs: the view has the new ones. Always heard.
  virtual void on_resized(const GpuView&, ClientId) {}
  /// A shadow frame that was asked for is complete: heard right after the end of the frame that it shadows. Always
  /// heard.
  virtual void on_shadow(const GpuView&, ClientId, const ShadowFrame&) {}
  /// A snapshot of the client's memory is complete, or it has been restored after a kill. Always heard.
  virtual void on_copied(const GpuView&, ClientId, CopyEvent) {}

  virtual void decide(const GpuView&, Actions&) = 0;

  /// A promise: if the client submitted so many operations now that take what some so many in a row of its newest
  /// thousand were expected to, decide() would admit each, though its gate is closed. Asked after a decision that
  /// left nothing of the client waiting, and every quarter of a millisecond. It holds until anything else is heard or
  /// the wake-up comes, and a world in which asking takes time lets such operations pass before they are heard. Changes
  /// no decision.
  virtual std::uint32_t admits_ahead(const GpuView&, const ClientView&) const { return 0; }
};

}  // namespace corun
