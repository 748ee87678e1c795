#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/workload.h"
#include "traces/base/time.h"
#include "traces/timeline.h"

namespace corun {

/// Of which draws captured frames are made. They are queued back to back: the host waits for none of them, and the
/// device may turn to another context between them (GraphicsScheduling::kToCompletion).
///
/// Where the capture sampled the composition of frames, a frame is made as the last one sampled before it (the first
/// one sampled, before that), scaled to its own GPU time; draws are put together to pieces as near to kFinest as their
/// ends allow. Sampled pieces of one pass are not parted where the device's front end is ahead: the earlier takes at
/// least kHandOver for each of its calls, and neither is kLong. Captures without passes have them parted anywhere.
/// Where the composition was not sampled, pieces are equal and about as long as stated, or kUncut. No frame has more
/// than kMostPieces.
class FrameDraws {
 public:
  /// Of the frames of one swap chain, which the timeline has. `stated`: length of a draw; 0 = not stated. It goes
  /// before what was sampled, but for as_captured_or().
  FrameDraws(const Timeline& timeline, std::uint32_t swapchain, Duration stated);

  /// Device times of the pieces of a frame presented at `present_ns`, in order; their sum is `gpu`. At least one.
  std::vector<Duration> cut(std::int64_t present_ns, Duration gpu) const;

  /// What was assumed, one sentence.
  std::string note() const;

  /// How long a real engine has the device at a time where another program wants it: against a spinning kernel, 449
  /// turns of OpenArena at 4K took 2.01 ms on average, switches taken off (tests/hardware/turns.py, an H200), though
  /// half of the time its draws are shorter than 0.36 ms.
  static constexpr Duration kUncut{2'000'000};
  /// A tenth of the time for which devices stay with graphics that is queued (`graphics_slice`), so that where a turn
  /// ends hardly depends on it. With it, frame rates of sessions of `scene` are predicted 0.2 % off in the mean and 1.5
  /// at worst, in pieces of 2 ms 1.0 and 8.2 (studies/sessions).
  static constexpr Duration kFinest{100'000};
  /// What the front end takes for a call, at most: 361 small draws of a shadow pass take 0.16 to 0.2 ms on an H200,
  /// most of them 0.3 us (studies/sampled-draws).
  static constexpr Duration kHandOver{500};
  /// The front end is not ahead of a piece as long as a `graphics_slice` of an H200: turns end with it, and begin
  /// behind. The same for all devices.
  static constexpr Duration kLong{1'024'000};
  static constexpr std::int64_t kMostPieces = 256;

  /// What to state for frames that a GPU is to play as they were captured: draws as sampled, whatever length `draw`
  /// states. Of a capture without samples that length holds (0 = not stated). So a wrong `draw` of a prediction differs
  /// from what is played.
  static constexpr Duration as_captured_or(Duration draw) { return draw > Duration{0} ? -draw : Duration{0}; }

  /// Whether neither the capture nor its client says how long the draws of this work are.
  static bool are_unknown(const Workload& workload);

  /// What note() begins with where lengths were neither recorded nor stated.
  static constexpr std::string_view kNotRecorded =
      "what of its frames the device draws without a break was not recorded";

 private:
  struct Sample {
    std::int64_t present_ns;
    std::vector<std::int64_t> ends_ns;  // of its draws, from the frame's start on, the time between draws left out
  };

  void read_samples(const Timeline& timeline, std::uint32_t swapchain);
  const Sample& sample_for(std::int64_t present_ns) const;

  Duration stated_;
  std::vector<Sample> samples_;  // in order of time
};

}  // namespace corun
