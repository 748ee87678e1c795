#include "experiments/fit/fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "experiments/advise/simulated_means.h"
#include "experiments/question/experiment.h"
#include "experiments/run/clients/captured_gpu.h"
#include "experiments/run/clients/client_builder.h"
#include "experiments/run/clients/doubts.h"
#include "experiments/run/plan.h"
#include "sim/workload/capture/frame_draws.h"
#include "sim/workload/capture/frames.h"
#include "traces/base/error.h"

namespace corun {

namespace {

constexpr std::size_t kFewestFrames = 100;
constexpr int kWholeCurve = 8;  ///< up to so many sessions every number is a point
/// A game has stalls of its own if it has at least so much of the rate alone, and not more of its frames are longer on
/// the GPU than a period.
constexpr double kOwnPart = 0.9, kSlowFrames = 0.001;

/// The most sessions that hold, as far as is known, and what to try next.
class Border {
 public:
  explicit Border(int most) : most_(most) {}

  void learn(int sessions, bool holds) {
    if (holds) holds_ = std::max(holds_, sessions);
    if (!holds && (fails_ == 0 || sessions < fails_)) fails_ = sessions;
    if (fails_ > 0) holds_ = std::min(holds_, fails_ - 1);
  }

  int sessions() const { return holds_; }

  /// 0 = the border is known. At first its neighbours, then by halving, or by longer and longer steps.
  int next() {
    ++tries_;
    if (fails_ == 0) return holds_ >= most_ ? 0 : std::min(most_, holds_ + tries_ * tries_);
    if (fails_ - holds_ <= 1) return 0;
    return tries_ == 1 ? fails_ - 1 : (holds_ + fails_) / 2;
  }

 private:
  int most_, holds_ = 0, fails_ = 0, tries_ = 0;
};

class Fit {
 public:
  Fit(const FitQuestion& question, const PolicyRegistry& policies, unsigned jobs,
      const std::function<void(const std::string&)>& tick)
      : question_(question), policies_(policies), tick_(tick), means_(policies, jobs) {}

  FitAnswer answer() {
    look_at_capture();
    add_curves();
    find_borders();
    for (const std::string& warning : means_.warnings())  // the first session's; clock and pacing are in the text
      if (!warning.starts_with(question_.game.name + "#") && !warning.ends_with(kCaptureUncapped) &&
          warning.find(kPacedBeyond) == std::string::npos)
        answer_.warnings.push_back(warning);
    return answer_;
  }

 private:
  using Key = std::pair<std::string, FitTrial>;  // policy first

  void look_at_capture() {
    PolicyRegistry policies = policies_;
    const Experiment experiment =
        parse_experiment(fit_experiment(question_, {{}}, {"passthrough"}), kMadeExperiment, {}, policies);
    const FileHashes hashes = make_plan(experiment).hashes;
    ClientBuilder builder(hashes, true);
    const Scenario& scenario = experiment.scenarios.front();
    const auto workload = builder.as_captured(scenario, scenario.clients.front(), scenario.seeds.front()).workload;
    if (workload->job_kind != JobKind::kFrame)
      throw Error(ErrorKind::kInput, SourceLocation{question_.game.trace},
                  "it has no frames, expected a capture of a game",
                  "`simcli advise` says whether programs may share a GPU");
    if (workload->jobs.size() < kFewestFrames)
      throw Error(ErrorKind::kInput, SourceLocation{question_.game.trace},
                  fmt::format("it has {} frame{}, and sessions are counted by the 99th percentile of frame times: "
                              "expected {} frames at least",
                              workload->jobs.size(), workload->jobs.size() == 1 ? "" : "s", kFewestFrames),
                  "a log of a minute of play; `simcli info` says what of a log is read");
    answer_.whose_times = whose_times(workload->captured_on, scenario.device);
    answer_.has_limiter = workload->limiter_period > Duration{};
    answer_.is_lower_bound = may_have_low_clock(*workload);
    answer_.has_unknown_draws = FrameDraws::are_unknown(*workload);
    const auto is_slow = [&](const Job& frame) { return to_seconds(workload->device_time(frame)) > 1 / question_.fps; };
    has_slow_frames_ = static_cast<double>(std::ranges::count_if(workload->jobs, is_slow)) >
                       kSlowFrames * static_cast<double>(workload->jobs.size());
  }

  /// Frames take as long as in the capture, whatever the device is called.
  std::string whose_times(const CapturedDevice& captured, const DeviceSpec& device) const {
    if (captured.name.empty())
      return fmt::format("The capture does not name its GPU: its times are taken as those of {}.", question_.gpu);
    if (!is_another_gpu(captured, device)) return "";
    return fmt::format("Its times are those of {}, and not scaled to {}.", captured.name, question_.gpu);
  }

