#include "traces/exporters/frame_of_visit.h"

#include <algorithm>
#include <map>

namespace corun {
namespace {

using Field = std::int64_t FrameRecord::*;

// Frames of one program in order of one of their instants.
class FramesBy {
 public:
  explicit FramesBy(Field instant) : instant_(instant) {}

  void add(const Timeline& timeline, std::uint32_t frame) {
    if (timeline.frames()[frame].*instant_ != -1) frames_.emplace_back(timeline.frames()[frame].*instant_, frame);
  }

  void sort() { std::sort(frames_.begin(), frames_.end()); }

  std::uint32_t last_until(std::int64_t instant_ns) const {
    const auto next = std::upper_bound(frames_.begin(), frames_.end(), std::pair{instant_ns, UINT32_MAX});
    return next == frames_.begin() ? OpRecord::kNoIndex : std::prev(next)->second;
  }

 private:
  Field instant_;
  std::vector<std::pair<std::int64_t, std::uint32_t>> frames_;
};

struct ProgramFrames {
  FramesBy submission{&FrameRecord::submit_ns};
  FramesBy gpu_begin{&FrameRecord::gpu_begin_ns};
};

std::map<std::uint64_t, ProgramFrames> frames_of_programs(const Timeline& timeline) {
  std::map<std::uint64_t, ProgramFrames> programs;
  for (std::uint32_t i = 0; i < timeline.frames().size(); ++i) {
    ProgramFrames& frames = programs[timeline.swapchains()[timeline.frames()[i].swapchain].process];
    frames.submission.add(timeline, i);
    frames.gpu_begin.add(timeline, i);
  }
  for (auto& [process, frames] : programs) {
    frames.submission.sort();
    frames.gpu_begin.sort();
  }
  return programs;
}

bool holds(const Timeline& timeline, std::uint32_t frame, const OpRecord& visit) {
  if (frame == OpRecord::kNoIndex) return false;
  const FrameRecord& record = timeline.frames()[frame];
  return record.gpu_begin_ns != -1 && record.gpu_begin_ns <= visit.start_ns &&
         visit.start_ns + visit.duration_ns <= record.gpu_end_ns;
}

std::uint32_t frame_of(const Timeline& timeline, const ProgramFrames& frames, const OpRecord& visit) {
  if (visit.call != OpRecord::kNoIndex) {
    const std::uint32_t frame = frames.submission.last_until(timeline.calls()[visit.call].start_ns);
    if (holds(timeline, frame, visit)) return frame;
  }
  const std::uint32_t frame = frames.gpu_begin.last_until(visit.start_ns);
  return holds(timeline, frame, visit) ? frame : OpRecord::kNoIndex;
}

}  // namespace

std::vector<std::uint32_t> frames_of_visits(const Timeline& timeline) {
  std::vector<std::uint32_t> result(timeline.ops().size(), OpRecord::kNoIndex);
  const std::map<std::uint64_t, ProgramFrames> programs = frames_of_programs(timeline);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const OpRecord& op = timeline.ops()[i];
    if (op.kind != OpKind::kRender) continue;
    const auto frames = programs.find(timeline.queues()[op.queue].process);
    if (frames != programs.end()) result[i] = frame_of(timeline, frames->second, op);
  }
  return result;
}

}  // namespace corun
