#include "experiments/validate/validation.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "traces/base/units.h"

namespace corun::validation {

namespace {

constexpr double kDisturbed = 0.01;

Experiment in_world(Experiment experiment, const std::string& backend) {
  for (Scenario& scenario : experiment.scenarios) scenario.backend = backend;
  return experiment;
}

/// Fits host gaps, which takes simulations, so that later calls need not wait.
void prepare(const Experiment& experiment, RunInputs& run_inputs, unsigned jobs) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < experiment.scenarios.size(); i = next++) {
      const Scenario& scenario = experiment.scenarios[i];
      try {
        run_inputs.clients(scenario, scenario.seeds.front());
      } catch (const Error&) {
        // The run that needs it throws it again.
      }
    }
  };
  std::vector<std::jthread> workers;
  for (unsigned i = 0; i < jobs; ++i) workers.emplace_back(work);
}

CellKey key_of(const Experiment& experiment, const RunSpec& spec) {
  const Scenario& scenario = experiment.scenarios[spec.scenario];
  return {scenario.name, scenario.policies[spec.policy].label};
}

/// The device as block dispatch alone would have it: no gain or loss from sharing memory, caches and carve-outs.
ExecutionBackend lossless(const ExecutionBackend& backend) {
  const auto move = [](RunInput& input, double) {
    input.device.sm_rate_exponent = input.device.sm_fill_exponent = 1.0;
    input.device.carveout_change = CarveoutChange::kAnyTime;
    input.device.one_wave_drain = 0.0;
    input.device.mps_gap_scale = 1.0;
    input.device.mps_launch_stall = {};
  };
  return with_moved(backend, {.name = "losses", .uncertainty = "", .move = move}, 1.0);
}

/// Clients alone always count: what the others kept is relative to them.
bool moves_anything(const Constant& constant, const Cell& cell) {
  if (cell.tier == Tier::kSolo) return true;
  const bool has_frames = std::ranges::any_of(cell.clients, &CellClient::shows_frames);
  if (constant.name == "visits") return has_frames;
  if (constant.name == "sm_rate_exponent") return cell.tier == Tier::kConcurrent;
  return true;
}

std::string without_digits(std::string text) {
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

/// Of lines that differ in numbers only, the first is enough.
void add_lines(std::vector<std::string>& lines, const std::string& text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (std::ranges::find(lines, without_digits(line), without_digits) == lines.end()) lines.push_back(line);
    begin = end + 1;
  }
}

}  // namespace

Validation::Validation(const Experiment& experiment, const PolicyRegistry& policies, const ValidationOptions& options)
    : policies_(policies),
      options_(options),
      hashes_(make_plan(experiment).hashes),
      experiment_(with_solos(experiment, {options.window, options.keeps_warmup}, hashes_, options.only)),
      inputs_(std::make_unique<RunInputs>(experiment_, hashes_, policies)) {
  inputs_->check();
  prepare(experiment_, *inputs_, options.jobs);
  cells_ = make_cells(experiment_, hashes_, *inputs_, policies);
}

Figures Validation::simulate(const std::vector<RunSpec>& runs, const ExecutionBackend& backend,
                             const Deliver& deliver) const {
  Figures figures;
  run_plan(experiment_, {runs, hashes_}, *inputs_, policies_, {options_.jobs, nullptr, {}, backend},
           [&](const RunSpec& spec, const RunOutcome& outcome) {
             const CellKey cell = key_of(experiment_, spec);
             if (outcome.error) {
               figures.add_failure(cell, outcome.error->what());
             } else {
               figures.add(cell, spec.seed, outcome.metrics);
             }
             if (deliver) deliver(experiment_, spec, outcome);
           });
  return figures;
}

void Validation::predict(const Deliver& deliver) {
  predicted_ = simulate(prediction_runs(experiment_, cells_, hashes_), options_.predicted_in, deliver);
  find_bounds(cells_, predicted_);
  without_losses_ = predict_without_losses();
  predictions_ = publish(experiment_, hashes_, cells_, predicted_, without_losses_);
}

std::vector<RunSpec> Validation::measurement(const std::string& backend) const {
  return measurement_runs(in_world(experiment_, backend), cells_, hashes_, options_.repetitions, options_.has_canary);
}

