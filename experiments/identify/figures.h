#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "experiments/base/memo.h"
#include "experiments/identify/rule.h"
#include "experiments/identify/trial.h"
#include "experiments/run/execution_backend.h"

namespace corun::identification {

/// A figure of a trial over its repetitions, in milliseconds.
struct Figure {
  std::string client;
  std::string name;  ///< "job_interval_ms", "op_span_p99_ms"
  double mean = 0.0;
  double squares = 0.0;     ///< sum of squared deviations from the mean
  std::uint32_t count = 0;  ///< repetitions
};

/// Of one trial: the same figures in the same order whatever the device.
using Figures = std::vector<Figure>;

/// The outcome of one repetition of a trial.
using Observation = Figures;

/// Runs a trial once. Throws Error as the backend does.
using Observe = std::function<Observation(const Trial& trial, std::uint64_t seed)>;

/// Runs a trial with `clients` in place of its own, every gate open. Of each client: the mean time between the ends of
/// its jobs, and p50 and p99 of the time from start to end of its operations; of frames also p50 and p99 of render
/// times; of clients that wait for each kernel, of the time from its submission to its start. What there was none of
/// took the whole window.
Observation observe(const ExecutionBackend& backend, const DeviceSpec& device, const Trial& trial,
                    const std::vector<ClientSpec>& clients, std::uint64_t seed);

/// Trials on the GPU, or whatever `backend` is.
Observe observer(ExecutionBackend backend, DeviceSpec device);

/// Mean and scatter of repetitions.
Figures pooled(const std::vector<Observation>& repetitions);

/// What hypotheses say of trials: simulations, each done once. Rules that differ in what graphics do share those of
/// trials without frames. Any number of threads may ask.
class Predictions {
 public:
  /// Of `seeds` runs each, on threads of its own. `rules` are those the hypotheses mean.
  Predictions(std::vector<Rule> rules, DeviceSpec base, std::uint32_t seeds = 3);

  const Figures& of(const Hypothesis& hypothesis, const Trial& trial);
  /// Computes all that is asked for at once, on every processor.
  void prepare(const std::vector<Hypothesis>& hypotheses, const std::vector<const Trial*>& trials);

  const std::vector<Rule>& rules() const { return rules_; }
  const DeviceSpec& base() const { return base_; }

 private:
  std::vector<Rule> rules_;
  DeviceSpec base_;
  std::uint32_t seeds_;
  Memo<std::string, Figures> figures_;
};

}  // namespace corun::identification
