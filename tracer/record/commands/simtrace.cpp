#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <utility>
#include <vector>

#include "tracer/record/guests.h"
#include "tracer/record/host/terminal.h"
#include "tracer/record/options.h"
#include "traces/base/streams.h"
#include "traces/base/units.h"
#include "traces/shell/shell_commands.h"

namespace corun::record {

namespace {

constexpr int kExitUsage = 2;
constexpr int kExitOurBug = 70;

/// An option with a few words to choose from; the first is what holds if it is not given.
template <class Value>
void add_choice(CLI::App* app, const char* option, Value& value, std::vector<std::pair<std::string, Value>> choices,
                const char* description) {
  std::vector<std::string> words;
  for (const auto& [word, meaning] : choices) words.push_back(word);
  app->add_option_function<std::string>(
         option,
         [&value, choices](const std::string& given) {
           for (const auto& [word, meaning] : choices)
             if (word == given) value = meaning;
         },
         description)
      ->check(CLI::IsMember(words))
      ->type_name("WORD");
}

Duration read_duration(const char* option, const std::string& text, bool may_be_zero) {
  constexpr Duration kLongest = std::chrono::hours(10'000);
  const std::optional<Duration> duration = parse_duration(text);
  if (duration && *duration > kLongest) throw CLI::ValidationError(option, "at most 10000h are expected");
  if (duration && (*duration > Duration::zero() || (may_be_zero && *duration == Duration::zero()))) return *duration;
  throw CLI::ValidationError(option, "a duration with its unit is expected, for example 30s");
}

FrameWindow read_frames(const std::string& text) {
  const auto fail = [] {
    return CLI::ValidationError("--frames", "two numbers from 1 on are expected, for example 100..400");
  };
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) throw fail();
  FrameWindow frames;
  try {
    std::size_t first_end = 0, last_end = 0;
    const std::string first = text.substr(0, dots), last = text.substr(dots + 2);
    if (first.starts_with('-') || last.starts_with('-')) throw fail();
    frames = {std::stoull(first, &first_end), std::stoull(last, &last_end)};
    if (first_end != first.size() || last_end != last.size()) throw fail();
  } catch (const std::logic_error&) {
    throw fail();
  }
  if (frames.first < 1 || frames.last < frames.first || frames.last > INT64_MAX) throw fail();
  return frames;
}

/// The command line of simtrace: what was asked for, and what to do then.
class CommandLine {
 public:
  CommandLine() {
    app_.require_subcommand(1);
    app_.footer("`simtrace COMMAND --help` lists the options of a command. docs/capture.md has examples.");
    add_record();
    add_counters();
    add_merge();
    add_doctor();
    app_.add_subcommand("version", "Print the version")->callback([this] {
      command_ = [] {
        put_out("simtrace " CORUN_VERSION "\n");
        return 0;
      };
    });
    add_shell_commands(app_, "simtrace " CORUN_VERSION, answer_);
  }

  int parse_and_run(int argc, char** argv) {
    const int own = take_command(argc, argv);
    try {
      if (own > 1) check_command(app_, argv[1]);
      app_.parse(own, argv);
    } catch (const CLI::ParseError& error) {
      const bool is_help = error.get_exit_code() == 0;
      app_.exit(error, is_help ? std::cout : std::cerr, std::cerr);
      std::cerr << meant_option(app_);
      if (!is_help && own == argc && argc > 1 && std::strcmp(argv[1], "record") == 0)
        std::cerr << "The program to record comes behind two dashes: simtrace record [OPTIONS] -- CMD...\n";
      return is_help ? 0 : kExitUsage;
    }
    if (!answer_.empty()) {
      put_out(answer_);
      return 0;
    }
    try {
      return command_();
    } catch (const Error& error) {
      put_err(render(error, inspect_stderr().has_color));
      return static_cast<int>(error.kind());
    }
  }

 private:
  /// Keeps what is behind the first "--" and returns how many words are before it.
  int take_command(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      if (std::strcmp(argv[i], "--") != 0) continue;
      record_.command.assign(argv + i + 1, argv + argc);
      counters_.command = record_.command;
      return i;
    }
    return argc;
  }

  void add_record() {
    CLI::App* app = app_.add_subcommand("record", "Run a program and capture its CUDA work and frames");
    app->footer(
        "The program comes behind two dashes: simtrace record [OPTIONS] -- CMD...\n"
        "Exit code: the program's own, 128 + n if signal n ended it; 125 the recording failed, 126 the program cannot "
        "be\n"
        "executed, 127 it is not there; before it is started 2 wrong usage, 3 not supported here.");
    app->add_option("-o,--output", record_.output, "Where to write: a file, or a folder for PROGRAM-TIME.corun")
        ->type_name("FILE");
    app->add_flag("-f,--force", record_.overwrite, "Replace an existing file");
    add_what(app);
    add_when(app);
    app->add_flag("--rate-pass", record_.rate_pass,
                  "First run the program once untraced, counting launches only (no stdin, no stdout)");
    app->add_flag("-q,--quiet", record_.is_quiet, "No progress, no summary");
    app->add_flag("--progress", record_.shows_progress,
                  "Show the time and the sizes in a line of the terminal, for programs that write nothing to it");
    app->add_flag("--json", record_.json, "The summary as one line of JSON, the last on stderr");
    app->add_flag("--steam", is_steam_, "Print the launch option for Steam, record nothing");
    app->callback([this] { command_ = [this] { return is_steam_ ? print_steam_line() : record_command(record_); }; });
  }

