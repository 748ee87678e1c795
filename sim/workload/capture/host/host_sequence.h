#pragma once

#include <algorithm>
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
/// one's end (it was queued), else at its own recorded begin. Its columns are packed: events are put together when they
/// are asked for.
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
  const Durations& delays() const { return delays_; }
  bool has_call(std::uint32_t op) const { return has_call_[op]; }

  /// For an owner that needs them no more: after it delays() is empty.
  Durations take_delays() { return std::move(delays_); }
  /// The operations submitted in events [begin, end), in order; `on_wait(event, wait)` hears of the others. Only size()
  /// and start_of() may be asked after it.
  template <class OnWait>
  Indices take_submissions(std::size_t begin, std::size_t end, OnWait on_wait);

 private:
  std::size_t op_count() const { return has_call_.size(); }
  std::vector<std::int64_t> set_delays(CompactCapture& capture);
  void set_events(const CompactCapture& capture, const std::vector<std::int64_t>& first_from);

  std::vector<bool> has_call_;  ///< by operation
  Durations delays_;            ///< by operation
  std::vector<HostEvent> waits_;
  Indices order_;    ///< operations, and behind their numbers those of waits_
  Instants starts_;  ///< of the events
};

template <class OnWait>
Indices HostSequence::take_submissions(std::size_t begin, std::size_t end, OnWait on_wait) {
  Indices ops;
  ops.reserve(end - begin);
  Indices::Drain order(std::move(order_));
  for (std::size_t i = 0; i < end; ++i) {
    const std::uint32_t number = order.next();
    if (i < begin) continue;
    if (number < op_count())
      ops.push_back(number);
    else
      on_wait(i, waits_[number - op_count()]);
  }
  return ops;
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

/// Operations of a capture in the order of a workload: nearly their own, so that columns of the capture are freed on
/// the way.
class Order {
 public:
  Order() = default;
  explicit Order(Indices ops) : ops_(std::move(ops)) {
    Indices::Reader next(ops_);
    for (std::size_t i = 0; i < size(); ++i) {
      const std::uint32_t op = next.next();
      if (i % kStretch == 0) least_from_.push_back(op);
      least_from_.back() = std::min(least_from_.back(), op);
      is_that_of_capture_ = is_that_of_capture_ && op == i;
      first_ = std::min(first_, op);
      behind_ = std::max(behind_, op + 1);
    }
    for (std::size_t i = least_from_.size(); i-- > 1;)
      least_from_[i - 1] = std::min(least_from_[i - 1], least_from_[i]);
  }

  std::size_t size() const { return ops_.size(); }
  std::uint32_t operator[](std::size_t index) const { return ops_[index]; }
  bool is_that_of_capture() const { return is_that_of_capture_; }
  std::uint32_t first() const { return first_; }    ///< in the capture
  std::uint32_t behind() const { return behind_; }  ///< of the capture's operations, the one after the last
  template <class Visit>
  void for_each(Visit visit) const {
    Indices::Reader next(ops_);
    for (std::size_t i = 0; i < size(); ++i) visit(next.next());
  }
  /// Frees of the columns what is passed.
  template <class Visit, class... Columns>
  void for_each_and_free(Visit visit, Columns&... columns) const {
    Indices::Reader next(ops_);
    for (std::size_t i = 0; i < size(); ++i) {
      if (i % kStretch == 0) (columns.free_before(least_from_[i / kStretch]), ...);
      visit(next.next());
    }
    ((columns = {}), ...);
  }
  /// A column of the capture's operations as one of the workload's.
  template <class List>
  List pick(List column) const {
    List picked;
    picked.reserve(size());
    for_each_and_free([&](std::uint32_t op) { picked.push_back(column[op]); }, column);
    return picked;
  }

 private:
  static constexpr std::size_t kStretch = 4096;
  Indices ops_;
  std::vector<std::uint32_t> least_from_;  ///< by stretch: the least operation in it and all behind it
  std::uint32_t first_ = UINT32_MAX, behind_ = 0;
  bool is_that_of_capture_ = true;
};

}  // namespace corun
