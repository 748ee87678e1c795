#pragma once

#include <cstdint>
#include <optional>

#include "sim/policy/view.h"
#include "sim/workload/workload.h"

namespace corun {

/// A job that its client has begun, until it is reported.
struct JobProgress {
  std::uint64_t number = 0;
  const Job* job = nullptr;
  std::uint64_t first_submission = 0;
  std::uint32_t unfinished = 0;  ///< operations not completed, those not yet submitted included
  bool host_done = false;
  bool begun = false;  ///< its first GPU work began
  double gap_factor = 1.0;
  double step_factor = 1.0;      ///< of a server's step: on its operations
  double duration_factor = 1.0;  ///< of the operation submitted last

  // Of a frame (FrameRendering).
  std::uint32_t quality_level = 0;
  Duration switch_cost{};  ///< GPU time more for a change of settings; 0 once a render operation took it
  std::optional<ShadowFrame> shadow;
  Duration shadow_time{};         ///< GPU time that the shadow adds to its last render operation
  std::uint64_t last_render = 0;  ///< submission that takes the shadow along

  Time arrival, start, submit = kNever, gpu_begin = kNever, gpu_end;
  Duration gpu_busy{};
};

}  // namespace corun
