#pragma once

#include <cstdint>

#include "sim/policy/action.h"
#include "sim/policy/parameter_table.h"
#include "sim/policy/view.h"

namespace corun {

/// A moment in the life of a frame, as frame hooks report it.
enum class FrameEvent : std::uint8_t {
  kBegin,  ///< the frame's first GPU work began
  kEnd,    ///< its last GPU work ended
};

/// The end of a copy of a client's persistent memory.
enum class CopyEvent : std::uint8_t {
  kSnapshot,  ///< it has been copied to the host, or its program has been asked to save it at its next step
  kRestored,  ///< after a kill: a new context holds the last snapshot; the client's operations may pass again
};

/// The events that a policy hears, each followed by a decision. Joining and leaving are always heard.
struct Hears {
  bool submitted = true;
  bool launched = true;
  bool completed = true;
  bool frames = true;
};

/// What a policy hears of an operation.
enum class OpEvent : std::uint8_t { kSubmitted, kLaunched, kCompleted };

/// What the programs of a client may allocate on the device, and how. A backend of real programs holds them to it call
/// by call. Another knows all that a client allocates when it joins, and leaves it to the policy to judge that.
struct MemoryTerms {
  std::uint64_t most_bytes = 0;  ///< allocated at a time by all programs of the client; more fails; 0 = no limit
  std::uint64_t told_bytes = 0;  ///< the device's memory, as its driver tells these programs; 0 = as it is
  bool is_managed = false;       ///< the driver pages it between host and device
};

/// A rule for sharing the device: *hear, then decide*.
///
/// Hearing may update the policy's own state and must not act. A decision is asked for once per instant, after every
/// event of that instant has been heard (but see decides_after()), and on every requested wake-up. A decision states
/// what should hold: a second one with nothing heard in between must change nothing more. The same history gives the
/// same decisions: no clock, no environment, no random numbers but seeded ones.
///
/// One thread calls a policy, in simulation and on hardware alike; it needs no locks. Gates are closed when a client
/// joins. A policy must not keep views or spans after the call returns.
class Policy {
 public:
  virtual ~Policy() = default;

  virtual Hears hears() const { return {}; }

  /// Whether a host goes on while its launch waits at the gate, because the policy's hook keeps what it was asked to
  /// launch; it then stops where it waits for its work, or when as much is submitted and not completed as the device's
  /// launch queue holds. Otherwise a host is inside its launch call until the launch passes. The same for a whole run.
  /// Gates of real programs hold the call either way.
  virtual bool buffers_launches() const { return false; }

  /// Whether it may take snapshots of best-effort clients and kill them. The same for a whole run. A backend of real
  /// programs can start anew only those that their owner lets it, and refuses the run before it starts otherwise.
  virtual bool kills() const { return false; }

  virtual void on_joined(const GpuView&, ClientId) {}
  virtual void on_left(const GpuView&, ClientId) {}
  /// A client asked to run `op`. It is launched at once if the gate is open, else it waits.
  virtual void on_submitted(const GpuView&, ClientId, const OpView& /*op*/) {}
  /// `op` passed the gate.
  virtual void on_launched(const GpuView&, ClientId, const OpView& /*op*/) {}
  /// `op` finished, or was lost in a kill. `device_time` is the time in which it progressed on the device, without the
  /// time in which other clients had it. On hardware that is an estimate (docs/execute.md).
  virtual void on_completed(const GpuView&, ClientId, const OpView& /*op*/, Duration /*device_time*/) {}
  virtual void on_frame(const GpuView&, ClientId, FrameEvent) {}
  /// The client's owner asks for another share or amount of memory, which the view shows. Always heard.
  virtual void on_resized(const GpuView&, ClientId) {}
  /// A requested shadow frame is complete. Heard right after the end of the frame that it shadows. Always heard.
  virtual void on_shadow(const GpuView&, ClientId, const ShadowFrame&) {}
  /// A snapshot of the client's memory is complete, or it has been restored after a kill. Always heard.
  virtual void on_copied(const GpuView&, ClientId, CopyEvent) {}

  /// A parameter that its table calls adjustable has this value from now on. Always heard. A policy without such
  /// parameters never hears it.
  virtual void on_adjusted(const GpuView&, const std::string& parameter, const ParameterValue&) {
    CORUN_ASSERT(false, "parameter '{}' is adjustable, and its policy does not hear of it", parameter);
  }

  virtual void decide(const GpuView&, Actions&) = 0;

  /// Whether what the policy has just heard of an operation of the client asks for a decision. False only if one at
  /// this instant would change nothing: no gate, no control, no hold, nor the wake-up. Other events of the instant may
  /// ask for one all the same. The same history gives the same answer.
  virtual bool decides_after(const GpuView&, ClientId, OpEvent) const { return true; }

  /// Number of further operations that decide() would admit now through the client's closed gate, if they took together
  /// as long as the longest equally long run among its last 1000 operations was predicted to take. A backend on which
  /// asking takes time lets so many operations pass before they are heard. Asked after a decision that left none of the
  /// client's operations waiting, and every 250 us. Valid until the policy hears anything or its wake-up fires. Must
  /// not change any decision.
  virtual std::uint32_t admits_ahead(const GpuView&, const ClientView&) const { return 0; }

  /// Asked once of each client, right after on_joined() and before its programs start. Must not change any decision.
  virtual MemoryTerms memory_terms(const GpuView&, const ClientView&) const { return {}; }
};

}  // namespace corun
