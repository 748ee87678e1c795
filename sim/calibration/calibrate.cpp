#include "sim/calibration/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "sim/calibration/probes/probe_process.h"
#include "sim/executor/host/mps_daemon.h"
#include "sim/executor/host/wall_clock.h"
#include "traces/base/error.h"

namespace corun::calibration {

namespace {

using executor::MpsDaemon;
using executor::WallClock;
using Processes = std::vector<std::unique_ptr<ProbeProcess>>;

constexpr std::int64_t kStartDelayNs = 20'000'000;

class Measurement {
 public:
  explicit Measurement(const CalibrateOptions& options) : options_(options) {}

  Samples run() {
    const std::vector<Trial> trials = wanted_trials();
    Duration left{};
    for (const Trial& trial : trials) left += trial.expected();
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (options_.is_interrupted && options_.is_interrupted()) break;
      if (options_.on_trial) options_.on_trial(trials[i], i + 1, trials.size(), left);
      left -= trials[i].expected();
      for (std::uint32_t repetition = 0; repetition < trials[i].repetitions; ++repetition) run(trials[i], repetition);
      if (i == 0) throw_if_failed(samples_.front());
    }
    return std::move(samples_);
  }

 private:
  std::vector<Trial> wanted_trials() const {
    std::vector<Trial> trials;
    for (const Trial& trial : calibration_plan()) {
      const bool is_first = trials.empty();  // the device's properties: whether there is a device
      const bool is_wanted =
          options_.groups.empty() || std::ranges::find(options_.groups, trial.group) != options_.groups.end();
      if (is_first || is_wanted) trials.push_back(trial);
    }
    return trials;
  }

  void run(const Trial& trial, std::uint32_t repetition) {
    std::vector<Sample> all;
    for (std::uint32_t role = 0; role < trial.probes.size(); ++role) {
      const ProbeChoice& choice = trial.probes[role];
      Sample& sample = all.emplace_back();
      sample.settings = choice.settings;
      if (trial.under_mps) sample.settings["thread_percent"] = choice.thread_percent;
    }
    std::size_t role = 0;
    try {
      if (trial.under_mps) start_daemon();
      measure(trial, all, role);
    } catch (const Error& error) {
      for (Sample& sample : all) sample.series.clear();
      all[role].failure = error.message() + (error.help().empty() ? "" : "; " + error.help());
      all[role].failure_kind = static_cast<int>(error.kind());
    }
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      all[i].trial = trial.name;
      all[i].repetition = repetition;
      all[i].role = i;
      all[i].probe = trial.probes[i].probe;
      samples_.push_back(std::move(all[i]));
    }
  }

  /// One after another they get ready, so that each measures its own kernels undisturbed; then all begin at once.
  /// `role` says which process's turn it is.
  void measure(const Trial& trial, std::vector<Sample>& all, std::size_t& role) {
    Processes processes;
    for (role = 0; role < trial.probes.size(); ++role) {
      processes.push_back(std::make_unique<ProbeProcess>(words(trial.probes[role]), environment(trial, role)));
      processes.back()->await_ready(options_.patience);
    }
    const std::int64_t start = WallClock::monotonic_ns() + kStartDelayNs;
    for (const auto& process : processes) process->begin_at(start);
    for (role = 0; role < trial.probes.size(); ++role) {
      const Sample found = processes[role]->await_sample(trial.expected() + options_.patience);
      all[role].series = found.series;
      all[role].texts = found.texts;
    }
  }

  std::vector<std::string> words(const ProbeChoice& choice) const {
    std::vector<std::string> words = {options_.probe, choice.probe, "library=" + options_.library,
                                      fmt::format("device={}", options_.device)};
    for (const auto& [key, value] : choice.settings) words.push_back(fmt::format("{}={}", key, value));
    return words;
  }

  std::vector<std::string> environment(const Trial& trial, std::size_t role) const {
    if (!trial.under_mps) return {};
    std::vector<std::string> variables = daemon_->environment();
    variables.push_back(fmt::format("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE={}", trial.probes[role].thread_percent));
    return variables;
  }

  /// Throws again what it threw first: it is not tried for every trial.
  void start_daemon() {
    if (daemon_) return;
    if (no_daemon_) throw *no_daemon_;
    try {
      daemon_ = std::make_unique<MpsDaemon>(options_.control.empty() ? MpsDaemon::kControl : options_.control);
    } catch (const Error& error) {
      no_daemon_ = error;
      throw;
    }
  }

  void throw_if_failed(const Sample& sample) const {
    if (sample.failure.empty()) return;
    throw Error(static_cast<ErrorKind>(sample.failure_kind), {}, sample.failure,
                "`simcli calibrate --from FILE` concludes from stored samples without a GPU");
  }

  const CalibrateOptions& options_;
  std::unique_ptr<MpsDaemon> daemon_;
  std::optional<Error> no_daemon_;
  Samples samples_;
};

}  // namespace

Samples measure(const CalibrateOptions& options) { return Measurement(options).run(); }

}  // namespace corun::calibration
