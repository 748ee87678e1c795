#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "experiments/run/runner.h"
#include "experiments/validate/device_state.h"
#include "experiments/validate/predictions.h"
#include "experiments/validate/scoring/cells.h"
#include "experiments/validate/scoring/error_budget.h"
#include "experiments/validate/scoring/ranking.h"
#include "experiments/validate/scoring/summary_of_scores.h"

namespace corun::validation {

struct ValidationOptions {
  Duration window{20'000'000'000};  ///< most that is measured of a run; horizons as written may be shorter
  bool keeps_warmup = false;        ///< as stated (see RunLengths)
  std::vector<std::string> only;    ///< scenarios to validate; empty = all
  unsigned repetitions = 5;         ///< of every cell, at least 1
  unsigned jobs = 1;                ///< simulations at a time
  bool has_canary = true;
  bool has_budget = true;
  ExecutionBackend predicted_in = simulation_backend();  ///< surrogate_backend() where surrogates are measured
};

/// A run in the other backend.
struct MeasuredRun {
  CellKey cell;
  std::uint64_t seed = 0;
  Duration horizon{};
  std::vector<Metric> metrics;
  std::string error;  ///< empty where it went well
  std::string notes;  ///< a line each
};

/// A canary, a client of fixed work, and the run that came after it.
struct CanaryRun {
  CellKey cell;
  std::uint64_t seed = 0;
  double rate_per_s = 0.0;
};

/// A run before which the canary was off by more than 1 %.
struct Disturbance {
  CellKey cell;
  std::uint64_t seed = 0;
  double change = 0.0;  ///< of the canary's rate, against the validation's median
};

/// What a validation found.
struct ValidationResult {
  std::vector<ScoreRow> rows;
  std::vector<ScoreGroup> groups;
  std::vector<Ranking> rankings;
  std::vector<ConstantEffect> effects;
  std::vector<Explanation> explanations;
};

/// A finished run of a validation.
using Deliver = std::function<void(const Experiment&, const RunSpec&, const RunOutcome&)>;

/// Predicts an experiment's figures, has them measured in another backend, and scores the former by the latter.
///
///     Validation validation(experiment, policies, options);
///     validation.predict(...);                    // then publish predictions()
///     validation.measure(hardware_backend(...), ...);  // or add_measured(...) for what was measured before
///     ValidationResult result = validation.score();
///
/// The order is the point: nothing measured can reach a prediction. One thread calls.
class Validation {
 public:
  /// Throws Error where the experiment cannot be validated or its captures cannot be read. `policies` must outlive it.
  Validation(const Experiment& experiment, const PolicyRegistry& policies, const ValidationOptions& options);

  /// Simulates all cells with all seeds; each finished run goes to `deliver` in order.
  void predict(const Deliver& deliver);
  const Predictions& predictions() const { return predictions_; }

  /// The runs of measure() in their order.
  std::vector<RunSpec> measurement(const std::string& backend) const;
  /// Runs every cell in `backend`, one run at a time, repetitions interleaved. `state` says what the device did during
  /// the latest run, if it is observed; read after each.
  void measure(const ExecutionBackend& backend, const DeviceState* state, const Deliver& deliver);
  /// What was measured before, to be scored again, in the order of the runs.
  void add_measured(const MeasuredRun& run);
  void add_state(const CellKey& cell, const DeviceState& state) { merge(states_[cell], state); }

  /// Needs predictions. Simulates again for the error budget.
  ValidationResult score() const;

  const Experiment& experiment() const { return experiment_; }
  const FileHashes& hashes() const { return hashes_; }
  const std::vector<Cell>& cells() const { return cells_; }
  const Figures& predicted() const { return predicted_; }
  const Figures& measured() const { return measured_; }
  const std::map<CellKey, DeviceState>& states() const { return states_; }
  std::vector<Disturbance> disturbances() const;
  /// What runs said of themselves in the other backend; of sentences that differ in numbers only, the first.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  Figures simulate(const std::vector<RunSpec>& runs, const ExecutionBackend& backend, const Deliver& deliver) const;
  Figures predict_without_losses() const;
  void explain(ValidationResult& result) const;
  double host_spread() const;

  const PolicyRegistry& policies_;
  const ValidationOptions options_;
  FileHashes hashes_;
  Experiment experiment_;
  std::unique_ptr<RunInputs> inputs_;
  std::vector<Cell> cells_;
  Figures predicted_, without_losses_, measured_;
  Predictions predictions_;
  std::map<CellKey, DeviceState> states_;
  std::vector<CanaryRun> canaries_;
  std::vector<std::string> notes_;
};

}  // namespace corun::validation
