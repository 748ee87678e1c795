#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/policy/view.h"
#include "traces/base/ids.h"
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
  Duration dispatch_gap{};    ///< least time between its stream predecessor's end and its begin: the device's own
  Duration launch_latency{};  ///< from the host's call to visible to the device
  Duration predicted_by_name = kUnknownDuration;
  Duration predicted_by_shape = kUnknownDuration;
  friend bool operator==(const WorkOp&, const WorkOp&) = default;
};

/// The operations of a workload, in order. A capture repeats a few kernels millions of times, so what they have in
/// common (kind, name, stream, shape, bytes, predictions) is kept once, as a prototype; an operation is the number of
/// its prototype and its own times, 32 bytes. It is put together when it is asked for.
class WorkOps {
 public:
  class Iterator;

  WorkOps() = default;
  WorkOps(std::initializer_list<WorkOp> ops);

  std::size_t size() const { return own_.size(); }
  bool empty() const { return own_.empty(); }
  void reserve(std::size_t count) { own_.reserve(count); }
  void push_back(const WorkOp& op);
  const WorkOp operator[](std::size_t index) const;  // const: an assignment to what it returns would be lost
  const WorkOp back() const { return (*this)[size() - 1]; }
  Iterator begin() const;
  Iterator end() const;

  /// What operations have in common, their own times left at 0. Each has at least one operation.
  const std::vector<WorkOp>& prototypes() const { return prototypes_; }
  std::uint32_t prototype_of(std::size_t index) const { return own_[index].prototype; }
  Duration duration_of(std::size_t index) const { return own_[index].duration; }

  /// Gives operations of equal name, shape and bytes the same predictions: `predict` sets them in every prototype.
  template <class Predict>
  void predict(Predict predict);

  /// Makes every operation, or one, what `change(op)` makes of it. Either goes through all of them.
  template <class Change>
  void change(Change change);
  template <class Change>
  void change(std::size_t index, Change change);

 private:
  struct Own {
    std::uint32_t prototype = 0;
    std::uint32_t waiting = 0;  ///< 1 + index into waiting_; 0: awaits nothing, as most do
    Duration duration{}, dispatch_gap{}, launch_latency{};
  };
  struct Awaits {
    std::uint32_t begin = 0, count = 0;
  };
  struct Hash {
    std::size_t operator()(const WorkOp& op) const;
  };
  std::uint32_t number_of(const WorkOp& prototype);

  std::vector<Own> own_;
  std::vector<Awaits> waiting_;
  std::vector<WorkOp> prototypes_;
  std::unordered_map<WorkOp, std::uint32_t, Hash> numbers_;  ///< of prototypes
};

class WorkOps::Iterator {
 public:
  using value_type = WorkOp;
  using difference_type = std::ptrdiff_t;
  using iterator_concept = std::forward_iterator_tag;
  using iterator_category = std::input_iterator_tag;
  using pointer = void;
  using reference = WorkOp;

  Iterator() = default;
  Iterator(const WorkOps& ops, std::size_t index) : ops_(&ops), index_(index) {}
  WorkOp operator*() const { return (*ops_)[index_]; }
  Iterator& operator++() {
    ++index_;
    return *this;
  }
  Iterator operator++(int) { return {*ops_, index_++}; }
  friend bool operator==(const Iterator&, const Iterator&) = default;

 private:
  const WorkOps* ops_ = nullptr;
  std::size_t index_ = 0;
};

inline const WorkOp WorkOps::operator[](std::size_t index) const {
  const Own& own = own_[index];
  WorkOp op = prototypes_[own.prototype];
  op.duration = own.duration;
  op.dispatch_gap = own.dispatch_gap;
  op.launch_latency = own.launch_latency;
  if (own.waiting > 0) {
    op.awaits_begin = waiting_[own.waiting - 1].begin;
    op.awaits_count = waiting_[own.waiting - 1].count;
  }
  return op;
}

inline WorkOps::Iterator WorkOps::begin() const { return {*this, 0}; }
inline WorkOps::Iterator WorkOps::end() const { return {*this, size()}; }

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
