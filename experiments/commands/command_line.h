#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "experiments/base/diagnostic.h"
#include "experiments/base/terminal.h"
#include "traces/base/time.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace corun {

// The command line of simcli. Commands state their options with these types; command_line.cpp alone includes CLI11,
// which takes seconds to compile.

inline constexpr int kExitUsage = 2;
inline constexpr int kExitExpectation = 6;
inline constexpr int kExitSomeFailed = 7;
inline constexpr int kExitSignal = 128;  ///< plus the number of the signal: 130 for an interrupt

/// What every command receives.
struct CommonOptions {
  std::vector<std::string> arguments;  ///< as given, without the name of the program
  DiagnosticStyle diagnostics = DiagnosticStyle::kFull;
  bool json = false;
  Terminal out;  ///< stdout
  Terminal err;  ///< stderr
};

/// The arguments as one line of a shell.
std::string quoted(const std::vector<std::string>& arguments);

/// A handle on an option of a command, to state more of it. Valid as long as the CommandLine.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option required();
  Option range(int least, int most);
  Option range(double least, double most);
  Option shows_default(const std::string& text);  ///< in --help; without it no default is shown
  Option shows_value(const std::string& type);    ///< in --help, what stands for the value: "FILE"
  Option repeatable();                            ///< a list that takes one value each time the option is given
  Option comma_separated();                       ///< a list in one word
  Option means(const std::string& word, const std::string& value);  ///< `word` stands for `value`
  Option excludes(const std::string& other);                        ///< an option stated before: "--force"

 private:
  CLI::Option* option_;
};

/// Where the value of an option goes. What is there before is the default.
using OptionValue = std::variant<std::string*, std::optional<std::string>*, int*, unsigned*, double*,
                                 std::vector<std::string>*, std::vector<int>*, std::vector<std::uint64_t>*>;

/// A handle on a command, to state its options. Valid as long as the CommandLine. Names are "-o,--output", or "FILE"
/// for a positional argument.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  Option option(const std::string& names, OptionValue value, const std::string& description);
  Option flag(const std::string& names, bool* value, const std::string& description);
  /// `parse` takes the text of the value, and calls reject_value() where it is wrong.
  Option parsed(const std::string& names, std::function<void(const std::string&)> parse,
                const std::string& description);

  /// At least `least`, which is 0 or 1 ns; `example` is for the message about a wrong value.
  template <class T>  // Duration or std::optional<Duration>
  Option duration(const std::string& names, T* value, Duration least, const std::string& example,
                  const std::string& description) {
    return parsed(
        names, [=](const std::string& text) { *value = parse_duration_option(names, text, least, example); },
        description);
  }

  /// One word of several, the first of which is the default.
  template <class T>
  Option choice(const std::string& names, T* value, const std::vector<std::pair<std::string, T>>& choices,
                const std::string& description) {
    std::vector<std::string> words;
    for (const auto& choice : choices) words.push_back(choice.first);
    return word_of(
        names, words, [=](std::size_t index) { *value = choices[index].second; }, description);
  }

 private:
  static Duration parse_duration_option(const std::string& names, const std::string& text, Duration least,
                                        const std::string& example);
  Option word_of(const std::string& names, const std::vector<std::string>& words,
                 std::function<void(std::size_t index)> choose, const std::string& description);

  CLI::App* app_;
};

/// Ends the parsing of the command line: "--shard: which of how many is expected".
[[noreturn]] void reject_value(const std::string& option, const std::string& expected);

class CommandLine;

/// The commands of the program, or of a group of them. Valid as long as the CommandLine.
class Commands {
 public:
  /// Data goes to stdout, all else to stderr. Returns the exit code of the program, throws Error for what the user or
  /// the machine has to put right.
  template <class Options>
  using Body = int (*)(const CommonOptions&, const Options&);

  Commands(CommandLine& line, CLI::App& app) : line_(line), app_(app) {}

  /// The command and its options, which keep the values of the command line until the body has run.
  template <class Options>
  std::pair<Command, Options&> add(const char* name, const char* description, Body<Options> body) {
    const auto options = std::make_shared<Options>();
    Command command =
        add_command(name, description, [=](const CommonOptions& common) { return body(common, *options); });
    return {command, *options};
  }
  /// Commands of two words: "policy list".
  Commands group(const char* name, const char* description);

 private:
  Command add_command(const char* name, const char* description, std::function<int(const CommonOptions&)> body);

  CommandLine& line_;
  CLI::App& app_;
};

/// What is asked of the program.
class CommandLine {
 public:
  CommandLine(int argc, char** argv);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  Commands commands() { return {*this, *app_}; }
  /// Runs the command that is named, once all commands have been added. Returns the exit code of the program.
  int parse_and_run(const TerminalWishes& wishes);

 private:
  friend class Commands;
  int argc_;
  char** argv_;
  std::unique_ptr<CLI::App> app_;
  CommonOptions common_;
  std::function<int(const CommonOptions&)> body_;
};

}  // namespace corun
