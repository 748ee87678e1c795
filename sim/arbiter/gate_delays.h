#pragma once

#include "traces/base/time.h"

namespace corun {

/// How far a policy is from the programs whose launches it holds: what hearing, asking and waking take.
///
/// A simulated policy hears everything at once and its answers cost nothing. A real one (docs/live.md) is told of ends by
/// threads that look now and then, and what it lets pass goes on when a thread has been told. With these, a simulation
/// costs what that does. All are >= 0; 0 = at once.
struct GateDelays {
  Duration frame_heard{};  ///< from the end of a frame, or of other work of a client with frames, until the policy hears
  Duration end_heard{};    ///< of the operations of all others
  Duration answer{};       ///< from an admission until the host of a launch that stayed awake for it goes on
  Duration wake{};         ///< ... of one that has waited for longer than kStaysAwake

  /// So long a thread that waits at a closed gate stays awake.
  static constexpr Duration kStaysAwake{20'000};

  friend bool operator==(const GateDelays&, const GateDelays&) = default;
};

}  // namespace corun
