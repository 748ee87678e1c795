#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/serving/step_size.h"
#include "traces/base/time.h"

namespace corun {

/// A step that was captured.
struct CapturedStep {
  StepSize size;
  std::size_t job = 0;     ///< of the workload
  Duration device_time{};  ///< > 0
};

/// What is replayed for a step.
struct StepReplay {
  std::size_t job = 0;
  double factor = 1.0;  ///< on the durations of its operations
};

/// What steps of any size cost, out of captured ones: which of them is replayed, and times what.
///
/// Between captured sizes device times are interpolated, linearly in the context and then in the count; the captured
/// step replayed is the next larger one, so that its kernels fill the device as those of the step would. Below the
/// smallest count or context the smallest counts, above the largest the largest: `covers` tells. An engine that pads
/// computes the next larger captured size. Steps captured several times take turns.
///
/// A mixed step costs what its prefill and its decode do, less what they do once: the pass over the weights. That is
/// the mean over captured mixed steps; without any, half of the quickest captured decode, which is the most that it can
/// be. It is replayed by a captured mixed step with at least as many tokens, else by its prefill. An engine that pads
/// computes the quickest captured mixed step that is as large in all respects. Source: studies/serving, of one engine.
class StepCosts {
 public:
  StepCosts(const std::vector<CapturedStep>& steps, bool pads);

  /// Counts its calls: the same calls give the same replays. There must be a captured step of the kind, for a mixed one
  /// a prefill and a decode.
  StepReplay next(const StepSize& size);
  Duration device_time(const StepSize& size) const;
  /// Of prefills and decodes.
  bool has(StepSize::Kind kind) const { return !of(kind).empty(); }
  bool has_mixed() const { return !mixed_.empty(); }
  /// Whether captured steps of its kind reach its count and context.
  bool covers(const StepSize& size) const;
  std::uint32_t largest_count(StepSize::Kind kind) const;
  /// Largest error, as a fraction, with which the captured sizes tell one another: each that has neighbours on both
  /// sides is left out once. 0 where none has, and for an engine that pads.
  double interpolation_error() const;
  /// Largest error, as a fraction, with which captured mixed steps are told by the other captured ones.
  double mixed_error() const;
  /// Between which times a mixed step lies whatever its engine: nothing is done once, or as much as can be.
  std::pair<Duration, Duration> mixed_range(const StepSize& mixed) const;

 private:
  struct Point {
    std::vector<std::size_t> jobs;
    double mean_ns = 0;
  };
  using ByContext = std::map<std::uint32_t, Point>;
  using ByCount = std::map<std::uint32_t, ByContext>;

  using Mixed = std::map<StepSize, Point>;

  const ByCount& of(StepSize::Kind kind) const { return points_[static_cast<std::size_t>(kind)]; }
  const Point& template_of(const StepSize& size) const;
  const Point* mixed_template_of(const StepSize& size) const;
  double time_of(const StepSize& size) const;
  double apart_ns(const StepSize& mixed) const;
  double quickest_decode_ns() const;

  const bool pads_;
  ByCount points_[2];
  Mixed mixed_;
  double done_once_ns_ = 0;  ///< of a mixed step
  std::uint64_t calls_ = 0;
};

}  // namespace corun
