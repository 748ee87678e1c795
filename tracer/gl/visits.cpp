#include "tracer/gl/visits.h"

namespace corun::gl {
namespace {

constexpr int kFirstTries = 5, kLaterTries = 3;
constexpr std::int64_t kGoodWidth = 20'000;

}  // namespace

void Visits::begin(const QueryApi& api, std::uint32_t queue) {
  api_ = api;
  queue_ = queue;
  if (!api_.has_queries) return;
  for (Flight& flight : flights_) {
    unsigned queries[2] = {};
    api_.gen_queries(2, queries);
    flight.begin_query = queries[0];
    flight.end_query = queries[1];
    if (queries[0] == 0 || queries[1] == 0) api_.has_queries = false;
  }
}

void Visits::open(const VisitPlace& place) {
  is_open_ = true;
  has_stamp_ = api_.has_queries && in_flight_ < kInFlight;
  if (has_stamp_) api_.stamp(flight(in_flight_).begin_query);
  draws_.meet(place.frame);
  if (place.is_sampled && api_.has_queries) draws_.begin_visit(api_, place.swapchain);
}

void Visits::close() {
  is_open_ = false;
  draws_.end_visit(api_);
  if (has_stamp_) api_.stamp(flight(in_flight_).end_query);
}

void Visits::submitted(const part::VisitRecord& visit, guest::FrameLog& log) {
  part::VisitRecord record = visit;
  record.queue = queue_;
  if (has_stamp_) {
    flight(in_flight_++).record = record;
    return;
  }
  log.visit(record);
  if (api_.has_queries) log.lost(part::LossReason::kNoQuery, 1);
}

std::int64_t Visits::unwrap(std::uint64_t stamp) {
  const std::uint32_t unused = 64 - api_.bits;
  const std::uint64_t step = (stamp - static_cast<std::uint64_t>(last_stamp_)) << unused;
  last_stamp_ += static_cast<std::int64_t>(step) >> unused;
  return last_stamp_;
}

bool Visits::fetch(Flight& flight) {
  if (!api_.is_available(flight.end_query) || !api_.is_available(flight.begin_query)) return false;
  flight.record.gpu_begin_ns = unwrap(api_.result(flight.begin_query));
  flight.record.gpu_end_ns = unwrap(api_.result(flight.end_query));
  return true;
}

// The clock has jumped: what is in flight has no time, and what was fetched has the old clock's.
void Visits::drop_times(guest::FrameLog& log) {
  drain(log);
  draws_.forget();
  clock_ = guest::GpuClock{};
  next_reading_ns_ = 0;
}

void Visits::collect(guest::FrameLog& log) {
  if (!api_.has_queries) return;
  if (api_.was_disjoint()) drop_times(log);
  const bool may_fetch = (in_flight_ > 0 || draws_.is_in_flight()) && api_.may_fetch();
  while (may_fetch && in_flight_ > 0 && fetch(flight(0))) {
    wait_for_clock(flight(0).record, log);
    first_flight_ = (first_flight_ + 1) % kInFlight;
    --in_flight_;
  }
  while (waiting_ > 0 && waiting_visits_[first_waiting_].gpu_end_ns <= clock_.known_until()) hand_over_first(log);
  if (may_fetch && has_draws()) hand_over_draws(log);
}

// Its queries keep the stamps until the clock has been read behind the last one.
bool Visits::has_draws() {
  if (!draws_.is_in_flight() || !api_.is_available(draws_.last_stamp().query)) return false;
  return unwrap(api_.result(draws_.last_stamp().query)) <= clock_.known_until();
}

void Visits::hand_over_draws(guest::FrameLog& log) {
  std::int64_t from_ns = 0;
  std::uint16_t pass = 0;
  for (std::uint32_t i = 0; i < draws_.stamp_count(); ++i) {
    const DrawSample::Stamp& stamp = draws_.stamp(i);
    const std::int64_t at_ns = clock_.to_monotonic(unwrap(api_.result(stamp.query)));
    if (stamp.calls > 0) {
      pass += stamp.begins_pass ? 1 : 0;
      const std::uint16_t told = pass < DrawSample::kMostPasses ? pass : std::uint16_t{0};
      log.draw({{}, from_ns, at_ns, draws_.frame(), stamp.calls, told, draws_.swapchain()});
    }
    from_ns = at_ns;
  }
  draws_.forget();
}

void Visits::wait_for_clock(const part::VisitRecord& visit, guest::FrameLog& log) {
  if (waiting_ == kWaiting) hand_over_first(log);
  waiting_visits_[(first_waiting_ + waiting_++) % kWaiting] = visit;
}

void Visits::hand_over_first(guest::FrameLog& log) {
  part::VisitRecord visit = waiting_visits_[first_waiting_];
  first_waiting_ = (first_waiting_ + 1) % kWaiting;
  --waiting_;
  const bool has_times = clock_.has_reading() && visit.gpu_begin_ns <= visit.gpu_end_ns;
  const std::int64_t begin = visit.gpu_begin_ns, end = visit.gpu_end_ns;
  const std::int64_t begin_error = has_times ? clock_.error_ns(begin) : 0;
  const std::int64_t end_error = has_times ? clock_.error_ns(end) : 0;
  visit.gpu_begin_ns = has_times ? clock_.to_monotonic(begin) : 0;
  visit.gpu_end_ns = has_times ? clock_.to_monotonic(end) : 0;
  visit.gpu_error_ns = begin_error > end_error ? begin_error : end_error;
  log.visit(visit);
}

void Visits::read_clock(std::int64_t now_ns) {
  if (!api_.has_queries || now_ns < next_reading_ns_) return;
  guest::ClockReading best;
  best.width_ns = INT64_MAX;
  const bool is_first = !clock_.has_reading();
  for (int i = 0; i < (is_first ? kFirstTries : kLaterTries); ++i) {
    const std::int64_t before = guest::monotonic_ns();
    std::int64_t gpu = 0;
    if (!api_.read_clock(gpu)) return;
    const std::int64_t width = guest::monotonic_ns() - before;
    if (width < best.width_ns) best = {gpu, before + width / 2, width};
    if (!is_first && best.width_ns < kGoodWidth) break;
  }
  best.gpu_ns = unwrap(static_cast<std::uint64_t>(best.gpu_ns));
  clock_.add(best);
  next_reading_ns_ = now_ns + kClockPeriod;
}

void Visits::drain(guest::FrameLog& log) {
  while (waiting_ > 0) hand_over_first(log);
  for (; in_flight_ > 0; --in_flight_) {
    log.visit(flight(0).record);
    first_flight_ = (first_flight_ + 1) % kInFlight;
  }
}

}  // namespace corun::gl
