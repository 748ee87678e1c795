#include "experiments/fit/fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ranges>

#include "experiments/advise/figures/simulated_means.h"
#include "experiments/advise/figures/slower_hosts.h"
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
constexpr double kShortest_s = 3, kLongest_s = 120;  ///< simulated, of servers
constexpr double kEnough = 1.1;                      ///< so many times the requests that a percentile needs
constexpr int kWholeCurve = 8;                       ///< up to so many sessions every number is a point
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
    look_at_program();
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

  /// Only a game has frames to count; others need a server, which says what is enough.
  void look_at_program() {
    setting().has_frames = !question_.game.is_server() && !(question_.has_servers() && question_.game.trace.empty());
    if (setting().has_frames) look_at_capture();
  }

  FitSetting& setting() { return answer_.setting; }

  void look_at_capture() {
    if (question_.game.trace.empty())
      throw Error(ErrorKind::kInput, {},
                  fmt::format("`{}` has no capture, expected one of a game", question_.game.name),
                  "sessions are counted of captured games, and of servers");
    PolicyRegistry policies = policies_;
    const Experiment experiment = parse_experiment(
        fit_experiment(question_, {{}}, {"passthrough"}, {.has_frames = false}), kMadeExperiment, {}, policies);
    const FileHashes hashes = make_plan(experiment).hashes;
    ClientBuilder builder(hashes, true);
    const Scenario& scenario = experiment.scenarios.front();
    const auto workload = builder.as_captured(scenario, scenario.clients.front(), scenario.seeds.front()).workload;
    setting().has_frames = workload->job_kind == JobKind::kFrame;
    if (!setting().has_frames && question_.has_servers()) return;
    if (!setting().has_frames)
      throw Error(ErrorKind::kInput, SourceLocation{question_.game.trace},
                  "it has no frames, expected a capture of a game",
                  "`simcli advise` says whether programs may share a GPU; a server states `server`");
    if (workload->jobs.size() < kFewestFrames)
      throw Error(ErrorKind::kInput, SourceLocation{question_.game.trace},
                  fmt::format("it has {} frame{}, and sessions are counted by the 99th percentile of frame times: "
                              "expected {} frames at least",
                              workload->jobs.size(), workload->jobs.size() == 1 ? "" : "s", kFewestFrames),
                  "a log of a minute of play; `simcli info` says what of a log is read");
    answer_.whose_times = whose_times(workload->captured_on, scenario.device);
    setting().has_limiter = workload->limiter_period > Duration{};
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

  /// Copies of a program without frames are counted next to servers alone.
  bool is_counted_next_to_servers() const { return !answer_.setting.has_frames && !question_.game.is_server(); }

  /// Each with one session, or, next to servers, with none; a policy may be refused, the driver's turns may not.
  void add_curves() {
    const int first = is_counted_next_to_servers() ? 0 : 1;
    for (const bool has_fillers : {false, true}) {
      if (has_fillers ? question_.fillers.empty() : is_counted_next_to_servers()) continue;
      const std::vector<std::string>& policies = has_fillers ? question_.policies_with_fillers : question_.policies;
      for (const std::string& policy : policies) {
        FitCurve curve{.policy = policy, .has_fillers = has_fillers};
        try {
          if (question_.has_servers()) settle({first, has_fillers, 1}, policy);
          run({{{first, has_fillers, 1}, {policy}}});
        } catch (const Error& error) {
          if (policies.size() == 1 || policy == "passthrough") throw;
          curve.refused = error.message();
        }
        answer_.curves.push_back(std::move(curve));
      }
    }
  }

  /// The time in which a server answers enough requests for a 99th percentile.
  void settle(const FitTrial& trial, const std::string& policy) {
    if (setting().horizon_s > 0) return;
    setting().horizon_s = kShortest_s;
    const auto simulated = means_.of(fit_experiment(question_, {trial}, {policy}, setting()));
    const double enough = std::ranges::min(simulated.front() | std::views::transform(&SimulatedRuns::enough));
    setting().horizon_s = std::clamp(kShortest_s * kEnough / std::max(enough, 1e-3), kShortest_s, kLongest_s);
  }

  void find_borders() {
    if (setting().has_frames) simulate_first();
    search(&FitCurve::sessions, 1, &FitPoint::holds, [&](const FitCurve& curve) {
      Border known(question_.most_sessions);
      for (const auto& [key, point] : known_)
        if (is_of(curve, key, 1)) known.learn(point.sessions, point.holds);
      return known;
    });
    const double error = setting().has_frames ? kGameError : 0;
    search(&FitCurve::surely, 1 + error, &FitPoint::surely_holds, [&](const FitCurve& curve) {
      Border below(question_.most_sessions);
      below.learn(curve.sessions + 1, false);
      return below;
    });
    search(&FitCurve::perhaps, 1 - error, &FitPoint::may_hold, [&](const FitCurve& curve) {
      Border above(question_.most_sessions);
      above.learn(curve.sessions, true);
      return above;
    });
    for (FitCurve& curve : answer_.curves)
      for (const auto& [key, point] : known_)
        if (is_of(curve, key, 1)) add_point(curve, point);
  }

  static void add_point(FitCurve& curve, const FitPoint& point) {
    curve.points.push_back(point);
    curve.basis = std::max(curve.basis, point.basis);
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
          if (!known_.contains({curve->policy, asked.back().second}))
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
    std::vector<SimulatedBounds> simulated = means_.of(fit_experiment(question_, trials, policies, setting()));
    add_slower(trials, policies, simulated);
    for (std::size_t i = 0; i < simulated.size(); ++i)
      take(trials[i / policies.size()], policies[i % policies.size()], simulated[i]);
  }

  /// Hosts may be slower in company, in turns and under MPS.
  void add_slower(const std::vector<FitTrial>& trials, const std::vector<std::string>& policies,
                  std::vector<SimulatedBounds>& simulated) {
    const auto policy_of = [&](std::size_t place) -> const std::string& { return policies[place % policies.size()]; };
    const auto group_of = [&](std::size_t place) {
      const std::string& policy = policy_of(place);
      return policy == "passthrough" || policy == kMps ? std::optional(policy) : std::nullopt;
    };
    const bool is_any =
        add_slower_hosts(programs(), simulated, group_of,
                         [&](const std::vector<AskedProgram>& slower, const std::vector<std::size_t>& places) {
                           FitQuestion question = question_;
                           question.game = slower.front();
                           question.fillers = {slower.begin() + 1, slower.end()};
                           std::vector<FitTrial> its;
                           for (const std::size_t place : places) its.push_back(trials[place / policies.size()]);
                           return means_.of(fit_experiment(question, its, {policy_of(places.front())}, setting()));
                         });
    answer_.has_slower_hosts = answer_.has_slower_hosts || is_any;
  }

  std::vector<AskedProgram> programs() const {
    std::vector<AskedProgram> all = {question_.game};
    all.insert(all.end(), question_.fillers.begin(), question_.fillers.end());
    return all;
  }

  void take(const FitTrial& trial, const std::string& policy, const SimulatedBounds& simulated) {
    FitPoint& point = known_[{policy, trial}];
    point.sessions = trial.sessions;
    point.basis = simulated.front().basis();
    point.kept.resize(trial.has_fillers ? question_.fillers.size() : 0);
    point.kept_band.resize(point.kept.size());
    for (const auto& [client, level] : simulated.front().servers) {
      const std::string& program = is_session(client) ? question_.game.name : client;
      const ServerShare share = server_share(client, simulated, Bands::built_in());
      const auto [its, is_first] = point.servers.try_emplace(program, share);
      if (!is_first) its->second = worse_of(its->second, share);
    }
    for (const SimulatedRuns& runs : simulated) {
      const auto& clients = runs.clients;
      for (std::size_t i = 0; i < point.kept.size(); ++i) take_filler(question_.fillers[i].name, runs, i, point);
      bool holds = true;
      if (setting().has_frames) {
        const ClientMeans worst = worst_session(clients);
        take_frames(runs, worst, point);
        holds = holds_rate(worst, trial.load);
      } else if (is_counted_next_to_servers()) {
        take_copies(runs, point);
      }
      point.holds = point.holds && holds;
      point.may_hold = point.may_hold || holds;
      if (trial.sessions > 0) busy_ = std::max(busy_, clients.at(question_.game.name).of("gpu_busy_ratio").value_or(0));
    }
    take_promises(point);
  }

  static void take_promises(FitPoint& point) {
    point.surely_holds = point.holds;
    for (const auto& [program, share] : point.servers) {
      point.holds = point.holds && share.keeps_by_figures();
      point.surely_holds = point.surely_holds && share.keeps_by_figures() && share.state() == PromiseState::kKept;
      point.may_hold = point.may_hold && (share.keeps_by_figures() || share.state() != PromiseState::kBroken);
    }
  }

  void take_frames(const SimulatedRuns& runs, const ClientMeans& worst, FitPoint& point) {
    if (known_.size() == 1) learn_own_fps(worst.of("fps_mean").value_or(0));
    for (const auto& [name, means] : runs.clients)
      if (is_session(name) && means.of("fps_mean") == worst.of("fps_mean"))
        widen(point.fps_band, runs.band(Bands::built_in(), name, "fps_mean"), 1);
    widen(point.fps, worst.of("fps_mean"));
    widen(point.low, worst.of("fps_1low"));
    widen(point.p99_ms, worst.of("frame_time_p99_ms"));
    widen(point.missed, worst.of("missed_frame_ratio"));
    if (!question_.quality.empty()) widen(point.quality, worst.of("quality_mean"));
  }

  /// The one that keeps least. A game without a capture has no frame rate to hold here.
  void take_copies(const SimulatedRuns& runs, FitPoint& point) const {
    const ClientMeans* worst = nullptr;
    const std::string* name_of_worst = nullptr;
    for (const auto& [name, means] : runs.clients) {
      if (!is_session(name)) continue;
      if (means.of("fps_mean"))
        throw Error(ErrorKind::kInput, {}, fmt::format("`{}` is a game without a capture", question_.game.name),
                    "sessions are counted of captured games, and of servers");
      if (worst == nullptr || means.kept() < worst->kept()) worst = &means, name_of_worst = &name;
    }
    if (worst == nullptr) return;
    widen(point.copies_kept, worst->kept());
    const double alone = worst->of("solo_throughput_per_s").value_or(0);
    if (alone > 0)
      widen(point.copies_band, runs.band(Bands::built_in(), *name_of_worst, "throughput_per_s"), 1 / alone);
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
