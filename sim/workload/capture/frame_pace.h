#pragma once

#include "sim/workload/capture/frame_log.h"

namespace corun {

/// What made the frames of a log come when they did, found from its columns so that a replay alone gives them back.
///
/// The host begins a frame when it has done the one before and no more than `queued_ahead` frames are unfinished on the
/// GPU; it works for the frame's host time; the GPU begins when it has done the frame before and its bubble has passed.
/// What of a frame's time is neither the GPU's, nor a wait for it, for a display or for a limiter, is its host's work,
/// whether the log calls it CPU busy or time in the present call.
struct FramePace {
  Duration vsync_period{};    ///< presents waited for a display; 0 = they did not
  Duration limiter_period{};  ///< the game, or its driver, slept from frame to frame; 0 = it did not
  std::uint32_t queued_ahead = 1;
  bool is_gpu_bound = false;     ///< the GPU worked for nine tenths of the time or more
  bool is_host_known = true;     ///< false: what a limiter slept could not be told from work
  std::vector<Duration> host;    ///< work of each frame before it is submitted
  std::vector<Duration> bubble;  ///< time in which the GPU waits between two queued frames
};

/// Of frames that have all GPU times (none below 0), in order.
FramePace pace_of(const FrameLog& log);

/// From present to present of frames that are replayed alone like this, with the frame times of `log`'s GPU.
FrameFigures figures_alone(const FrameLog& log, const FramePace& pace);

}  // namespace corun
