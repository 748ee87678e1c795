#include "tracer/vulkan/visit_ring.h"

namespace corun::vulkan {

bool VisitRing::next_pair(std::uint32_t& pair) const {
  pair = static_cast<std::uint32_t>(head_ % kCount);
  return head_ - tail_ < kCount;
}

void VisitRing::commit(const part::VisitRecord& visit) { at(head_++) = visit; }

bool VisitRing::collect(const DeviceClock& clock, guest::FrameLog& log) {
  for (std::uint32_t reads = 0; unanswered_ < head_ && reads < kMostReads; ++reads) {
    QueryPairs::Stamps stamps;
    const QueryPairs::Answer found = pairs_.read(static_cast<std::uint32_t>(unanswered_ % kCount), stamps);
    if (found == QueryPairs::Answer::kFailed) return false;
    if (found == QueryPairs::Answer::kNotYet) break;
    answer(at(unanswered_++), stamps, clock);
  }
  while (tail_ < unanswered_) {
    const bool is_known = at(tail_).gpu_end_ns <= clock.clock().known_until();
    if (!is_known && head_ - tail_ <= kCount * 3 / 4) break;
    write_oldest(clock, log, true);
  }
  return true;
}

void VisitRing::flush(const DeviceClock& clock, guest::FrameLog& log) {
  while (tail_ < head_) write_oldest(clock, log, tail_ < unanswered_);
  unanswered_ = head_;
}

void VisitRing::answer(part::VisitRecord& visit, const QueryPairs::Stamps& stamps, const DeviceClock& clock) {
  const std::int64_t begin = clock.gpu_ns(stamps.begin, valid_bits_);
  const std::int64_t end = clock.gpu_ns(stamps.end, valid_bits_);
  visit.gpu_end_ns = end > last_end_ ? end : last_end_;
  visit.gpu_begin_ns = begin > last_end_ ? begin : last_end_;
  if (visit.gpu_begin_ns > visit.gpu_end_ns) visit.gpu_begin_ns = visit.gpu_end_ns;
  last_end_ = visit.gpu_end_ns;
}

void VisitRing::write_oldest(const DeviceClock& clock, guest::FrameLog& log, bool is_answered) {
  part::VisitRecord visit = at(tail_++);
  if (is_answered) {
    const std::int64_t end = visit.gpu_end_ns;
    visit.gpu_begin_ns = clock.clock().to_monotonic(visit.gpu_begin_ns);
    visit.gpu_end_ns = clock.clock().to_monotonic(end);
    visit.gpu_error_ns = clock.clock().error_ns(end);
  } else {
    log.lost(part::LossReason::kNoQuery, 1);
  }
  log.visit(visit);
}

}  // namespace corun::vulkan
