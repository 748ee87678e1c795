#include "experiments/advise/asked/asked_experiment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "experiments/base/diagnostic.h"
#include "experiments/base/yaml.h"
#include "experiments/question/experiment.h"

namespace corun {

namespace {

bool is_experiment(const std::string& word) { return word.ends_with(".yaml") || word.ends_with(".yml"); }

/// Whether the value of such a key is a path, or a list of paths.
bool names_files(std::string_view key) {
  constexpr std::array<std::string_view, 4> kKeys = {"trace", "file", "step_times", "fewer_sms"};
  return std::ranges::find(kKeys, key) != kKeys.end();
}

bool is_plain(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '/' || c == '%' || c == '-';
  });
}

/// On one line. A scalar that is a path is one from everywhere.
std::string line_of(const Node& node, const std::filesystem::path& folder, bool is_path) {
  if (node.is_scalar()) {
    const std::string text = is_path ? (folder / node.text).lexically_normal().string() : node.text;
    return is_plain(text) ? text : yaml_text(text);
  }
  std::vector<std::string> parts;
  for (const Node& item : node.items) parts.push_back(line_of(item, folder, is_path));
  for (const Node::Entry& entry : node.entries)
    parts.push_back(fmt::format("{}: {}", entry.key, line_of(entry.value, folder, names_files(entry.key))));
  return node.is_sequence() ? fmt::format("[{}]", fmt::join(parts, ", "))
                            : fmt::format("{{ {} }}", fmt::join(parts, ", "));
}

class ExperimentFile {
 public:
  ExperimentFile(const std::string& path, PolicyRegistry policies)
      : folder_(std::filesystem::absolute(path).parent_path()) {
    const Experiment experiment = read_experiment(path, {}, policies);
    if (experiment.scenarios.size() != 1 || experiment.scenarios.front().cluster || experiment.sweep)
      throw Error(
          ErrorKind::kInput, experiment.scenarios.front().where,
          fmt::format("{} scenarios, a sweep or a cluster, expected one scenario, whose clients are the programs",
                      experiment.scenarios.size()),
          "name an experiment of these clients alone");
    root_ = parse_yaml(read_text_file(path), path, diagnostics_);
    const Node* scenarios = root_.find("scenarios");
    scenario_ = scenarios == nullptr ? &root_ : &scenarios->items.front();
  }

  std::vector<AskedProgram> programs() const {
    std::vector<AskedProgram> found;
    for (const Node& client : key("clients")->items) {
      AskedProgram program;
      for (const Node* keys : {root_.find("defaults"), &client})
        if (keys != nullptr)
          for (const Node::Entry& entry : keys->entries) add(entry, program);
      found.push_back(std::move(program));
    }
    return found;
  }

  /// Its built-in model.
  std::string gpu() const {
    const Node* device = key("device");
    if (device->is_mapping()) device = device->find("model");
    return device == nullptr ? "" : device->text;
  }

 private:
  const Node* key(const char* name) const {
    const Node* own = scenario_->find(name);
    return own == nullptr ? root_.find(name) : own;
  }

  void add(const Node::Entry& entry, AskedProgram& program) const {
    if (entry.key == "name")
      program.name = entry.value.text;
    else if (entry.key == "trace")
      program.trace = (folder_ / entry.value.text).lexically_normal().string();
    else
      program.keys[entry.key] = line_of(entry.value, folder_, names_files(entry.key));
  }

  std::filesystem::path folder_;
  Diagnostics diagnostics_;
  Node root_;
  const Node* scenario_ = nullptr;
};

}  // namespace

AskedPrograms programs_of(const std::vector<std::string>& words, const PolicyRegistry& policies) {
  AskedPrograms asked;
  for (const std::string& word : words) {
    if (!is_experiment(word)) {
      add_captured(word, asked.programs);
      continue;
    }
    const ExperimentFile experiment(word, policies);
    for (AskedProgram& program : experiment.programs()) add_named(std::move(program), asked.programs);
    if (asked.gpu.empty()) asked.gpu = experiment.gpu();
  }
  return asked;
}

std::string gpu_of(const std::string& stated, const AskedPrograms& asked) {
  if (!stated.empty()) return stated;
  return asked.gpu.empty() ? "h200" : asked.gpu;
}

}  // namespace corun
