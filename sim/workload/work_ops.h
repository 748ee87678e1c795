#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/policy/view.h"
#include "sim/workload/indexed.h"
#include "traces/base/ids.h"
#include "traces/base/packed_column.h"
#include "traces/base/time.h"
#include "traces/timeline.h"

namespace corun {

/// An operation of a workload. All durations come from a solo capture or a synthetic profile.
struct WorkOp {
  OpKind kind = OpKind::kKernel;
  bool continues = false;  ///< goes on with what the operation before began: jitter makes both as much longer
  std::uint32_t name = 0;  ///< index into Workload::names
  StreamId stream{};
  /// Cross-stream waits: Workload::awaits[begin, begin + count): earlier ops of its pass.
  std::uint32_t awaits_begin = 0, awaits_count = 0;
  LaunchShape shape{};
  std::uint64_t bytes = 0;
  Duration duration{};        ///< device time alone
  Duration dispatch_gap{};    ///< least time between its stream predecessor's end and its start: the device's own
  Duration launch_latency{};  ///< from the host's call to visible to the device
  Duration predicted_by_name = kUnknownDuration;
  Duration predicted_by_shape = kUnknownDuration;
  std::uint32_t sm_curve = 0;  ///< 1 + index into Workload::sm_curves; 0 = its times with fewer SMs are not known
  friend bool operator==(const WorkOp&, const WorkOp&) = default;
};

/// The operations of a workload, in order. A capture repeats a few kernels millions of times, so what they have in
/// common (kind, name, stream, shape, bytes, predictions) is kept once, as a prototype; an operation is the number of
/// its prototype and its own times, in four packed columns. It is put together when it is asked for.
class WorkOps {
 public:
  using Iterator = IndexedIterator<WorkOps, WorkOp>;

  /// The columns of operations: times in nanoseconds.
  struct Columns {
    Kinds prototype;
    Durations duration, dispatch_gap, launch_latency;
  };

  WorkOps() = default;
  WorkOps(std::initializer_list<WorkOp> ops);
  /// Operations that await nothing; those of `prototypes` that none has are left out.
  WorkOps(const std::vector<WorkOp>& prototypes, Columns columns);

  std::size_t size() const { return own_.prototype.size(); }
  bool empty() const { return own_.prototype.empty(); }
  void reserve(std::size_t count);
  void push_back(const WorkOp& op);
  /// Operation `index` awaits Workload::awaits[begin, begin + count). To be called in the order of operations.
  void await(std::size_t index, std::uint32_t begin, std::uint32_t count);
  const WorkOp operator[](std::size_t index) const;  // const: an assignment to what it returns would be lost
  const WorkOp back() const { return (*this)[size() - 1]; }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

  /// What operations have in common, their own times left at 0. Each has at least one operation.
  const std::vector<WorkOp>& prototypes() const { return prototypes_; }
  std::uint32_t prototype_of(std::size_t index) const { return own_.prototype[index]; }
  const WorkOp& shared_by(std::size_t index) const { return prototypes_[own_.prototype[index]]; }  ///< its prototype
  Duration duration_of(std::size_t index) const { return Duration{own_.duration[index]}; }
  Duration dispatch_gap_of(std::size_t index) const { return Duration{own_.dispatch_gap[index]}; }
  Duration launch_latency_of(std::size_t index) const { return Duration{own_.launch_latency[index]}; }
  const Columns& columns() const { return own_; }
  /// The first operation whose duration or dispatch gap is longer; size() if none is.
  std::size_t first_longer_than(Duration longest) const {
    return std::min(own_.duration.first_above(to_ns(longest)), own_.dispatch_gap.first_above(to_ns(longest)));
  }
  /// Places in Workload::awaits of what the operation awaits: the first, and how many.
  std::pair<std::uint32_t, std::uint32_t> awaits_of(std::size_t index) const {
    return waiting_.empty() ? std::pair{0u, 0u} : find_awaits(index);
  }

  /// Gives operations of equal name, shape and bytes the same predictions or curve: `predict` sets them in every
  /// prototype.
  template <class Predict>
  void predict(Predict predict);

  /// Makes every operation, or one, what `change(op)` makes of it. Either goes through all of them.
  template <class Change>
  void change(Change change);
  template <class Change>
  void change(std::size_t index, Change change);

 private:
  struct Awaits {
    std::size_t op = 0;
    std::uint32_t begin = 0, count = 0;
  };
  struct Hash {
    std::size_t operator()(const WorkOp& op) const;
  };
  std::uint32_t number_of(const WorkOp& prototype);
  std::pair<std::uint32_t, std::uint32_t> find_awaits(std::size_t index) const;

  Columns own_;
  std::vector<Awaits> waiting_;  ///< of the few operations that await something, in order
  std::vector<WorkOp> prototypes_;
  std::unordered_map<WorkOp, std::uint32_t, Hash> numbers_;  ///< of prototypes
};

inline const WorkOp WorkOps::operator[](std::size_t index) const {
  WorkOp op = shared_by(index);
  op.duration = duration_of(index);
  op.dispatch_gap = dispatch_gap_of(index);
  op.launch_latency = launch_latency_of(index);
  std::tie(op.awaits_begin, op.awaits_count) = awaits_of(index);
  return op;
}

template <class Predict>
void WorkOps::predict(Predict predict) {
  numbers_.clear();
  for (std::uint32_t number = 0; number < prototypes_.size(); ++number) {
    predict(prototypes_[number]);
    numbers_.emplace(prototypes_[number], number);
  }
}

template <class Change>
void WorkOps::change(Change change) {
  WorkOps changed;
  changed.reserve(size());
  for (WorkOp op : *this) {
    change(op);
    changed.push_back(op);
  }
  *this = std::move(changed);
}

template <class Change>
void WorkOps::change(std::size_t index, Change change_it) {
  std::size_t next = 0;
  change([&](WorkOp& op) {
    if (next++ == index) change_it(op);
  });
}

}  // namespace corun
