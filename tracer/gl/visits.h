#pragma once

#include <cstdint>

#include "tracer/frames/frame_log.h"
#include "tracer/gl/draw_sample.h"
#include "tracer/gl/query_api.h"
#include "tracer/guest/gpu_clock.h"
#include "traces/parts/part_record.h"

namespace corun::gl {

/// The frame that a visit is for.
struct VisitPlace {
  std::uint64_t frame = 0;
  std::uint32_t swapchain = 0;
  bool is_sampled = false;  ///< what the frame is made of is wanted, too: see DrawSample
};

/// The visits of one GL context to the GPU: from the first call that gives it work to the flush, finish or swap that
/// submits it.
///
/// The GPU stamps both ends (a ring of kInFlight pairs of queries); stamps are fetched when they are there and never
/// waited for. A visit goes to the log once its times are on CLOCK_MONOTONIC, which needs a reading of the clock behind
/// them: read_clock() takes one every kClockPeriod. Without queries, or with all of them in flight, a visit goes out
/// without GPU times. One thread at a time; GL is called only where `may` be: see each.
class Visits {
 public:
  /// Makes the queries in the current context.
  void begin(const QueryApi& api, std::uint32_t queue);

  bool is_open() const { return is_open_; }
  /// Before the first work: the first stamp.
  void open(const VisitPlace& place = {});
  /// True where call() is to come before each further work of the visit that is open.
  bool wants_calls() const { return draws_.wants_calls(); }
  void call(bool may_stamp) { draws_.call(api_, may_stamp); }
  /// Further work belongs to another pass, see CORUN_GL_PASS_CALLS.
  void end_pass() { draws_.end_pass(); }
  /// Before the call that submits: the second stamp.
  void close();
  /// After that call: `visit` says everything but queue and GPU times.
  void submitted(const part::VisitRecord& visit, guest::FrameLog& log);

  int in_flight() const { return in_flight_; }
  /// Fetches the stamps that are there, and hands visits to the log whose times are known. Calls GL.
  void collect(guest::FrameLog& log);
  /// Takes a reading of the GPU's clock where one is due. Calls GL.
  void read_clock(std::int64_t now_ns);
  /// Hands over all visits with what is known of them; calls no GL.
  void drain(guest::FrameLog& log);

  /// A program without a window is not held back by any display: one was seen 1,780 frames ahead of the GPU.
  static constexpr int kInFlight = 4096;
  static constexpr int kWaiting = 1024;
  static constexpr std::int64_t kClockPeriod = 250'000'000;

 private:
  /// `record` has times of the GPU's clock until it goes to the log.
  struct Flight {
    unsigned begin_query, end_query;
    part::VisitRecord record;
  };

  Flight& flight(int i) { return flights_[(first_flight_ + i) % kInFlight]; }
  bool fetch(Flight& flight);
  bool has_draws();
  void hand_over_draws(guest::FrameLog& log);
  std::int64_t unwrap(std::uint64_t stamp);
  void drop_times(guest::FrameLog& log);
  void wait_for_clock(const part::VisitRecord& visit, guest::FrameLog& log);
  void hand_over_first(guest::FrameLog& log);

  QueryApi api_;
  guest::GpuClock clock_;
  DrawSample draws_;
  std::int64_t next_reading_ns_ = 0;
  std::int64_t last_stamp_ = 0;
  std::uint32_t queue_ = 0;
  bool is_open_ = false;
  bool has_stamp_ = false;  ///< of the visit that is open
  int first_flight_ = 0, in_flight_ = 0;
  int first_waiting_ = 0, waiting_ = 0;
  Flight flights_[kInFlight];
  part::VisitRecord waiting_visits_[kWaiting];
};

}  // namespace corun::gl