  void add_what(CLI::App* app) {
    const std::vector<std::pair<std::string, Use>> uses{{"auto", Use::kAuto}, {"on", Use::kOn}, {"off", Use::kOff}};
    add_choice(app, "--cuda", record_.cuda, uses, "Capture CUDA; on: fail where that cannot be");
    add_choice(app, "--gl", record_.gl, uses, "Capture frames of GL and EGL");
    add_choice(app, "--vulkan", record_.vulkan, uses, "Capture frames of Vulkan");
    add_choice<bool>(app, "--detail", record_.with_calls, {{"calls", true}, {"kernels", false}},
                     "With or without the CUDA calls that launch and wait, which replay needs");
    app->add_option_function<std::string>(
           "--redact", [this](const std::string&) { record_.redact_names = true; }, "Kernels are numbered, not named")
        ->check(CLI::IsMember({"names"}))
        ->type_name("WORD");
    app->add_flag("--follow-children", record_.follow_children, "Also record child processes");
    app->add_option_function<std::string>(
           "--max-size",
           [this](const std::string& text) {
             record_.max_bytes = parse_bytes(text);
             if (record_.max_bytes.value_or(0) == 0)
               throw CLI::ValidationError("--max-size", "a size with its unit is expected, for example 500MB");
           },
           "Stop recording when a part has this size")
        ->type_name("SIZE");
  }

  void add_when(CLI::App* app) {
    app->add_option_function<std::string>(
           "--delay", [this](const std::string& text) { record_.delay = read_duration("--delay", text, true); },
           "Start recording this long after the program starts")
        ->type_name("TIME");
    app->add_option_function<std::string>(
           "--timed", [this](const std::string& text) { record_.timed = read_duration("--timed", text, false); },
           "Record for this long")
        ->type_name("TIME");
    app->add_option_function<std::string>(
           "--frames", [this](const std::string& text) { record_.frames = read_frames(text); },
           "Record these frames, A..B, counted from 1")
        ->type_name("A..B");
    add_choice<Kill>(app, "--kill", record_.kill, {{"none", Kill::kNone}, {"term", Kill::kTerm}},
                     "After --timed the program goes on, or gets SIGTERM");
  }

  void add_counters() {
    CLI::App* app = app_.add_subcommand("counters", "Add hardware counters of its kernels to a capture, by ncu");
    app->footer(
        "Runs the program of the capture once more under NVIDIA Nsight Compute: simtrace counters FILE -- CMD...\n"
        "or reads what ncu has printed elsewhere: simtrace counters FILE --csv REPORT");
    app->add_option("CAPTURE", counters_.capture, "The capture, which is replaced unless -o says otherwise")
        ->required();
    app->add_option("-o,--output", counters_.output, "Where to write instead")->type_name("FILE");
    app->add_flag("-f,--force", counters_.overwrite, "Replace an existing file");
    app->add_option("--csv", counters_.csv, "Report by `ncu --csv --page raw`, in place of a command")
        ->type_name("FILE");
    app->add_option("--launches", counters_.launches, "Launches of kernels to count")->check(CLI::Range(1, 100'000));
    app->add_option("--skip", counters_.skipped, "Launches to leave out before them, while the program warms up");
    app->add_flag("--json", counters_.json, "The summary as one line of JSON on stderr");
    app->callback([this] { command_ = [this] { return counters_command(counters_); }; });
  }

  void add_merge() {
    CLI::App* app = app_.add_subcommand("merge", "Finish a recording whose recorder was killed");
    app->add_option("PARTS", merge_.parts, "The folder it left, NAME.corun.parts")->required();
    app->add_option("-o,--output", merge_.output, "Where to write; NAME.corun if not given");
    app->add_flag("-f,--force", merge_.overwrite, "Replace an existing file");
    app->add_flag("-q,--quiet", merge_.is_quiet, "No summary");
    app->add_flag("--json", merge_.json, "The summary as one line of JSON on stderr");
    app->callback([this] { command_ = [this] { return merge_command(merge_); }; });
  }

  void add_doctor() {
    CLI::App* app = app_.add_subcommand("doctor", "Report what can be captured here, and how to capture more");
    app->add_flag("--json", doctor_.json, "Print JSON");
    app->callback([this] { command_ = [this] { return doctor_command(doctor_); }; });
  }

  /// A word for the shell-like lines of Steam.
  static std::string quoted(const std::string& word) {
    std::string text = "\"";
    for (const char c : word) text += (c == '"' || c == '\\' || c == '$' || c == '`' ? "\\" : "") + std::string(1, c);
    return text + '"';
  }

  static int print_steam_line() {
    print_out("{} record --follow-children -q -o \"$HOME\" -- %command%\n", quoted(executable_folder() + "/simtrace"));
    return 0;
  }

  CLI::App app_{"Captures CUDA work and game frames of unmodified programs.", "simtrace"};
  RecordOptions record_;
  CountersOptions counters_;
  MergeCommandOptions merge_;
  DoctorOptions doctor_;
  bool is_steam_ = false;
  std::function<int()> command_;
  std::string answer_;  ///< of commands of the shell
};

}  // namespace

}  // namespace corun::record

int main(int argc, char** argv) {
  corun::keep_standard_streams();
  try {
    return corun::exit_code_after_output(corun::record::CommandLine().parse_and_run(argc, argv));
  } catch (const std::bad_alloc&) {
    std::fputs("error[E0600]: out of memory\n", stderr);
    return corun::record::kExitRecorderFailed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "internal error: %s\n", error.what());
    return corun::record::kExitOurBug;
  }
}
