#include "experiments/commands/experiment/captures_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "experiments/advise/asked/asked_program.h"
#include "traces/base/error.h"
#include "traces/reader.h"

namespace corun {

namespace {

constexpr std::string_view kMps = "mps";

bool is_called_experiment(const std::string& file) { return file.ends_with(".yaml") || file.ends_with(".yml"); }

bool is_capture(const std::string& file) {
  if (is_called_experiment(file) || !std::filesystem::is_regular_file(file)) return false;
  const SourceFile source = read_source(file);
  return std::ranges::any_of(importers(), [&](const auto& importer) { return importer->sniff(source) > 0; });
}

std::string scenario_text(const std::string& name, const std::string& sharing, const std::vector<std::string>& policies,
                          const std::vector<AskedProgram>& programs) {
  return fmt::format("  - name: {}\n    device: {{ sharing: {} }}\n    policies: [{}]\n{}", name, sharing,
                     fmt::join(policies, ", "), clients_text(programs));
}

}  // namespace

bool names_experiment(const CapturesWords& words) {
  const auto experiment = std::ranges::find_if(words.files, is_called_experiment);
  if (words.files.size() > 1 && experiment != words.files.end())
    throw Error(ErrorKind::kInput, {*experiment}, "an experiment file stands among other files",
                "one experiment file, or captures without one");
  if (words.files.size() > 1 || is_capture(name_and_file(words.files.front()).second)) return false;
  if (words.has_options())
    throw Error(ErrorKind::kInput, {words.files.front()},
                "`--gpu`, `--policy`, `--solo-rate` and `--write` are for captures, and this is no capture",
                "an experiment file says these itself: `device`, `policies`, `solo_rate` of its clients");
  return true;
}

std::string captures_experiment(const CapturesWords& words, const std::vector<std::string>& sets) {
  std::vector<AskedProgram> programs = asked_programs(words.files);
  state_keys(programs, words.rates, sets);
  for (AskedProgram& program : programs) {
    if (!std::filesystem::exists(program.trace))
      throw Error(ErrorKind::kInput, {program.trace}, "there is no such file");
    make_absolute(program);
  }
  std::vector<std::string> policies = words.policies;
  const bool has_mps = std::erase(policies, kMps) > 0;
  if (policies.empty() && !has_mps) policies.push_back("passthrough");

  std::vector<std::string> names;
  for (const AskedProgram& program : programs) names.push_back(program.name);
  std::string text = fmt::format(
      "# Captures together, as `simcli run` made it of their names.\nversion: 1\nname: {}\ndevice: {}\nhorizon: 10s\n"
      "warmup: 1s\nseeds: 3\ndefaults: {{ phase: random }}\nscenarios:\n",
      fmt::join(names, "_with_"), words.gpu.empty() ? "h200" : words.gpu);
  if (!policies.empty()) text += scenario_text("in_turns", "time_sliced", policies, programs);
  if (has_mps) text += scenario_text(std::string(kMps), "concurrent", {"passthrough"}, programs);
  return text;
}

}  // namespace corun