  /// Each with one session; a policy may be refused, the driver's turns may not.
  void add_curves() {
    for (const bool has_fillers : {false, true}) {
      if (has_fillers && question_.fillers.empty()) continue;
      const std::vector<std::string>& policies = has_fillers ? question_.policies_with_fillers : question_.policies;
      for (const std::string& policy : policies) {
        FitCurve curve{.policy = policy, .has_fillers = has_fillers};
        try {
          run({{{1, has_fillers, 1}, {policy}}});
        } catch (const Error& error) {
          if (policies.size() == 1 || policy == "passthrough") throw;
          curve.refused = error.message();
        }
        answer_.curves.push_back(std::move(curve));
      }
    }
  }

  void find_borders() {
    simulate_first();
    search(&FitCurve::sessions, 1, &FitPoint::holds, [&](const FitCurve& curve) {
      Border known(question_.most_sessions);
      for (const auto& [key, point] : known_)
        if (is_of(curve, key, 1)) known.learn(point.sessions, point.holds);
      return known;
    });
    search(&FitCurve::surely, 1 + kGameError, &FitPoint::holds, [&](const FitCurve& curve) {
      Border below(question_.most_sessions);
      below.learn(curve.sessions + 1, false);
      return below;
    });
    search(&FitCurve::perhaps, 1 - kGameError, &FitPoint::may_hold, [&](const FitCurve& curve) {
      Border above(question_.most_sessions);
      above.learn(curve.sessions, true);
      return above;
    });
    for (FitCurve& curve : answer_.curves)
      for (const auto& [key, point] : known_)
        if (is_of(curve, key, 1)) curve.points.push_back(point);
  }

  static bool is_of(const FitCurve& curve, const Key& key, double load) {
    return key.first == curve.policy && key.second.has_fillers == curve.has_fillers && key.second.load == load;
  }

  /// As many as a session's part of the device allows.
  void simulate_first() {
    const int most = std::min(question_.most_sessions, static_cast<int>(1 / std::max(busy_, 1e-3)) + 2);
    std::vector<int> numbers;
    for (int i = 1; i < std::min(most, kWholeCurve); ++i)
      numbers.push_back(1 + i * (most - 1) / (std::min(most, kWholeCurve) - 1));
    run(trials_of(numbers));
  }

  std::map<FitTrial, std::vector<std::string>> trials_of(const std::vector<int>& numbers) const {
    std::map<FitTrial, std::vector<std::string>> trials;
    for (const FitCurve& curve : answer_.curves)
      if (curve.refused.empty())
        for (const int sessions : numbers) trials[{sessions, curve.has_fillers, 1}].push_back(curve.policy);
    return trials;
  }

  /// Finds the border of each curve, from what `begin` knows of it.
  template <class Begin>
  void search(int FitCurve::*result, double load, bool FitPoint::*holds, Begin begin) {
    std::map<FitCurve*, Border> borders;
    for (FitCurve& curve : answer_.curves)
      if (curve.refused.empty()) borders.emplace(&curve, begin(curve));
    for (bool is_known = false; !is_known;) {
      std::map<FitTrial, std::vector<std::string>> trials;
      std::vector<std::pair<FitCurve*, FitTrial>> asked;
      for (auto& [curve, border] : borders)
        if (const int sessions = border.next(); sessions > 0) {
          asked.emplace_back(curve, FitTrial{sessions, curve->has_fillers, load});
          trials[asked.back().second].push_back(curve->policy);
        }
      run(trials);
      for (const auto& [curve, trial] : asked)
        borders.at(curve).learn(trial.sessions, known_.at({curve->policy, trial}).*holds);
      is_known = asked.empty();
    }
    for (const auto& [curve, border] : borders) curve->*result = border.sessions();
  }

  /// Those of the same policies in one experiment.
  void run(const std::map<FitTrial, std::vector<std::string>>& trials) {
    std::map<std::vector<std::string>, std::vector<FitTrial>> by_policies;
    for (const auto& [trial, policies] : trials) by_policies[policies].push_back(trial);
    for (const auto& [policies, its] : by_policies) simulate(its, policies);
  }

