#include "sim/workload/frame_rendering.h"

#include <algorithm>
#include <utility>

#include "sim/workload/quality.h"
#include "sim/workload/scaled.h"

namespace corun {

namespace {

Duration own_time(const JobProgress& frame) { return std::max(frame.gpu_busy - frame.shadow_time, Duration{0}); }

}  // namespace

Time FrameRendering::tick_at_or_after(Time when) const {
  if (when <= grid_) return grid_;
  const Duration period = spec_.pacing.period;
  const std::int64_t ticks = ((when - grid_).count() + period.count() - 1) / period.count();
  return grid_ + Duration{ticks * period.count()};
}

void FrameRendering::begin(JobProgress& frame) {
  frame.quality_level = quality_level_;
  if (spec_.quality_menu.empty()) return;
  if (rendered_level_ != quality_level_) frame.switch_cost = spec_.switch_cost(rendered_level_, quality_level_);
  rendered_level_ = quality_level_;
  if (const auto level = std::exchange(shadow_level_, std::nullopt)) add_shadow(frame, *level);
}

/// A picture is compared with the best level's, which has to be rendered too unless it is one of the two at hand.
void FrameRendering::add_shadow(JobProgress& frame, std::uint32_t level) const {
  const Workload& workload = *spec_.workload;
  const SceneEffect scene = workload.scene_of(*frame.job);
  Duration at_best{};
  for (std::uint32_t i = 0; i < frame.job->op_count; ++i) {
    const WorkOp op = workload.ops[frame.job->first_op + i];
    if (op.kind != OpKind::kRender) continue;
    at_best += op.duration;
    frame.last_render = frame.first_submission + i;
  }
  const auto time_at = [&](std::uint32_t l) { return scaled(at_best, cost_in(scene, spec_.quality_menu[l])); };
  const bool is_own = level == frame.quality_level;
  frame.shadow =
      ShadowFrame{frame.number, level, frame.job->scene, time_at(level), quality_in(scene, spec_.quality_menu[level])};
  if (!is_own) frame.shadow_time += time_at(level);
  if (level != 0 && frame.quality_level != 0) frame.shadow_time += time_at(0);
}

double FrameRendering::cost_of(const JobProgress& job) const {
  if (spec_.quality_menu.empty()) return 1.0;
  return cost_in(spec_.workload->scene_of(*job.job), spec_.quality_menu[job.quality_level]);
}

Duration FrameRendering::take_extra_time(JobProgress& job, std::uint64_t submission) {
  Duration extra = std::exchange(job.switch_cost, Duration{0});
  if (job.shadow && submission == job.last_render) extra += job.shadow_time;
  return extra;
}

void FrameRendering::end(const JobProgress& frame) {
  last_.number = frame.number;
  last_.gpu_busy = own_time(frame);
  last_.quality_level = frame.quality_level;
  last_.scene = frame.job->scene;
  last_shadow_ = frame.shadow;
}

Time FrameRendering::shown(const JobProgress& frame) const {
  const Time gpu_end = frame.gpu_end - frame.shadow_time;
  if (spec_.pacing.mode != Pacing::Mode::kVsync) return gpu_end;
  const Time tick = tick_at_or_after(std::max(gpu_end, frame.start + Duration{1}));
  return last_shown_ == kNever ? tick : std::max(tick, last_shown_ + spec_.pacing.period);
}

/// A frame that its game queued may be shown long after its start. It is late if the display had to repeat the one
/// before it or, without vsync, if it took longer than its own work and a period.
bool FrameRendering::is_missed(const JobProgress& frame, Time present, bool runs_ahead) const {
  const Duration period = spec_.pacing.period;
  if (period <= Duration{0}) return false;
  if (!runs_ahead || last_shown_ == kNever) return present > frame.start + period;
  if (spec_.pacing.mode == Pacing::Mode::kVsync) return present > last_shown_ + period;
  return present > frame.start + std::max(period, (frame.submit - frame.start) + frame.gpu_busy);
}

FrameFact FrameRendering::show(const JobProgress& frame, bool runs_ahead) {
  FrameFact fact;
  fact.number = frame.number;
  fact.start = frame.start;
  fact.submit = frame.submit;
  fact.gpu_begin = frame.gpu_begin;
  fact.gpu_end = frame.gpu_end - frame.shadow_time;
  fact.present = shown(frame);
  fact.gpu_busy = own_time(frame);
  fact.quality_level = frame.quality_level;
  if (!spec_.quality_menu.empty())
    fact.quality = quality_in(spec_.workload->scene_of(*frame.job), spec_.quality_menu[frame.quality_level]);
  fact.missed = is_missed(frame, fact.present, runs_ahead);
  last_shown_ = fact.present;
  return fact;
}

}  // namespace corun
