#include "experiments/advise/asked/asked_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "traces/base/error.h"
#include "traces/base/units.h"

namespace corun {

namespace {

/// Where the endings of a file's name begin: a dot between digits is none of theirs.
std::size_t endings_of(const std::string& name) {
  const auto is_digit = [&](std::size_t at) {
    return at < name.size() && std::isdigit(static_cast<unsigned char>(name[at])) != 0;
  };
  std::size_t dot = name.find('.', 1);
  while (dot != std::string::npos && is_digit(dot - 1) && is_digit(dot + 1)) dot = name.find('.', dot + 1);
  return dot;
}

std::string name_of_file(const std::string& trace) {
  std::string name = std::filesystem::path(trace).filename().string();
  name = name.substr(0, endings_of(name));
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-'; }, '_');
  return name;
}

std::string unique_name(const std::string& name, const std::vector<AskedProgram>& others) {
  std::string unique = name;
  const auto is_taken = [&] { return std::ranges::find(others, unique, &AskedProgram::name) != others.end(); };
  for (int number = 2; is_taken(); ++number) unique = fmt::format("{}_{}", name, number);
  return unique;
}

}  // namespace

std::string yaml_text(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

std::pair<std::string, std::string> name_and_file(const std::string& word) {
  const auto equals = word.find('=');
  const bool has_name = equals != std::string::npos && equals > 0 && word.find('/') > equals;
  std::error_code not_there;
  if (!has_name || std::filesystem::exists(word, not_there)) return {"", word};
  return {word.substr(0, equals), word.substr(equals + 1)};
}

std::vector<AskedProgram> asked_programs(const std::vector<std::string>& traces) {
  std::vector<AskedProgram> programs;
  for (const std::string& word : traces) add_captured(word, programs);
  return programs;
}

void add_captured(const std::string& word, std::vector<AskedProgram>& programs) {
  const auto [name, file] = name_and_file(word);
  add_named({name.empty() ? name_of_file(file) : name, file}, programs);
}

void add_named(AskedProgram program, std::vector<AskedProgram>& programs) {
  program.name = unique_name(program.name, programs);
  programs.push_back(std::move(program));
}

AskedProgram& program_called(std::vector<AskedProgram>& programs, const std::string& option, const std::string& name) {
  const auto found = std::ranges::find(programs, name, &AskedProgram::name);
  if (found != programs.end()) return *found;
  std::vector<std::string> names;
  for (const AskedProgram& program : programs) names.push_back(program.name);
  throw Error(ErrorKind::kInput, {},
              fmt::format("{}: no program is called `{}`; there are {}", option, name, fmt::join(names, ", ")),
              "programs are called as their files, without endings");
}

namespace {

/// "50%" of the SMs.
std::string part_of_sms(const std::string& text) {
  const bool is_percentage = text.ends_with('%');
  const auto number = is_percentage ? parse_real(std::string_view(text).substr(0, text.size() - 1)) : std::nullopt;
  if (number && *number >= 1 && *number < 100) return text;
  throw Error(ErrorKind::kInput, {},
              fmt::format("--solo-rate: found `{}` of the SMs, expected 1 to 99 %: a@50%=24/s", text));
}

}  // namespace

void state_keys(std::vector<AskedProgram>& programs, const std::vector<std::string>& rates,
                const std::vector<std::string>& keys) {
  std::map<std::string, std::string> with_fewer_sms;  // by program
  for (const std::string& text : rates) {
    const auto [of, value] = assignment("--solo-rate", text);
    positive("--solo-rate", value, parse_rate(value), "a rate such as a=31/s");
    const auto at = of.find('@');
    AskedProgram& program = program_called(programs, "--solo-rate", of.substr(0, at));
    if (at == std::string::npos) {
      program.keys["solo_rate"] = value;
    } else {
      std::string& all = with_fewer_sms[program.name];
      all += fmt::format("{}{}: {}", all.empty() ? "" : ", ", part_of_sms(of.substr(at + 1)), value);
    }
  }
  for (const auto& [name, all] : with_fewer_sms)
    program_called(programs, "--solo-rate", name).keys["fewer_sms"] = "{ " + all + " }";
  for (const std::string& text : keys) {
    const auto [key, value] = assignment("--set", text);
    const auto dot = key.find('.');
    if (dot == std::string::npos)
      throw Error(ErrorKind::kInput, {}, fmt::format("--set: found `{}`, expected PROGRAM.KEY=VALUE", text));
    program_called(programs, "--set", key.substr(0, dot)).keys[key.substr(dot + 1)] = value;
  }
}

void make_absolute(AskedProgram& program) {
  if (program.trace.empty()) return;
  program.trace = std::filesystem::absolute(program.trace).lexically_normal().string();
}

std::string unknown_draws_text(const std::string& game) {
  return fmt::format(
      "what the device draws of {0} without a break is not known: the ends are 0.5 ms and whole frames; state it: "
      "`--set {0}.draw=2ms`",
      game);
}

std::pair<std::string, std::string> assignment(const std::string& option, const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos)
    throw Error(ErrorKind::kInput, {}, fmt::format("{}: found `{}`, expected PROGRAM=VALUE", option, text));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

double positive(const std::string& option, const std::string& text, std::optional<double> value,
                const std::string& example) {
  if (value && *value > 0) return *value;
  throw Error(ErrorKind::kInput, {}, fmt::format("{}: found `{}`, expected {}", option, text, example));
}

std::optional<double> milliseconds(const std::string& text) {
  const auto duration = parse_duration(text);
  return duration ? std::optional(to_seconds(*duration) * 1e3) : std::nullopt;
}

std::string clients_text(const std::vector<AskedProgram>& programs) {
  std::string text = "    clients:\n";
  for (const AskedProgram& program : programs) text += fmt::format("      - {}\n", client_text(program));
  return text;
}

std::string client_text(const AskedProgram& program, const std::map<std::string, std::string>& more) {
  std::map<std::string, std::string> keys = program.keys;
  keys.insert(more.begin(), more.end());
  std::string text = fmt::format("{{ name: {}", program.name);
  if (!program.trace.empty()) text += fmt::format(", trace: {}", yaml_text(program.trace));
  for (const auto& [key, value] : keys) text += fmt::format(", {}: {}", key, value);
  return text + " }";
}

}  // namespace corun
