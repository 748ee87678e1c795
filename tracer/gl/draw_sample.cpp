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
    calls_ = stamp_count_ = pass_count_ = 0;
    frame_ = met_frame_;
    swapchain_ = swapchain;
  }
  if (state_ != State::kOpen) return;
  is_in_visit_ = true;
  calls_since_stamp_ = 0;
  ends_pass_ = true;
  take_stamp(api);
  call(api, false);
}

bool DrawSample::is_due() const {
  return (ends_pass_ && pass_count_ < kMostPasses) || calls_since_stamp_ > known_calls_ / kMostPieces;
}

void DrawSample::call(const QueryApi& api, bool may_stamp) {
  if (may_stamp && is_due()) take_stamp(api);
  ++calls_since_stamp_;
  if (++calls_ < kMostCalls) return;
  is_whole_ = false;
  is_in_visit_ = false;
}

void DrawSample::end_visit(const QueryApi& api) {
  ends_pass_ = false;  // no call follows
  if (is_in_visit_) take_stamp(api);
  is_in_visit_ = false;
}

void DrawSample::take_stamp(const QueryApi& api) {
  is_whole_ = is_whole_ && stamp_count_ < kMostStamps;
  if (!is_whole_) return;
  Stamp& stamp = stamps_[stamp_count_++];
  stamp.calls = static_cast<std::uint16_t>(calls_since_stamp_);
  stamp.begins_pass = begins_pass_;
  begins_pass_ = ends_pass_ && pass_count_ < kMostPasses;
  pass_count_ += begins_pass_ ? 1 : 0;
  ends_pass_ = false;
  calls_since_stamp_ = 0;
  api.stamp(stamp.query);
}

void DrawSample::forget() {
  state_ = State::kIdle;
  is_in_visit_ = false;
}

}  // namespace corun::gl
