#include "traces/parts/graphics_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "traces/base/units.h"
#include "traces/parts/merge.h"
#include "traces/parts/part_words.h"

namespace corun {
namespace {

bool is_interval(std::int64_t from_ns, std::int64_t to_ns) {
  return Window{}.holds(from_ns) && Window{}.holds(to_ns) && from_ns <= to_ns;
}

bool has_gpu_time(const part::VisitRecord& visit) { return is_interval(visit.gpu_begin_ns, visit.gpu_end_ns); }
bool has_call(const part::VisitRecord& visit) { return is_interval(visit.submit_ns, visit.submit_end_ns); }

bool is_sane(const part::FrameRecord& frame) { return is_interval(frame.present_ns, frame.present_end_ns); }

std::uint64_t context_of(const PartContent& part, std::uint32_t queue) {
  return kGraphicsContext + (part.process.source == part::Source::kGl ? queue : 0);
}

}  // namespace

std::uint64_t include_frames(const PartContent& part, const FrameRange& wanted, Window& window) {
  std::uint64_t frames = 0;
  for (const part::FrameRecord& frame : part.frames) {
    if (!wanted.holds(frame.frame) || !is_sane(frame)) continue;
    ++frames;
    window.include(frame.present_ns);
    window.include(frame.present_end_ns);
  }
  for (const part::VisitRecord& visit : part.visits) {
    if (!wanted.holds(visit.frame)) continue;
    if (has_call(visit)) window.include(visit.submit_ns);
    if (!has_gpu_time(visit)) continue;
    window.include(visit.gpu_begin_ns);
    window.include(visit.gpu_end_ns);
  }
  return frames;
}

GraphicsRows::GraphicsRows(PartContent& part, PartTarget& target) : part_(part), target_(target) {
  std::sort(part.frames.begin(), part.frames.end(),
            [](const part::FrameRecord& a, const part::FrameRecord& b) { return a.frame < b.frame; });
  for (const part::VisitRecord& visit : part.visits) visits_of_[visit.frame].push_back(&visit);
  for (auto& [frame, visits] : visits_of_) {
    std::stable_sort(visits.begin(), visits.end(), [](const part::VisitRecord* a, const part::VisitRecord* b) {
      return a->gpu_begin_ns < b->gpu_begin_ns;
    });
  }
}

void GraphicsRows::add(const FrameRange& wanted) {
  std::map<std::uint32_t, const part::FrameRecord*> before;  // of each swap chain
  std::uint64_t number = 0;
  for (const part::FrameRecord& frame : part_.frames) {
    if (!is_sane(frame)) {
      leave_out(target_.builder, part_, part::LossReason::kBadRecord, "frame");
      continue;
    }
    if (frame.frame != number + 1) before.clear();
    number = frame.frame;
    const part::FrameRecord*& last = before[frame.swapchain];
    if (wanted.holds(number)) add_frame(frame, last);
    last = &frame;
  }
  for (const auto& [of_frame, visits] : visits_of_) {
    for (const part::VisitRecord* visit : visits) {
      if (wanted.holds(of_frame)) add_visit(*visit);
    }
  }
  for (const part::DrawRecord& draw : part_.draws) {
    if (wanted.holds(draw.frame)) add_draw(draw);
  }
  add_notes();
}

void GraphicsRows::add_frame(const part::FrameRecord& frame, const part::FrameRecord* before) {
  FrameRecord out{.present_ns = frame.present_ns, .in_present_ns = frame.present_end_ns - frame.present_ns};
  std::int64_t not_busy_ns = 0;
  add_span(not_busy_ns, frame.tracer_ns);
  if (const auto found = visits_of_.find(frame.frame); found != visits_of_.end()) {
    for (const part::VisitRecord* visit : found->second) {
      if (!has_call(*visit)) continue;
      if (out.submit_ns == -1 || visit->submit_ns < out.submit_ns) out.submit_ns = visit->submit_ns;
      if (visit->is_wait != 0) add_span(not_busy_ns, visit->submit_end_ns - visit->submit_ns);
    }
  }
  if (before != nullptr && before->present_ns <= frame.present_ns) {
    out.interval_ns = frame.present_ns - before->present_ns;
    out.cpu_busy_ns = std::max<std::int64_t>(0, frame.present_ns - before->present_end_ns - not_busy_ns);
  }
  set_gpu_times(frame, out);
  out.visits = frame.visits;
  out.swapchain = swapchain_of(frame.swapchain);
  target_.builder.add(out);
  ++frames_;
}

void GraphicsRows::set_gpu_times(const part::FrameRecord& frame, FrameRecord& out) {
  const auto found = visits_of_.find(frame.frame);
  std::uint32_t timed = 0;
  for (const part::VisitRecord* visit : found == visits_of_.end() ? Visits{} : found->second) {
    if (!has_gpu_time(*visit)) continue;
    if (++timed == 1) {
      out.gpu_begin_ns = out.gpu_end_ns = visit->gpu_begin_ns;
      out.gpu_busy_ns = 0;
    }
    // Time of two visits at once counts once.
    const std::int64_t from_ns = std::max(visit->gpu_begin_ns, out.gpu_end_ns);
    out.gpu_busy_ns += std::max<std::int64_t>(0, visit->gpu_end_ns - from_ns);
    out.gpu_end_ns = std::max(out.gpu_end_ns, visit->gpu_end_ns);
    worst_error_ns_ = std::max(worst_error_ns_, visit->gpu_error_ns);
  }
  if (timed < frame.visits) ++untimed_frames_;
  if (timed == 0) {
    target_.activity.add(target_.process, kGraphicsContext, Activity::kAnyDevice, frame.present_ns,
                         frame.present_end_ns);
  }
}

std::uint32_t GraphicsRows::swapchain_of(std::uint32_t number) {
  const std::string_view program = text_of(part_, part_.process.program);
  return target_.builder.swapchain(
      {.application = program.empty() ? StringId::none() : target_.builder.intern(program),
       .process = target_.process,
       .address = fmt::format("{} {}", part_.process.source == part::Source::kGl ? "gl" : "vulkan", number)});
}

void GraphicsRows::add_draw(const part::DrawRecord& draw) {
  if (!is_interval(draw.gpu_begin_ns, draw.gpu_end_ns))
    return leave_out(target_.builder, part_, part::LossReason::kBadRecord, "draw");
  target_.builder.add(DrawRecord{.start_ns = draw.gpu_begin_ns,
                                 .duration_ns = draw.gpu_end_ns - draw.gpu_begin_ns,
                                 .calls = draw.calls,
                                 .pass = draw.pass,
                                 .swapchain = swapchain_of(draw.swapchain)});
}

void GraphicsRows::add_visit(const part::VisitRecord& visit) {
  const std::uint32_t call = has_call(visit) ? add_call(visit) : OpRecord::kNoIndex;
  if (!has_gpu_time(visit)) return;
  target_.builder.add(OpRecord{.start_ns = visit.gpu_begin_ns,
                               .duration_ns = visit.gpu_end_ns - visit.gpu_begin_ns,
                               .kind = OpKind::kRender,
                               .name = target_.builder.intern("render"),
                               .queue = queue_of(visit),
                               .call = call});
  target_.activity.add(target_.process, kGraphicsContext, Activity::kAnyDevice, visit.gpu_begin_ns, visit.gpu_end_ns);
}

std::uint32_t GraphicsRows::add_call(const part::VisitRecord& visit) {
  return target_.builder.add(
      CallRecord{.start_ns = visit.submit_ns,
                 .duration_ns = visit.submit_end_ns - visit.submit_ns,
                 .kind = visit.is_wait != 0 ? CallKind::kSynchronizeStream : CallKind::kLaunch,
                 .thread = target_.builder.thread({.process = target_.process, .thread = visit.thread}),
                 .queue = queue_of(visit)});
}

std::uint32_t GraphicsRows::queue_of(const part::VisitRecord& visit) {
  return target_.builder.queue(
      {.device = 0, .context = context_of(part_, visit.queue), .stream = visit.queue, .process = target_.process});
}

void GraphicsRows::add_notes() {
  std::vector<std::string>& notes = target_.builder.provenance().notes;
  if (untimed_frames_ > 0) {
    notes.push_back(fmt::format("{}: {} of {} frames have visits whose GPU time is not known; their busy time lacks it",
                                describe(part_), untimed_frames_, frames_));
  }
  if (worst_error_ns_ > 0 && worst_error_ns_ <= Window{}.to_ns) {
    notes.push_back(fmt::format("{}: GPU times of frames are within {} of the host's clock", describe(part_),
                                format_duration(Duration{worst_error_ns_})));
  }
}

}  // namespace corun
