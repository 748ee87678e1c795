#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/workload/workload.h"
#include "traces/compact_capture.h"

namespace corun {

/// One thing the host of a capture did, in host order.
struct HostEvent {
  std::int64_t start_ns = 0;    ///< when it called
  std::int64_t release_ns = 0;  ///< when it could go on: start for a submission; for a wait, when what it awaited ended
  StepKind kind = StepKind::kSubmit;
  std::uint32_t target = 0;  ///< kSubmit, kWaitOp: index of the capture's operation; kWaitStream: queue
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
  /// Frees the capture's calls as soon as it knows what they say.
  explicit HostSequence(CompactCapture& capture);

  std::size_t size() const { return starts_.size(); }
  HostEvent operator[](std::size_t event) const;
  bool is_submission(std::size_t event) const { return order_[event] < op_count(); }
  std::int64_t start_of(std::size_t event) const { return starts_[event]; }
  /// How many of the events [begin, end) are submissions.
  std::size_t submissions(std::size_t begin, std::size_t end) const;

  /// Time from each operation's submission to its start.
  const ShortNumbers& delays() const { return delays_; }
  bool has_call(std::uint32_t op) const { return has_call_[op]; }

  /// For an owner that needs them no more: after it delays() is empty.
  ShortNumbers take_delays() { return std::move(delays_); }
  /// The operations submitted in events [begin, end), in order; `on_wait(event)` hears of the others. Only size() and
  /// start_of() may be asked after it.
  template <class OnWait>
  Column<std::uint32_t> take_submissions(std::size_t begin, std::size_t end, OnWait on_wait);

 private:
  std::size_t op_count() const { return has_call_.size(); }
  void set_order(CompactCapture& capture);
  void order_by_start(const Column<std::int64_t>& submitted);
  void settle_releases(const CompactCapture& capture);
  void set_delays(const CompactCapture& capture, const Column<std::int64_t>& submitted);
  void set_starts(const CompactCapture& capture);

  std::vector<bool> has_call_;  ///< by operation
  ShortNumbers delays_;         ///< by operation
  std::vector<HostEvent> waits_;
  Column<std::uint32_t> order_;  ///< operations, and behind their numbers those of waits_
  Instants starts_;              ///< of the events
};

template <class OnWait>
Column<std::uint32_t> HostSequence::take_submissions(std::size_t begin, std::size_t end, OnWait on_wait) {
  std::size_t count = 0;
  for (std::size_t i = begin; i < end; ++i) {
    if (is_submission(i))
      order_[count++] = order_[i];
    else
      on_wait(i);
  }
  order_.resize(count);
  return std::move(order_);
}

/// Operations of other streams for which an operation's stream was made to wait. Few operations wait, so only these
/// take memory.
class CrossStreamWaits {
 public:
  explicit CrossStreamWaits(const CompactCapture& capture);

  bool empty() const { return waiting_.empty(); }
  /// Indices of the capture's operations that operation `op` waits for, in the order of the calls that said so.
  std::span<const std::uint32_t> of(std::uint32_t op) const;

 private:
  struct Waiting {
    std::uint32_t op, begin, end;  ///< awaited_[begin, end)
  };
  std::vector<Waiting> waiting_;  ///< by operation
  std::vector<std::uint32_t> awaited_;
};

}  // namespace corun