void Validation::measure(const ExecutionBackend& backend, const DeviceState* state, const Deliver& deliver) {
  CORUN_ASSERT(!predictions_.sha256.empty(), "what is measured must not be known before what is predicted");
  const Experiment there = in_world(experiment_, backend.name);
  for (const RunSpec& spec : measurement(backend.name)) {
    const RunOutcome outcome = run_one(there, spec, *inputs_, policies_, backend);
    add_measured({key_of(experiment_, spec), spec.seed, there.scenarios[spec.scenario].horizon, outcome.metrics,
                  outcome.error ? outcome.error->what() : std::string(), outcome.notes});
    if (state != nullptr) add_state(key_of(experiment_, spec), *state);
    if (deliver) deliver(there, spec, outcome);
  }
}

void Validation::add_measured(const MeasuredRun& run) {
  if (run.error.empty()) {
    measured_.add(run.cell, run.seed, run.metrics);
  } else {
    measured_.add_failure(run.cell, run.error);
  }
  add_lines(notes_, run.notes);
  const auto scenario = std::ranges::find(experiment_.scenarios, run.cell.scenario, &Scenario::name);
  if (scenario != experiment_.scenarios.end() && run.horizon != scenario->horizon)
    add_lines(notes_, fmt::format("{} was measured until {} and is predicted until {}", run.cell.scenario,
                                  format_duration(run.horizon), format_duration(scenario->horizon)));
  const bool is_of_canary = run.cell.scenario == experiment_.scenarios.back().name;
  const bool follows_canary = !canaries_.empty() && canaries_.back().cell.scenario.empty();
  if (is_of_canary) {
    const auto rate = std::ranges::find(run.metrics, "throughput_per_s", &Metric::name);
    canaries_.push_back({{}, 0, rate == run.metrics.end() ? std::nan("") : rate->value});
  } else if (follows_canary) {
    canaries_.back().cell = run.cell;
    canaries_.back().seed = run.seed;
  }
}

std::vector<Disturbance> Validation::disturbances() const {
  std::vector<double> rates;
  for (const CanaryRun& canary : canaries_)
    if (std::isfinite(canary.rate_per_s)) rates.push_back(canary.rate_per_s);
  if (rates.empty()) return {};
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
  std::ranges::nth_element(rates, middle);
  std::vector<Disturbance> disturbances;
  for (const CanaryRun& canary : canaries_) {
    const double change = canary.rate_per_s / *middle - 1;
    if (!(std::abs(change) <= kDisturbed)) disturbances.push_back({canary.cell, canary.seed, change});
  }
  return disturbances;
}

Figures Validation::predict_without_losses() const {
  std::vector<Cell> concurrent;
  std::ranges::copy_if(cells_, std::back_inserter(concurrent),
                       [](const Cell& cell) { return cell.tier == Tier::kConcurrent; });
  return simulate(prediction_runs(experiment_, concurrent, hashes_), lossless(options_.predicted_in), {});
}

/// Mean over the host-bound clients.
double Validation::host_spread() const {
  double sum = 0;
  std::size_t count = 0;
  for (const Cell& cell : cells_) {
    const bool is_counted = cell.tier == Tier::kSolo && cell.clients.front().bound != Bound::kDevice;
    if (!is_counted) continue;
    sum += spread_alone(cell.clients.front(), measured_);
    ++count;
  }
  return count == 0 ? 0.0 : sum / static_cast<double>(count);
}

void Validation::explain(ValidationResult& result) const {
  for (const Constant& constant : model_constants(host_spread(), experiment_.scenarios.front().device_facts.spreads)) {
    std::vector<Cell> moved;
    std::ranges::copy_if(cells_, std::back_inserter(moved),
                         [&](const Cell& cell) { return moves_anything(constant, cell); });
    const std::vector<RunSpec> runs = prediction_runs(experiment_, moved, hashes_, 1);
    const Figures up = simulate(runs, with_moved(options_.predicted_in, constant, 1.0), {});
    const Figures down = simulate(runs, with_moved(options_.predicted_in, constant, -1.0), {});
    result.effects.push_back(effect_of(constant, result.rows, cells_, predicted_, up, down));
  }
  result.explanations = explain_errors(result.rows, result.effects);
}

ValidationResult Validation::score() const {
  ValidationResult result;
  result.rows = validation::score(cells_, predicted_, measured_, without_losses_);
  result.groups = summarise(result.rows);
  result.rankings = rank(cells_, predicted_, measured_);
  if (options_.has_budget) explain(result);
  return result;
}

}  // namespace corun::validation
