#pragma once

#include <cstdint>

#include "tracer/frames/frame_log.h"
#include "tracer/vulkan/device_clock.h"
#include "tracer/vulkan/query_pairs.h"

namespace corun::vulkan {

/// The visits of one queue whose GPU times are not known yet, oldest first: each holds one pair of queries from its
/// submission until it is written to the log.
///
/// A visit is written when its queries have been answered and the clock was read behind its end, so that its times are
/// interpolated; sooner where three quarters of the ring are taken. Work of a queue begins in the order of its
/// submissions, but a stamp at the top of the pipe may be set while the work before still runs or a semaphore is
/// waited for: a visit therefore begins no earlier than the visit before it ended.
/// One thread at a time; the memory (34 kB) is allocated and zeroed by the caller.
class VisitRing {
 public:
  static constexpr std::uint32_t kMostReads = 32;  ///< in one collect(), to bound its time

  QueryPairs& pairs() { return pairs_; }
  void set_valid_bits(std::uint32_t valid_bits) { valid_bits_ = valid_bits; }

  /// The pair for the next submission; false where all are taken. Only commit() takes it.
  bool next_pair(std::uint32_t& pair) const;
  void commit(const part::VisitRecord& visit);
  /// True where half of the pairs are taken: then the next present is too late to ask for results.
  bool is_filling() const { return head_ - tail_ > kCount / 2; }

  /// Asks for results, without waiting, and writes what is complete. False where the device does not answer any more.
  bool collect(const DeviceClock& clock, guest::FrameLog& log);
  /// Writes everything: with times what was answered, the rest without. Does not touch the device.
  void flush(const DeviceClock& clock, guest::FrameLog& log);

 private:
  static constexpr std::uint64_t kCount = QueryPairs::kCount;

  void answer(part::VisitRecord& visit, const QueryPairs::Stamps& stamps, const DeviceClock& clock);
  void write_oldest(const DeviceClock& clock, guest::FrameLog& log, bool is_answered);
  part::VisitRecord& at(std::uint64_t index) { return visits_[index % kCount]; }

  QueryPairs pairs_;
  part::VisitRecord visits_[kCount];  // GPU times are the clock's own until a visit is written
  std::uint64_t head_ = 0;            // next to be submitted
  std::uint64_t unanswered_ = 0;      // oldest without results
  std::uint64_t tail_ = 0;            // oldest that was not written
  std::int64_t last_end_ = INT64_MIN;
  std::uint32_t valid_bits_ = 64;
};

}  // namespace corun::vulkan
