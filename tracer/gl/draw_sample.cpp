#include "tracer/gl/draw_sample.h"

namespace corun::gl {

void DrawSample::make_queries(const QueryApi& api) {
  if (has_queries_ || !api.has_queries) return;
  has_queries_ = true;
  for (Stamp& stamp : stamps_) {
    api.gen_queries(1, &stamp.query);
    has_queries_ &= stamp.query != 0;
  }
}

void DrawSample::meet(std::uint64_t frame) {
  is_new_frame_ = frame != met_frame_;
  met_frame_ = frame;
  if (state_ != State::kOpen || !is_new_frame_) return;
  known_calls_ = calls_;
  state_ = is_whole_ ? State::kInFlight : State::kIdle;
}

void DrawSample::begin_visit(const QueryApi& api, std::uint32_t swapchain) {
  if (state_ == State::kIdle && is_new_frame_) {
    make_queries(api);
    state_ = State::kOpen;
    is_whole_ = has_queries_ && known_calls_ > 0;
    calls_ = stamp_count_ = next_planned_ = 0;
    frame_ = met_frame_;
    swapchain_ = swapchain;
  }
  if (state_ != State::kOpen) return;
  is_in_visit_ = true;
  calls_since_stamp_ = 0;
  take_stamp(api);
  call(api, false);
}

void DrawSample::call(const QueryApi& api, bool may_stamp) {
  if (may_stamp && is_due()) take_stamp(api);
  ++calls_since_stamp_;
  if (++calls_ < kMostCalls) return;
  is_whole_ = false;
  is_in_visit_ = false;
}

bool DrawSample::is_due() const {
  if (next_planned_ < planned_) return calls_ >= plan_[next_planned_];
  return calls_since_stamp_ > known_calls_ / kMostPieces;
}

void DrawSample::end_visit(const QueryApi& api) {
  if (is_in_visit_) take_stamp(api);
  is_in_visit_ = false;
}

void DrawSample::take_stamp(const QueryApi& api) {
  is_whole_ = is_whole_ && stamp_count_ < kMostStamps;
  if (!is_whole_) return;
  Stamp& stamp = stamps_[stamp_count_++];
  stamp.calls = calls_since_stamp_;
  calls_since_stamp_ = 0;
  while (next_planned_ < planned_ && plan_[next_planned_] <= calls_) ++next_planned_;
  api.stamp(stamp.query);
}

void DrawSample::plan(std::uint32_t calls_before) {
  const std::uint32_t last = planned_ > 0 ? plan_[planned_ - 1] : 0;
  if (calls_before > last && planned_ < kMostPieces) plan_[planned_++] = calls_before;
}

// A piece weighs what it takes of the frame's time and of its calls, which are taken to be alike in it. Long calls get
// a stamp in front of them, too, so that they are not lost among their neighbours again. Where all calls have a stamp
// of their own, or the plan is full, calls are divided evenly.
void DrawSample::plan_next() {
  planned_ = 0;
  if (known_calls_ < kMostPieces) return;
  double time = 1, calls = 1;
  for (const Stamp* stamp = stamps_; stamp != stamps_ + stamp_count_; ++stamp) {
    if (stamp->calls > 0) time += static_cast<double>(stamp->took_ns);
    calls += stamp->calls;
  }
  constexpr double kEach = 2.2 / kMostPieces;
  double since = 0;
  std::uint32_t before = 0;
  for (const Stamp* stamp = stamps_; stamp != stamps_ + stamp_count_; ++stamp) {
    if (stamp->calls == 0) continue;
    const double per_call = static_cast<double>(stamp->took_ns) / stamp->calls / time + 1 / calls;
    if (per_call >= kEach) {
      plan(before);
      since = 0;
    }
    for (std::uint32_t call = 0; call < stamp->calls; ++call) {
      since += per_call;
      if (since < kEach) continue;
      plan(before + call + 1);
      since = 0;
    }
    before += stamp->calls;
  }
  if (planned_ == kMostPieces) planned_ = 0;
}

void DrawSample::forget() {
  state_ = State::kIdle;
  is_in_visit_ = false;
}

}  // namespace corun::gl