  void simulate(const std::vector<FitTrial>& trials, const std::vector<std::string>& policies) {
    if (tick_) tick_(fmt::format("{} to {} sessions {}", trials.front().sessions, trials.back().sessions, policies));
    const auto simulated = means_.of(fit_experiment(question_, trials, policies, answer_.has_limiter));
    for (std::size_t i = 0; i < simulated.size(); ++i)
      take(trials[i / policies.size()], policies[i % policies.size()], simulated[i]);
  }

  void take(const FitTrial& trial, const std::string& policy, const SimulatedBounds& simulated) {
    FitPoint& point = known_[{policy, trial}];
    point.sessions = trial.sessions;
    point.kept.resize(trial.has_fillers ? question_.fillers.size() : 0);
    point.kept_band.resize(point.kept.size());
    for (const SimulatedRuns& runs : simulated) {
      const auto& clients = runs.clients;
      const ClientMeans worst = worst_session(clients);
      if (known_.size() == 1) learn_own_fps(worst.of("fps_mean").value_or(0));
      for (const auto& [name, means] : clients)
        if (is_session(name) && means.of("fps_mean") == worst.of("fps_mean"))
          widen(point.fps_band, runs.band(Bands::built_in(), name, "fps_mean"), 1);
      widen(point.fps, worst.of("fps_mean"));
      widen(point.low, worst.of("fps_1low"));
      widen(point.p99_ms, worst.of("frame_time_p99_ms"));
      widen(point.missed, worst.of("missed_frame_ratio"));
      if (!question_.quality.empty()) widen(point.quality, worst.of("quality_mean"));
      for (std::size_t i = 0; i < point.kept.size(); ++i) take_filler(question_.fillers[i].name, runs, i, point);
      const bool holds = holds_rate(worst, trial.load);
      point.holds = point.holds && holds;
      point.may_hold = point.may_hold || holds;
      busy_ = std::max(busy_, clients.at(question_.game.name).of("gpu_busy_ratio").value_or(0));
    }
  }

  static void take_filler(const std::string& name, const SimulatedRuns& runs, std::size_t i, FitPoint& point) {
    const ClientMeans& means = runs.clients.at(name);
    widen(point.kept[i], means.kept());
    const double alone = means.of("solo_throughput_per_s").value_or(0);
    if (alone > 0) widen(point.kept_band[i], runs.band(Bands::built_in(), name, "throughput_per_s"), 1 / alone);
  }

  /// From the first trial, of one session.
  void learn_own_fps(double alone) {
    const bool is_short = alone < kHeldPart * question_.fps && alone >= kOwnPart * question_.fps;
    if (is_short && !has_slow_frames_) answer_.own_fps = alone;
  }

  bool is_session(const std::string& client) const {
    return client == question_.game.name || client.starts_with(question_.game.name + "#");
  }

  /// Of each figure the worst of all sessions. A session that was turned away has none.
  ClientMeans worst_session(const std::map<std::string, ClientMeans>& clients) const {
    ClientMeans worst;
    const auto take_worst = [&](const char* metric, bool is_more_better) {
      std::optional<double> found;
      for (const auto& [name, means] : clients) {
        if (!is_session(name)) continue;
        const double value = means.of("refused").value_or(0) > 0 && is_more_better ? 0 : means.of(metric).value_or(0);
        if (!found || (is_more_better ? value < *found : value > *found)) found = value;
      }
      if (found) worst.add(metric, *found);
    };
    for (const char* metric : {"fps_mean", "fps_1low", "quality_mean"}) take_worst(metric, true);
    for (const char* metric : {"frame_time_p99_ms", "missed_frame_ratio"}) take_worst(metric, false);
    worst.end_run();
    return worst;
  }

  bool holds_rate(const ClientMeans& worst, double load) const {
    const auto of = [&](const char* metric) { return worst.of(metric).value_or(0); };
    return of("fps_mean") >= kHeldPart * answer_.own_fps.value_or(question_.fps) * load &&
           of("frame_time_p99_ms") <= question_.most_p99_ms && of("fps_1low") >= question_.least_1low.value_or(0) &&
           of("missed_frame_ratio") <= question_.most_missed.value_or(1);
  }

  const FitQuestion& question_;
  const PolicyRegistry& policies_;
  const std::function<void(const std::string&)>& tick_;
  SimulatedMeans means_;
  FitAnswer answer_;
  std::map<Key, FitPoint> known_;
  double busy_ = 0;  ///< most of the device's time that a session took
  bool has_slow_frames_ = false;
};

}  // namespace

FitAnswer fit(const FitQuestion& question, const PolicyRegistry& policies, unsigned jobs,
              const std::function<void(const std::string&)>& tick) {
  return Fit(question, policies, jobs, tick).answer();
}

}  // namespace corun
