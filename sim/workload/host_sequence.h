#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/workload/workload.h"
#include "traces/timeline.h"

namespace corun {

/// One thing the host of a capture did, in host order.
struct HostEvent {
  std::int64_t start_ns = 0;    ///< when it called
  std::int64_t release_ns = 0;  ///< when it could go on: start for a submission; for a wait, when what it awaited ended
  StepKind kind = StepKind::kSubmit;
  std::uint32_t target = 0;     ///< kSubmit, kWaitOp: index of the timeline's operation; kWaitStream: queue
};

/// The host's side of a capture as one sequence of submissions and waits. All threads of the capture are merged in
/// call order: a wait of one thread then holds back the others, too, which is what programs with one launching thread
/// at a time do (PyTorch's forward and backward threads take turns).
///
/// An operation without a recorded call is submitted with its stream predecessor if it began within 20 us of that
/// one's end (it was queued), else at its own recorded begin. Takes 12 bytes an operation: events are put together when
/// they are asked for.
class HostSequence {
 public:
  explicit HostSequence(const Timeline& timeline);

  std::size_t size() const { return order_.size(); }
  HostEvent operator[](std::size_t event) const;
  bool is_submission(std::size_t event) const { return order_[event] < submitted_.size(); }
  std::int64_t start_of(std::size_t event) const;
  /// How many of the events [begin, end) are submissions.
  std::size_t submissions(std::size_t begin, std::size_t end) const;
  /// When each of the timeline's operations was submitted.
  const std::vector<std::int64_t>& submitted() const { return submitted_; }

 private:
  void order_by_start();
  void settle_releases(const Timeline& timeline);

  std::vector<std::int64_t> submitted_;  ///< by operation
  std::vector<HostEvent> waits_;
  std::vector<std::uint32_t> order_;     ///< operations, and behind their numbers those of waits_
};

/// Which operations of other streams an operation's stream was told to wait for. Few operations wait, so only these take
/// memory.
class CrossStreamWaits {
 public:
  explicit CrossStreamWaits(const Timeline& timeline);

  /// Indices of the timeline's operations that operation `op` waits for, in the order of the calls that said so.
  std::span<const std::uint32_t> of(std::uint32_t op) const;

 private:
  struct Waiting {
    std::uint32_t op, begin, end;  ///< awaited_[begin, end)
  };
  std::vector<Waiting> waiting_;  ///< by operation
  std::vector<std::uint32_t> awaited_;
};

}  // namespace corun
