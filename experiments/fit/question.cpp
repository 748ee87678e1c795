#include "experiments/fit/question.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "experiments/advise/asked/asked_experiment.h"
#include "traces/base/error.h"
#include "traces/base/units.h"

namespace corun {

namespace {

constexpr const char* kTime = "horizon: 10s\nwarmup: 1s";
constexpr const char* kTimeToSettle = "horizon: 50s\nwarmup: 20s";  ///< of settings, which rivals change every 5 s
constexpr double kMostPeriods = 1.5;  ///< of the 99th percentile, unless stated: at most one frame of 100 a period late

int whole(const std::string& option, const std::string& text) {
  const auto value = parse_real(text);
  constexpr double kMost = 1000;
  if (value && *value >= 1 && *value <= kMost && std::floor(*value) == *value) return static_cast<int>(*value);
  throw Error(ErrorKind::kInput, {},
              fmt::format("{}: found `{}`, expected a number from 1 to {}", option, text, kMost));
}

/// What a policy of games is told of the frame rate: its defaults are for 30 frames a second.
std::string policy_text(const std::string& policy, double fps) {
  if (policy == "djay") return fmt::format("djay: {{ frame_budget: {:.6g}ms }}", 1e3 / fps);
  if (policy == "stimpack")
    return fmt::format("stimpack: {{ demote_below: {:.6g}, promote_all_from: {:.6g}, promote_fps: {:.6g} }}",
                       fps * 29 / 30, fps * 33 / 30, fps * 38 / 30);
  return policy;
}

void take_policies(const FitWords& words, FitQuestion& question) {
  question.policies = words.policies;
  if (words.policies.empty()) {
    question.policies = {"passthrough"};
    if (!words.quality.empty()) question.policies.insert(question.policies.end(), {"djay", "stimpack"});
    if (question.has_servers()) question.policies.emplace_back(kMps);
  }
  std::ranges::stable_partition(question.policies, [](const std::string& policy) { return policy != kMps; });
  question.policies_with_fillers = question.policies;
  if (words.policies.empty() && !question.has_servers()) question.policies_with_fillers.emplace_back("pilotfish");
}

void take_limits(const FitWords& words, FitQuestion& question) {
  if (!words.fps.empty()) question.fps = positive("--fps", words.fps, parse_real(words.fps), "frames per second: 60");
  question.most_p99_ms = words.p99.empty() ? kMostPeriods * 1e3 / question.fps
                                           : positive("--p99", words.p99, milliseconds(words.p99), "a time: 20ms");
  if (!words.low.empty())
    question.least_1low = positive("--low", words.low, parse_real(words.low), "frames per second: 50");
  if (!words.missed.empty())
    question.most_missed = positive("--missed", words.missed, parse_real(words.missed), "a part: 1%");
}

}  // namespace

FitQuestion question_of(const FitWords& words, const PolicyRegistry& policies) {
  FitQuestion question;
  std::vector<std::string> traces = {words.game};
  traces.insert(traces.end(), words.fillers.begin(), words.fillers.end());
  const AskedPrograms asked = programs_of(traces, policies);
  std::vector<AskedProgram> programs = asked.programs;
  state_keys(programs, words.rates, words.keys);
  question.game = programs.front();
  question.fillers = {programs.begin() + 1, programs.end()};
  question.gpu = gpu_of(words.gpu, asked);
  question.quality = words.quality;
  take_limits(words, question);
  if (!words.most.empty()) question.most_sessions = whole("--most", words.most);
  take_policies(words, question);
  return question;
}

bool FitQuestion::has_servers() const {
  return game.is_server() || std::ranges::any_of(fillers, &AskedProgram::is_server);
}

namespace {

std::string clients_of(const FitQuestion& question, const FitTrial& trial, const FitSetting& setting) {
  const double fps = question.fps * trial.load;
  std::map<std::string, std::string> keys = {{"count", fmt::format("{}", trial.sessions)}};
  if (setting.has_frames)
    keys["pacing"] =
        setting.has_limiter ? fmt::format("{{ rate: {:.6g}/s, vsync: false }}", fps) : fmt::format("{:.6g}fps", fps);
  if (!question.quality.empty()) keys["quality"] = question.quality;
  std::string text = "    clients:\n";
  if (trial.sessions > 0) text += fmt::format("      - {}\n", client_text(question.game, keys));
  if (!trial.has_fillers) return text;
  for (const AskedProgram& filler : question.fillers) text += fmt::format("      - {}\n", client_text(filler));
  return text;
}

std::string name_of(const FitTrial& trial) {
  std::string name = fmt::format("{}_session{}", trial.sessions, trial.sessions == 1 ? "" : "s");
  if (trial.has_fillers) name += "_and_fillers";
  if (trial.load != 1) name += fmt::format("_at_{:.4g}", trial.load);
  return name;
}

std::string time_of(const FitQuestion& question, const FitSetting& setting) {
  if (setting.horizon_s > 0) return fmt::format("horizon: {:.1f}s\nwarmup: 1s", setting.horizon_s);
  return question.quality.empty() ? kTime : kTimeToSettle;
}

}  // namespace

std::string fit_experiment(const FitQuestion& question, const std::vector<FitTrial>& trials,
                           const std::vector<std::string>& policies, const FitSetting& setting) {
  std::vector<std::string> items;
  for (const std::string& policy : policies)
    if (policy != kMps) items.push_back(policy_text(policy, question.fps));
  std::string text = fmt::format(
      "# What `simcli fit` tried.\nversion: 1\nname: fit\ndevice: {}\n{}\nseeds: 2\n"
      "defaults: {{ phase: random, first_job: random }}\npolicies: [{}]\nrecord: {{ frames: none, decisions: none }}\n"
      "scenarios:\n",
      question.gpu, time_of(question, setting),
      items.empty() ? "passthrough" : fmt::format("{}", fmt::join(items, ", ")));
  for (const FitTrial& trial : trials) {
    const std::string clients = clients_of(question, trial, setting);
    if (!items.empty()) text += fmt::format("  - name: {}\n{}", name_of(trial), clients);
    if (items.size() < policies.size())
      text +=
          fmt::format("  - name: {}_under_mps\n    device: {{ sharing: concurrent }}\n    policies: [passthrough]\n{}",
                      name_of(trial), clients);
  }
  return text;
}

}  // namespace corun
