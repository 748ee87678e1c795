#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "sim/workload/indexed.h"
#include "traces/base/column.h"
#include "traces/base/error.h"
#include "traces/base/short_numbers.h"
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
  std::uint32_t target = 0;  ///< below 2^30
};

/// The steps of a host, in order: 8 bytes each, put together when they are asked for.
class WorkSteps {
 public:
  using Iterator = IndexedIterator<WorkSteps, HostStep>;

  WorkSteps() = default;
  WorkSteps(std::initializer_list<HostStep> steps) {
    for (const HostStep& step : steps) push_back(step);
  }

  std::size_t size() const { return actions_.size(); }
  void reserve(std::size_t count) {
    gaps_.reserve(count);
    actions_.reserve(count);
  }
  void clear() { *this = {}; }
  void push_back(const HostStep& step) {
    CORUN_ASSERT(step.target <= kLargestTarget, "a step with the target {}", step.target);
    gaps_.push_back(to_ns(step.gap));
    actions_.push_back(static_cast<std::uint32_t>(step.kind) << kTargetBits | step.target);
  }
  void pop_back() {
    gaps_.pop_back();
    actions_.pop_back();
  }
  void set_gap(std::size_t index, Duration gap) { gaps_.set(index, to_ns(gap)); }

  const HostStep operator[](std::size_t index) const {  // const: an assignment to what it returns would be lost
    const std::uint32_t action = actions_[index];
    return {Duration{gaps_[index]}, static_cast<StepKind>(action >> kTargetBits), action & kLargestTarget};
  }
  const HostStep front() const { return (*this)[0]; }
  const HostStep back() const { return (*this)[size() - 1]; }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 private:
  static constexpr unsigned kTargetBits = 30;
  static constexpr std::uint32_t kLargestTarget = (1u << kTargetBits) - 1;

  ShortNumbers gaps_;
  Column<std::uint32_t> actions_;  ///< kind and target
};

}  // namespace corun
