#include "experiments/advise/ways.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace corun {

namespace {

/// "{ a: 30, b: 70 }"
std::string by_program(const AdviceQuestion& question, const std::vector<int>& parts) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < parts.size(); ++i)
    words.push_back(fmt::format("{}: {}", question.programs[i].name, parts[i]));
  return fmt::format("{{ {} }}", fmt::join(words, ", "));
}

std::string label_of(const AdviceQuestion& question, const std::string& what, const std::vector<int>& parts,
                     const std::string& unit) {
  std::vector<std::string> words = {what};
  for (std::size_t i = 0; i < parts.size(); ++i)
    words.push_back(fmt::format("{} {}{}", question.programs[i].name, parts[i], unit));
  return fmt::format("{}", fmt::join(words, ", "));
}

SharingWay split(const AdviceQuestion& question, const std::vector<int>& percentages) {
  const std::string name = fmt::format("mps_{}", fmt::join(percentages, "_"));
  return {
      "mps_split", label_of(question, "MPS", percentages, " %"), percentages,
      fmt::format("  - name: {}\n    device: {{ sharing: concurrent }}\n    policies: [mps_percentage: {{ percentages: "
                  "{} }}]\n",
                  name, by_program(question, percentages))};
}

SharingWay instances(const AdviceQuestion& question, const std::vector<int>& slices) {
  const std::string name = fmt::format("mig_{}", fmt::join(slices, "_"));
  return {"mig", label_of(question, "MIG", slices, "g"), slices,
          fmt::format("  - name: {}\n    policies: [mig: {{ instances: {} }}]\n", name, by_program(question, slices))};
}

const SharingWay kTurns = {
    "time_sliced", "in turns", {}, "  - name: time_sliced\n    device: { sharing: time_sliced }\n"};

/// The driver's own turns are `passthrough`. A policy that works inside one context shares as MPS does.
SharingWay under(const std::string& policy) {
  if (policy == "passthrough") return kTurns;
  return {"policy",
          "under " + policy,
          {},
          fmt::format("  - name: under_{0}\n    device: {{ sharing: time_sliced }}\n    policies: [{0}]\n", policy)};
}

bool is_tried(const AdviceQuestion& question, const std::string& mode) {
  if (question.modes.empty()) return question.policies.empty();
  return std::ranges::find(question.modes, mode) != question.modes.end();
}

}  // namespace

const std::vector<std::string>& advice_modes() {
  static const std::vector<std::string> modes = {"time_sliced", "mps", "mps_split", "mig"};
  return modes;
}

std::vector<SharingWay> sharing_ways(const AdviceQuestion& question) {
  std::vector<SharingWay> all = {kTurns, {"mps", "MPS", {}, "  - name: mps\n    device: { sharing: concurrent }\n"}};
  if (question.programs.size() == 2) {
    for (const int first : {30, 50, 70}) all.push_back(split(question, {first, 100 - first}));
    for (const auto& [first, second] : {std::pair{3, 4}, {4, 3}}) all.push_back(instances(question, {first, second}));
  }
  std::erase_if(all, [&](const SharingWay& way) { return !is_tried(question, way.mode); });
  for (const std::string& policy : question.policies)
    if (policy != "passthrough" || !is_tried(question, kTurns.mode)) all.push_back(under(policy));
  return all;
}

std::string advice_experiment(const AdviceQuestion& question, const std::vector<SharingWay>& ways) {
  std::string text = fmt::format(
      "# What `simcli advise` tried.\nversion: 1\nname: advice\ndevice: {}\nhorizon: 3s\nwarmup: 0.5s\nseeds: 2\n"
      "defaults: {{ phase: random }}\npolicies: [passthrough]\nrecord: {{ frames: none, decisions: none "
      "}}\nscenarios:\n",
      question.gpu);
  for (const SharingWay& way : ways) {
    text += way.scenario;
    if (way.horizon_s != SharingWay{}.horizon_s) text += fmt::format("    horizon: {:.1f}s\n", way.horizon_s);
    text += clients_text(question.programs);
  }
  return text;
}

}  // namespace corun
