#include "sim/live/client/live_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace corun::live {

LiveJobs::LiveJobs(ClientId id, const ClientSpec& spec, Arbiter& arbiter, DeviceUse& use,
                   const executor::WallClock& clock, Recorder& recorder)
    : id_(id),
      spec_(spec),
      arbiter_(arbiter),
      use_(use),
      clock_(clock),
      recorder_(recorder),
      captured_(mix_of(*spec.workload)),
      quality_level_(spec.quality_level) {}

void LiveJobs::begin_frame(std::uint64_t number, Time at, std::optional<std::uint64_t> operation) {
  Frame& frame = frames_.emplace_back();
  frame.operation = operation;
  FrameFact& fact = frame.fact;
  fact.client = id_;
  fact.number = number;
  fact.start = fact.submit = fact.gpu_begin = at;
  fact.quality_level = quality_level_;
  if (!spec_.quality_menu.empty()) fact.quality = spec_.quality_menu[quality_level_].quality;
  submit_render(frame);
  if (frames_.size() == 1) start_oldest(at);
}

void LiveJobs::submit_render(const Frame& frame) {
  if (!frame.operation) return;
  OpView op;
  op.number = *frame.operation;
  op.name = "frame";
  op.is_render = true;
  op.submitted = frame.fact.start;
  if (!arbiter_.submit(id_, op)) arbiter_.slipped(id_, 1);
}

/// A program may begin a frame before the one before it has been rendered: it starts when that one ends.
void LiveJobs::start_oldest(Time at) {
  FrameFact& frame = frames_.front().fact;
  frame.gpu_begin = std::max(frame.gpu_begin, at);
  arbiter_.frame(id_, FrameEvent::kBegin, FrameView{.number = frame.number});
}

void LiveJobs::present_frame(std::uint64_t number, Time at) {
  const auto frame = std::ranges::find(frames_, number, [](const Frame& each) { return each.fact.number; });
  if (frame != frames_.end()) frame->fact.present = at;
}

void LiveJobs::end_frame(const LaneReader::FrameMark& mark) {
  const auto frame = std::ranges::find(frames_, mark.number, [](const Frame& each) { return each.fact.number; });
  if (frame == frames_.end()) return;
  for (auto before = frames_.begin(); before != frame; ++before) complete_render(*before, Duration{0});
  frames_.erase(frames_.begin(), frame);
  Frame ended = frames_.front();
  frames_.pop_front();
  FrameFact& fact = ended.fact;
  fact.gpu_end = std::max(mark.gpu_end, fact.gpu_begin);
  const Time begin =
      mark.gpu_busy == Duration{0} ? fact.gpu_begin : std::max(fact.gpu_begin, fact.gpu_end - mark.gpu_busy);
  use_.add(id_, begin, fact.gpu_end);
  fact.gpu_busy = use_.of(id_, begin, fact.gpu_end);
  host_ahead_ = begin - fact.gpu_begin;
  fact.present = std::max(fact.present, fact.gpu_end);
  fact.missed = spec_.pacing.period > Duration{0} && fact.present > fact.start + spec_.pacing.period;
  recorder_.on_frame(fact);
  recorder_.on_job(JobFact{id_, finished_++, fact.start, fact.start, fact.gpu_end});
  complete_render(ended, fact.gpu_busy);
  arbiter_.frame(id_, FrameEvent::kEnd,
                 FrameView{.number = fact.number, .gpu_busy = fact.gpu_busy, .quality_level = fact.quality_level});
  if (!frames_.empty()) start_oldest(fact.gpu_end);
}

void LiveJobs::tell_use(Time now, std::optional<Time> ended) {
  if (frames_.empty()) return;
  const auto tell = [&](Time begin, Time end) {
    if (begin + host_ahead_ < end) use_.go_on(id_, begin + host_ahead_, end);
  };
  tell(frames_.front().fact.gpu_begin, std::min(now, ended.value_or(now)));
  if (ended && frames_.size() > 1) tell(std::max(*ended, frames_[1].fact.gpu_begin), now);
}

void LiveJobs::complete_render(Frame& frame, Duration device_time) {
  if (frame.operation) arbiter_.complete(id_, *frame.operation, device_time);
  frame.operation.reset();
}

void LiveJobs::lose_frames() {
  if (frames_.empty()) return;
  for (Frame& frame : frames_) complete_render(frame, Duration{0});
  const FrameFact started = frames_.front().fact;
  frames_.clear();
  const Duration busy = std::max(clock_.now() - started.gpu_begin, Duration{0});
  arbiter_.frame(id_, FrameEvent::kEnd,
                 FrameView{.number = started.number, .gpu_busy = busy, .quality_level = started.quality_level});
}

LiveJobs::Mix LiveJobs::mix_of(const Workload& workload) {
  if (workload.jobs.empty()) return {};
  const std::uint64_t launches = workload.launches == 0 ? workload.ops.size() : workload.launches;
  return {workload.jobs.size(), std::max<std::uint64_t>(launches, workload.jobs.size()), workload.graphs};
}

std::uint64_t LiveJobs::launches_per_job() const { return captured_.launches / captured_.jobs; }

/// Jobs of a capture may have different numbers of launches: on average as many make one here.
void LiveJobs::end_launch(Time submitted, Time end, bool is_graph, bool is_lost) {
  if (job_begin_ == kNever) job_begin_ = submitted;
  if (is_lost || spec_.workload->job_kind == JobKind::kFrame) return;
  ++launches_;
  job_graphs_ += is_graph ? 1 : 0;
  all_graphs_ += is_graph ? 1 : 0;
  if (launches_ * captured_.jobs < (finished_ + unlike_ + 1) * captured_.launches) return;
  if (is_alike()) {
    recorder_.on_job(JobFact{id_, finished_++, job_begin_, job_begin_, end});
  } else {
    ++unlike_;
  }
  job_graphs_ = 0;
  job_begin_ = kNever;
}

void LiveJobs::lose_job() {
  job_begin_ = kNever;
  job_graphs_ = 0;
  launches_ = (finished_ + unlike_) * captured_.launches / captured_.jobs;
}

bool LiveJobs::is_alike() const {
  if (spec_.workload->jobs.empty()) return true;  // a launch is a job
  const double expected = static_cast<double>(captured_.graphs) / static_cast<double>(captured_.jobs);
  const auto seen = static_cast<double>(job_graphs_);
  return (seen == 0) == (expected < 0.5) && std::abs(seen - expected) <= std::max(1.0, expected / 4);
}

std::string LiveJobs::why_rate_is_unknown() const {
  if (spec_.workload->jobs.empty() || spec_.workload->job_kind == JobKind::kFrame || launches_ == 0) return {};
  const auto per_job = [&](std::uint64_t count) {
    return static_cast<double>(count) / static_cast<double>(captured_.jobs);
  };
  if (spec_.workload->is_taken_whole) return "has a trace in which no jobs were found";
  if (finished_ + unlike_ == 0) {
    return fmt::format("made {} launches, fewer than a job of its trace ({:.0f})", launches_,
                       per_job(captured_.launches));
  }
  if (unlike_ <= finished_) return {};
  return fmt::format("launches otherwise than in its trace: {:.1f} graphs for every {:.1f} launches, {:.1f} there",
                     static_cast<double>(all_graphs_) / static_cast<double>(launches_) * per_job(captured_.launches),
                     per_job(captured_.launches), per_job(captured_.graphs));
}

Time LiveJobs::oldest_unfinished() const { return frames_.empty() ? kNever : frames_.front().fact.gpu_begin; }

}  // namespace corun::live
