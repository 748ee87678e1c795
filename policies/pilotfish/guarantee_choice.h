#pragma once

#include <cstdint>
#include <span>

#include "traces/base/time.h"

namespace corun {

/// What a filler's hard guarantee costs, on average, while its game renders a frame each period.
struct GuaranteeCosts {
  Duration period{};    ///< of frames, > 0
  Duration window{};    ///< idle time of a frame that the filler gets without a margin, > 0
  Duration snapshot{};  ///< until a snapshot is complete
  Duration restore{};   ///< from a kill until the filler goes on
};

/// How often work outlasts a frame, for which the filler is killed, if so much of each window is kept free.
struct OverrunRate {
  Duration margin{};
  double per_frame = 0.0;  ///< [0, 1): kills over the frames at which there was something to kill
};

/// A margin with the snapshot period that keeps most.
struct GuaranteeChoice {
  OverrunRate overruns;
  std::int64_t snapshot_every = 0;  ///< frames; 0 = none, since nothing is killed
  double kept = 0.0;                ///< of the window, after margin, snapshots, lost work and restores
};

/// Part of the frames that are work which is kept, with a snapshot each `every` frames: kills come at random, each
/// throws away what was done since the last snapshot, and costs a restore. Source: the renewal argument for
/// checkpoints of J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", 2006, in
/// whole frames.
double kept_ratio(const GuaranteeCosts& costs, double overruns_per_frame, std::int64_t every);

/// The best snapshot period at one margin: at least 1, at most 1'000'000 frames.
GuaranteeChoice choose_snapshots(const GuaranteeCosts& costs, const OverrunRate& overruns);

/// The best of all margins at which at most `most_overruns` of frames are overrun; `kept` is negative where there is
/// none.
GuaranteeChoice choose_guarantee(const GuaranteeCosts& costs, std::span<const OverrunRate> margins,
                                 double most_overruns);

}  // namespace corun
