#pragma once

#include <cstdint>
#include <optional>

#include "sim/facts/recorder.h"
#include "sim/policy/view.h"
#include "sim/workload/client_spec.h"
#include "sim/workload/job_progress.h"

namespace corun {

/// How a client's jobs are rendered and shown where they are frames: at which settings, what a change of settings and
/// a shadow take more, and on which tick of the display a frame appears.
class FrameRendering {
 public:
  /// `spec` must outlive it.
  explicit FrameRendering(const ClientSpec& spec)
      : spec_(spec), quality_level_(spec.quality_level), rendered_level_(spec.quality_level) {}

  void start(Time grid) { grid_ = grid; }  ///< origin of the grid of ticks
  /// First tick of the display at or after `when`. Its pacing has a period.
  Time tick_at_or_after(Time when) const;

  void set_quality(std::uint32_t level) { quality_level_ = level; }  ///< of the frames begun from now on
  void shadow(std::uint32_t level) { shadow_level_ = level; }        ///< the next frame is rendered once more at that

  /// Settles at which level the frame is rendered, and its shadow.
  void begin(JobProgress& frame);
  /// Factor on the time of its render operations.
  double cost_of(const JobProgress& job) const;
  /// What its render operation `submission` takes more: new settings before the first of a frame, its shadow after the
  /// last. To be asked once for each of them, in order: the first takes the settings from the job.
  static Duration take_extra_time(JobProgress& job, std::uint64_t submission);

  /// All of its work has finished.
  void end(const JobProgress& frame);
  const FrameView& last() const { return last_; }  ///< the frame for which end() was called last
  /// The shadow that was rendered along with it, if any.
  const std::optional<ShadowFrame>& last_shadow() const { return last_shadow_; }

  /// Shows it; frames are shown in the order of their numbers. `runs_ahead`: its game may begin frames before earlier
  /// ones are rendered. The fact names no client.
  FrameFact show(const JobProgress& frame, bool runs_ahead);

 private:
  void add_shadow(JobProgress& frame, std::uint32_t level) const;
  Time shown(const JobProgress& frame) const;
  bool is_missed(const JobProgress& frame, Time present, bool runs_ahead) const;

  const ClientSpec& spec_;
  Time grid_;
  Time last_shown_ = kNever;
  std::uint32_t quality_level_ = 0;
  std::uint32_t rendered_level_ = 0;  ///< of the frame begun last
  std::optional<std::uint32_t> shadow_level_;
  FrameView last_;
  std::optional<ShadowFrame> last_shadow_;
};

}  // namespace corun
