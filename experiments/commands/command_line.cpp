#include "experiments/commands/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <iostream>
#include <type_traits>

#include "experiments/base/error_text.h"
#include "experiments/run/plan.h"
#include "traces/base/streams.h"
#include "traces/base/units.h"
#include "traces/shell/shell_commands.h"

namespace corun {

namespace {

/// "--output" of "-o,--output".
std::string long_name(const std::string& names) { return names.substr(names.rfind(',') + 1); }

/// CLI11 takes "-1" for the largest of all numbers, and "010" for 8.
std::string whole_number_problem(const std::string& text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [read, failure] = std::from_chars(text.data(), end, value);
  const bool has_zeros = text.size() > 1 && text[0] == '0';
  if (failure == std::errc{} && read == end && !has_zeros) return "";
  return fmt::format("found `{}`, expected a whole number from 0 to {}", text, UINT64_MAX);
}

template <class T>
constexpr bool kIsUnsigned = std::is_same_v<T, unsigned> || std::is_same_v<T, std::vector<std::uint64_t>>;

bool takes_one_experiment(std::string_view command) {
  return command == "check" || command == "plan" || command == "sweep";
}

int report_error(const CommonOptions& common, const Error& error) {
  put_err(render(error, diagnostics_of(error), common.diagnostics, common.err.has_color));
  return static_cast<int>(error.kind());
}

}  // namespace

std::string quoted(const std::vector<std::string>& arguments) {
  std::string text;
  for (const std::string& argument : arguments) text += (text.empty() ? "" : " ") + shell_quoted(argument);
  return text;
}

Option Option::required() { return Option(*option_->required()); }

Option Option::range(int least, int most) { return Option(*option_->check(CLI::Range(least, most))); }

Option Option::range(double least, double most) { return Option(*option_->check(CLI::Range(least, most))); }

Option Option::shows_default(const std::string& text) { return Option(*option_->default_str(text)); }

Option Option::shows_value(const std::string& type) { return Option(*option_->type_name(type)); }

Option Option::repeatable() { return Option(*option_->allow_extra_args(false)); }

Option Option::comma_separated() { return Option(*option_->delimiter(',')); }

Option Option::means(const std::string& word, const std::string& value) {
  return Option(*option_->transform([=](const std::string& text) { return text == word ? value : text; }));
}

Option Option::excludes(const std::string& other) { return Option(*option_->excludes(other)); }

Option Command::option(const std::string& names, OptionValue value, const std::string& description) {
  const auto add = [&](auto* target) {
    CLI::Option* option = app_->add_option(names, *target, description);
    if constexpr (kIsUnsigned<std::remove_pointer_t<decltype(target)>>)
      option->check(CLI::Validator(whole_number_problem, "", ""));
    return option;
  };
  return Option(*std::visit(add, value));
}

Option Command::flag(const std::string& names, bool* value, const std::string& description) {
  return Option(*app_->add_flag(names, *value, description));
}

Option Command::parsed(const std::string& names, std::function<void(const std::string&)> parse,
                       const std::string& description) {
  return Option(*app_->add_option_function<std::string>(names, parse, description));
}

Duration Command::parse_duration_option(const std::string& names, const std::string& text, Duration least,
                                        const std::string& example) {
  const std::optional<Duration> duration = parse_duration(text);
  if (!duration || *duration < least)
    reject_value(long_name(names), fmt::format("a duration{} with its unit is expected, for example {}",
                                               least > Duration::zero() ? " above 0" : "", example));
  return *duration;
}

Option Command::word_of(const std::string& names, const std::vector<std::string>& words,
                        std::function<void(std::size_t index)> choose, const std::string& description) {
  const auto parse = [=](const std::string& word) {
    choose(static_cast<std::size_t>(std::ranges::find(words, word) - words.begin()));
  };
  return Option(*app_->add_option_function<std::string>(names, parse, description)
                     ->check(CLI::IsMember(words))
                     ->default_str(words.front()));
}

void reject_value(const std::string& option, const std::string& expected) {
  throw CLI::ValidationError(option, expected);
}

Commands Commands::group(const char* name, const char* description) {
  CLI::App* app = app_.add_subcommand(name, description);
  app->require_subcommand(1);
  return {line_, *app};
}

Command Commands::add_command(const char* name, const char* description,
                              std::function<int(const CommonOptions&)> body) {
  CLI::App* app = app_.add_subcommand(name, description);
  app->callback([&line = line_, body = std::move(body)] { line.body_ = body; });
  Command command(*app);
  command.choice("--diagnostics", &line_.common_.diagnostics,
                 {{"full", DiagnosticStyle::kFull}, {"short", DiagnosticStyle::kShort}},
                 "How errors look: full or short (one line each)");
  command.flag("--json", &line_.common_.json, "Print JSON");
  return command;
}

CommandLine::CommandLine(int argc, char** argv)
    : argc_(argc),
      argv_(argv),
      app_(std::make_unique<CLI::App>("What several programs on one GPU do to each other.", "simcli")) {
  common_.arguments.assign(argv + std::min(argc, 1), argv + argc);
  app_->require_subcommand(1);
  app_->set_help_all_flag("--help-all", "Every command with its options");
  app_->footer(
      "Exit codes: 0 done, 2 wrong input, 3 not supported, 4 machine failed, 5 policy failed,\n"
      "6 expectation not met, 7 some runs failed, 70 internal error, 130 interrupted.");
}

CommandLine::~CommandLine() = default;

int CommandLine::parse_and_run(const TerminalWishes& wishes) {
  std::string answer;
  add_shell_commands(*app_, fmt::format("simcli {}", engine_version()), answer);
  try {
    if (argc_ > 1) check_command(*app_, argv_[1]);
    app_->parse(argc_, argv_);
  } catch (const CLI::ParseError& error) {
    const bool is_help = error.get_exit_code() == 0;
    app_->exit(error, is_help ? std::cout : std::cerr, std::cerr);
    if (argc_ == 1) std::cerr << app_->help();
    std::cerr << meant_option(*app_);
    const std::vector<std::string> unexpected = app_->remaining(true);
    const bool is_file = !unexpected.empty() && !unexpected.front().starts_with('-');
    if (is_file && takes_one_experiment(argv_[1]))
      std::cerr << "one experiment file (YAML) is expected: captures stand in it, as `trace` of its clients "
                   "(docs/tutorial.md)\n";
    return is_help ? 0 : kExitUsage;
  }
  if (!answer.empty()) {
    put_out(answer);
    return 0;
  }
  common_.out = inspect_terminal(1, wishes);
  common_.err = inspect_terminal(2, wishes);
  try {
    return body_(common_);
  } catch (const Error& error) {
    return report_error(common_, error);
  }
}

}  // namespace corun
