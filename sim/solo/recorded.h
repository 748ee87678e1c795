#pragma once

#include <optional>

#include "sim/run/run.h"

namespace corun {

/// The slowest of frame times, defined as the metrics of the same names.
struct FrameTail {
  double fps_1low = 0.0;
  double frame_time_p99_ms = 0.0;
};

/// One pass over a captured workload, alone on the device with its gate open, compared with the capture.
struct RecordedReplay {
  Duration recorded{};               ///< of frames, by Workload::recorded_frames; else Workload::recorded_span
  std::optional<Duration> replayed;  ///< the same in the replay; nullopt = more than four times as long
  std::optional<FrameTail> recorded_tail, replayed_tail;  ///< of at least 100 frame times

  double recorded_per_s(std::size_t jobs) const { return static_cast<double>(jobs) / to_seconds(recorded); }
};

/// `client` plays its workload once, with the pacing of its capture and without jitter.
RecordedReplay replay_as_recorded(const ClientSpec& client, const DeviceSpec& device);

}  // namespace corun
