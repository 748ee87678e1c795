#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "sim/workload/indexed.h"
#include "traces/base/error.h"
#include "traces/base/packed_column.h"
#include "traces/base/time.h"

namespace corun {

/// What a host does next, after its gap.
enum class StepKind : std::uint8_t {
  kSubmit,      ///< call the driver with operation `target`; goes on at once unless held at the gate
  kWaitAll,     ///< wait for everything submitted so far
  kWaitStream,  ///< wait for what was submitted to stream `target`
  kWaitOp,      ///< wait for operation `target`, submitted earlier in the same pass over the jobs
};

struct HostStep {
  Duration gap{};  ///< host time from the step before (its return, where that one waited) to this one
  StepKind kind = StepKind::kSubmit;
  std::uint32_t target = 0;  ///< below 2^30; of a wait for everything 0
};

/// The steps of a host, in order, in two packed columns: submissions and waits, one after the other, take next to
/// nothing of the second.
class WorkSteps {
 public:
  using Iterator = IndexedIterator<WorkSteps, HostStep>;

  WorkSteps() = default;
  WorkSteps(std::initializer_list<HostStep> steps) {
    for (const HostStep& step : steps) push_back(step);
  }

  std::size_t size() const { return actions_.size(); }
  std::size_t bytes() const { return gaps_.bytes() + actions_.bytes(); }  ///< that they take in memory
  void reserve(std::size_t count) {
    gaps_.reserve(count);
    actions_.reserve(count);
  }
  void clear() { *this = {}; }
  void push_back(const HostStep& step) {
    CORUN_ASSERT(step.target <= kLargestTarget, "a step with the target {}", step.target);
    if (step.kind == StepKind::kSubmit) submitted_ = step.target;
    const std::uint32_t target = step.kind == StepKind::kWaitAll ? submitted_ : step.target;
    gaps_.push_back(to_ns(step.gap));
    actions_.push_back(target << kKindBits | static_cast<std::uint32_t>(step.kind));
  }
  void pop_back() {
    gaps_.pop_back();
    actions_.pop_back();
  }
  void set_gap(std::size_t index, Duration gap) { gaps_.set(index, to_ns(gap)); }
  /// Makes every gap what `change(index, gap)` makes of it. It goes through all of them.
  template <class Change>
  void change_gaps(Change change);

  const HostStep operator[](std::size_t index) const {  // const: an assignment to what it returns would be lost
    return step_of(gaps_[index], actions_[index]);
  }
  const HostStep front() const { return (*this)[0]; }
  const HostStep back() const { return (*this)[size() - 1]; }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

  /// Reads steps from the first on, faster than index by index.
  class Reader;

 private:
  static constexpr unsigned kKindBits = 2;
  static constexpr std::uint32_t kLargestTarget = UINT32_MAX >> kKindBits;

  static HostStep step_of(std::int64_t gap_ns, std::uint32_t action) {
    const auto kind = static_cast<StepKind>(action & ((1u << kKindBits) - 1));
    return {Duration{gap_ns}, kind, kind == StepKind::kWaitAll ? 0 : action >> kKindBits};
  }

  Durations gaps_;
  Indices actions_;  ///< target and kind; of a wait for everything the newest submission, so that it lies near others
  std::uint32_t submitted_ = 0;
};

class WorkSteps::Reader {
 public:
  explicit Reader(const WorkSteps& steps) : gaps_(steps.gaps_), actions_(steps.actions_) {}
  HostStep next() {
    const std::int64_t gap_ns = gaps_.next();
    return step_of(gap_ns, actions_.next());
  }

 private:
  Durations::Reader gaps_;
  Indices::Reader actions_;
};

template <class Change>
void WorkSteps::change_gaps(Change change) {
  Durations::Drain before(std::move(gaps_));
  gaps_ = {};
  gaps_.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) gaps_.push_back(to_ns(change(i, Duration{before.next()})));
}

}  // namespace corun
