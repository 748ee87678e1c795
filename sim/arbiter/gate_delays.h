#pragma once

#include "traces/base/time.h"

namespace corun {

/// Delays between a policy and the programs whose launches it holds: of hearing, of answering and of waking.
///
/// By default a simulated policy hears everything at once and its answers take no time. A real one (docs/live.md)
/// learns of ends from threads that poll, and a held launch continues once its thread has been woken. All are >= 0; 0 =
/// at once.
struct GateDelays {
  Duration
      frame_heard{};     ///< from the end of a frame, or of other work of a client with frames, until the policy hears
  Duration end_heard{};  ///< likewise for operations of all other clients
  Duration answer{};     ///< from an admission until the host continues, if its thread stayed awake
  Duration wake{};       ///< likewise, if the launch has waited for longer than kStaysAwake

  /// For which a thread that waits at a closed gate stays awake.
  static constexpr Duration kStaysAwake{20'000};

  friend bool operator==(const GateDelays&, const GateDelays&) = default;
};

}  // namespace corun
