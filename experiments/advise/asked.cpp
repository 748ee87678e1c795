#include "experiments/advise/asked.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "experiments/advise/ways.h"
#include "traces/base/error.h"
#include "traces/base/units.h"

namespace corun {

namespace {

/// "program=value" of an option.
std::pair<std::string, std::string> assignment(const std::string& option, const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos)
    throw Error(ErrorKind::kInput, {}, fmt::format("{}: found `{}`, expected PROGRAM=VALUE", option, text));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// The name of its file without endings, as a client may be called.
std::string name_of(const std::string& trace, const std::vector<AdviceQuestion::Program>& others) {
  std::string name = std::filesystem::path(trace).filename().string();
  name = name.substr(0, std::max<std::size_t>(1, name.find('.')));
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-'; }, '_');
  std::string unique = name;
  const auto is_taken = [&] {
    return std::ranges::find(others, unique, &AdviceQuestion::Program::name) != others.end();
  };
  for (int number = 2; is_taken(); ++number) unique = fmt::format("{}_{}", name, number);
  return unique;
}

AdviceQuestion::Program& program_called(AdviceQuestion& question, const std::string& option, const std::string& name) {
  const auto found = std::ranges::find(question.programs, name, &AdviceQuestion::Program::name);
  if (found != question.programs.end()) return *found;
  std::vector<std::string> names;
  for (const auto& program : question.programs) names.push_back(program.name);
  throw Error(ErrorKind::kInput, {},
              fmt::format("{}: no program is called `{}`; there are {}", option, name, fmt::join(names, ", ")),
              "programs are called as their files, without endings");
}

double positive(const std::string& option, const std::string& text, std::optional<double> value, const char* example) {
  if (value && *value > 0) return *value;
  throw Error(ErrorKind::kInput, {}, fmt::format("{}: found `{}`, expected {}", option, text, example));
}

}  // namespace

AdviceQuestion question_of(const AdviceWords& words) {
  AdviceQuestion question;
  question.gpu = words.gpu;
  question.goal = words.is_for_most_work ? AdviceGoal::kMostWork : AdviceGoal::kFairest;
  for (const std::string& trace : words.traces)
    question.programs.push_back({name_of(trace, question.programs), trace, ""});
  if (question.programs.size() < 2)
    throw Error(ErrorKind::kInput, {}, "advice is about two programs or more",
                "name a capture of each: `simcli advise a.corun b.json.gz`; the same file twice is two such programs");
  for (const std::string& text : words.rates) {
    const auto [name, value] = assignment("--solo-rate", text);
    positive("--solo-rate", value, parse_rate(value), "a rate such as a=31/s");
    program_called(question, "--solo-rate", name).keys += ", solo_rate: " + value;
  }
  for (const std::string& text : words.keys) {
    const auto [key, value] = assignment("--set", text);
    const auto dot = key.find('.');
    if (dot == std::string::npos)
      throw Error(ErrorKind::kInput, {}, fmt::format("--set: found `{}`, expected PROGRAM.KEY=VALUE", text));
    program_called(question, "--set", key.substr(0, dot)).keys += fmt::format(", {}: {}", key.substr(dot + 1), value);
  }
  for (const std::string& text : words.kept) {
    const auto [name, value] = assignment("--keep", text);
    question.least_kept[program_called(question, "--keep", name).name] =
        positive("--keep", value, parse_real(value), "a part such as a=0.9");
  }
  for (const std::string& text : words.p99) {
    const auto [name, value] = assignment("--p99", text);
    const auto duration = parse_duration(value);
    question.most_p99_ms[program_called(question, "--p99", name).name] = positive(
        "--p99", value, duration ? std::optional(to_seconds(*duration) * 1e3) : std::nullopt, "a time such as a=30ms");
  }
  for (const std::string& text : words.fps) {
    const auto [name, value] = assignment("--fps", text);
    question.least_fps[program_called(question, "--fps", name).name] =
        positive("--fps", value, parse_real(value), "frames per second such as game=60");
  }
  for (const std::string& mode : words.modes) {
    if (std::ranges::find(advice_modes(), mode) == advice_modes().end())
      throw Error(ErrorKind::kInput, {},
                  fmt::format("--modes: found `{}`, expected {}", mode, fmt::join(advice_modes(), ", ")));
    question.modes.push_back(mode);
  }
  return question;
}

}  // namespace corun
