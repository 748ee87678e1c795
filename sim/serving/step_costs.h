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
///
/// A step of several prompts costs what one prompt of all their tokens does, at the context at which that attends to as
/// many (short prompts attend to fewer than at none), and for each further prompt what captured steps of several
/// prompts take more, in the mean; without any, nothing. At most its prompts are read one after another
/// (prompts_range). An engine that pads computes the quickest captured one that is as large in all respects. No engine
/// was measured so.
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
  bool has_several_prompts() const { return !several_.empty(); }  ///< captured ones, without decodes
  /// Whether captured steps of its kind reach its count and context.
  bool covers(const StepSize& size) const;
  std::uint32_t largest_count(StepSize::Kind kind) const;
  /// Largest error, as a fraction, with which the captured sizes tell one another: each that has neighbours on both
  /// sides is left out once. 0 where none has, and for an engine that pads.
  double interpolation_error() const;
  /// Largest error, as a fraction, with which captured mixed steps are told by the other captured ones.
  double mixed_error() const;
  /// The same of captured steps of several prompts.
  double several_prompts_error() const;
  /// Between which times a mixed step lies whatever its engine: nothing is done once, or as much as can be.
  std::pair<Duration, Duration> mixed_range(const StepSize& mixed) const;
  /// The same of a step of several prompts of equal length: its further prompts cost nothing, or as much as the first.
  std::pair<Duration, Duration> prompts_range(const StepSize& several) const;

 private:
  struct Point {
    std::vector<std::size_t> jobs;
    double mean_ns = 0;
  };
  using ByContext = std::map<std::uint32_t, Point>;
  using ByCount = std::map<std::uint32_t, ByContext>;

  using BySize = std::map<StepSize, Point>;

  const ByCount& of(StepSize::Kind kind) const { return points_[static_cast<std::size_t>(kind)]; }
  const Point& template_of(const StepSize& size) const;
  /// The captured step of those to be replayed for one, if there is any.
  const Point* template_among(const BySize& captured, const StepSize& size) const;
  void learn_mixed();
  void learn_further_prompts();
  double time_of(const StepSize& size) const;
  double of_one_kind_ns(const StepSize& size) const;
  double error_of(const BySize& captured) const;
  double apart_ns(const StepSize& mixed) const;
  double quickest_decode_ns() const;

  const bool pads_;
  ByCount points_[2];
  BySize mixed_, several_;
  double done_once_ns_ = 0;       ///< of a mixed step
  double further_prompt_ns_ = 0;  ///< each beyond the first of a step
  std::uint64_t calls_ = 0;
};

}  // namespace corun
