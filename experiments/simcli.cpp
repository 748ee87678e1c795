#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>

#include "experiments/commands/commands.h"
#include "traces/base/units.h"

namespace corun {

namespace {

constexpr int kExitUsage = 2;
constexpr int kExitOurBug = 70;

/// The command line of simcli: what was asked for, and what to do then.
class CommandLine {
 public:
  CommandLine(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) run_.arguments += (i > 1 ? " " : "") + quoted(argv[i]);
    app_.require_subcommand(1);
    app_.set_help_all_flag("--help-all", "Every command with its options");
    app_.footer(
        "Exit codes: 0 done, 2 wrong input, 3 not supported, 4 machine failed, 5 policy failed,\n"
        "6 expectation not met, 7 some runs failed, 130 interrupted.");
    add_run();
    add_execute();
    add_check();
    add_plan();
    add_import();
    add_export();
    add_info();
    add_policy();
    add_version();
  }

  int parse_and_run(int argc, char** argv, bool allow_color) {
    try {
      if (argc > 1) check_command_name(argv[1]);
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      const bool is_help = error.get_exit_code() == 0;
      app_.exit(error, is_help ? std::cout : std::cerr, std::cerr);
      return is_help ? 0 : kExitUsage;
    }
    common_.out = inspect_terminal(1, allow_color);
    common_.err = inspect_terminal(2, allow_color);
    try {
      return command_();
    } catch (const Error& error) {
      return report_error(common_, error);
    }
  }

 private:
  static std::string quoted(const std::string& argument) {
    const bool is_plain =
        !argument.empty() && argument.find_first_of(" \t\n\"'\\$*?[]{}()<>|&;#~`!") == std::string::npos;
    if (is_plain) return argument;
    std::string text = "'";
    for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
  }

  void check_command_name(const std::string& name) {
    if (name.starts_with('-')) return;
    std::vector<std::string> names;
    for (const CLI::App* command : app_.get_subcommands([](CLI::App*) { return true; }))
      names.push_back(command->get_name());
    if (std::ranges::find(names, name) != names.end()) return;
    const std::string nearest = nearest_name(name, names);
    throw CLI::ParseError(
        fmt::format("There is no command `{}`{}", name, nearest.empty() ? "" : "; did you mean `" + nearest + "`?"),
        kExitUsage);
  }

  CLI::App* add(CLI::App& parent, const char* name, const char* description, std::function<int()> command) {
    CLI::App* app = parent.add_subcommand(name, description);
    const std::map<std::string, DiagnosticStyle> styles{{"full", DiagnosticStyle::kFull},
                                                        {"short", DiagnosticStyle::kShort}};
    app->add_option("--diagnostics", common_.diagnostics, "How errors look: full or short (one line each)")
        ->transform(CLI::Transformer(styles))
        ->default_str("full");
    app->add_flag("--json", common_.json, "Print JSON");
    app->callback([this, command = std::move(command)] { command_ = command; });
    return app;
  }

  void add_experiment_options(CLI::App* app, ExperimentOptions& options) {
    app->add_option("EXPERIMENT", options.file, "Experiment file (YAML)")->required();
    app->add_option("--set", options.overrides.sets, "Change a value: clients.game.pacing=60fps (repeatable)")
        ->allow_extra_args(false);
    app->add_option("--seed", options.overrides.seeds, "Use this seed in place of all (repeatable)")
        ->allow_extra_args(false);
    app->add_option_function<std::string>(
        "--until",
        [&options](const std::string& text) {
          options.overrides.until = parse_duration(text);
          const bool is_positive = options.overrides.until && *options.overrides.until > Duration::zero();
          if (!is_positive)
            throw CLI::ValidationError("--until", "a duration above 0 with its unit is expected, for example 2s");
        },
        "Shorten every horizon to this");
  }

  void add_results_options(CLI::App* app, RunOptions& options) {
    add_experiment_options(app, options);
    app->add_option("-o,--output", options.output, "Results file (SQLite)");
    app->add_flag("-f,--force", options.overwrite, "Replace an existing results file");
    const std::map<std::string, ProgressStyle> styles{
        {"auto", ProgressStyle::kAuto}, {"plain", ProgressStyle::kPlain}, {"none", ProgressStyle::kNone}};
    app->add_option("--progress", options.progress, "auto, plain or none")
        ->transform(CLI::Transformer(styles))
        ->default_str("auto");
  }

  void add_run() {
    CLI::App* app =
        add(app_, "run", "Run an experiment and write its results", [this] { return run_command(common_, run_); });
    add_results_options(app, run_);
    app->add_option("-j,--jobs", run_.jobs, "Runs at a time; one per processor if not given")
        ->check(CLI::Range(1, 1024));
  }

  void add_execute() {
    CLI::App* app = add(app_, "execute", "Run an experiment on a GPU, one run at a time, in real time", [this] {
      execute_.arguments = run_.arguments;
      return execute_command(common_, execute_);
    });
    add_results_options(app, execute_);
    app->add_option("--gpu", execute_.gpu, "Number of the device")->check(CLI::Range(0, 1023));
    app->add_option("--driver", execute_.driver, "Library of the CUDA driver");
    app->add_option("--worker", execute_.worker, "Program of a client's process; corun-worker if not given");
    app->add_flag("--kernel-frames", execute_.has_kernel_frames, "Frames by kernels, not by OpenGL");
    app->add_option("--processors", execute_.processors, "Processors to pin to: the scheduler's, then one a client")
        ->delimiter(',');
  }

  void add_check() {
    CLI::App* app = add(app_, "check", "Check an experiment and the traces it names; run nothing",
                        [this] { return check_command(common_, experiment_); });
    add_experiment_options(app, experiment_);
  }

  void add_plan() {
    CLI::App* app =
        add(app_, "plan", "List the runs of an experiment", [this] { return plan_command(common_, experiment_); });
    add_experiment_options(app, experiment_);
  }

  void add_import() {
    CLI::App* app = add(app_, "import", "Read captures of any known format; write .corun",
                        [this] { return import_command(common_, import_); });
    app->add_option("IN", import_.inputs, "Captures")->required();
    app->add_option("-o,--output", import_.output, "Where to write; a folder for several captures");
    app->add_option("--from", import_.format, "Format of the captures")->default_str("auto");
    app->add_flag("-f,--force", import_.overwrite, "Replace an existing file");
  }

  void add_export() {
    CLI::App* app = add(app_, "export", "Write a capture of any known format for ui.perfetto.dev",
                        [this] { return export_command(common_, export_); });
    app->add_option("TRACE", export_.file, "Capture of any known format")->required();
    app->add_option("-o,--output", export_.output, "Where to write: x.pftrace")->required();
    app->add_flag("-f,--force", export_.overwrite, "Replace an existing file");
  }

  void add_info() {
    CLI::App* app =
        add(app_, "info", "Say what a capture holds", [this] { return inspect_command(common_, inspect_); });
    app->add_option("TRACE", inspect_.file, "Capture of any known format")->required();
    app->add_flag("--verify", inspect_.verify, "Check every chunk of a .corun file");
    app->add_option("--recover", inspect_.recover, "Write what is readable of a damaged .corun file to OUT")
        ->type_name("OUT");
  }

  void add_policy() {
    CLI::App* policy = app_.add_subcommand("policy", "Policies that runs can use");
    policy->require_subcommand(1);
    CLI::App* app = add(*policy, "list", "List policies, or tell everything about one",
                        [this] { return policy_list_command(common_, policy_); });
    app->add_option("NAME", policy_.name, "A policy");
    app->add_option("--plugin", policy_.plugins, "Shared library with a policy (repeatable)")->allow_extra_args(false);
    CLI::App* cap = add(*policy, "cap", "Say which utilisation caps the limiters can hold for a capture",
                        [this] { return policy_cap_command(common_, cap_); });
    cap->add_option("TRACE", cap_.file, "Capture of any known format")->required();
    cap->add_option("--device", cap_.device, "A built-in device")->default_str("h200");
    cap->add_option("--solo-rate", cap_.solo_rate, "Jobs of the untraced program alone: 31/s");
    cap->add_option("--iterations", cap_.iterations, "Jobs that the capture is split into");
    CLI::App* why = add(*policy, "why", "Say which rule held a client back at an instant of a run",
                        [this] { return policy_why_command(common_, why_); });
    why->add_option("RUN", why_.run, "Results file; FILE:POLICY or FILE:ID picks runs of it")->required();
    why->add_option("CLIENT", why_.client, "Its name")->required();
    why->add_option("TIME", why_.time, "Since the run began: 1.5s")->required();
  }

  void add_version() {
    add(app_, "version", "Print the versions", [this] { return version_command(common_); });
  }

  CLI::App app_{"What several programs on one GPU do to each other.", "simcli"};
  CommonOptions common_;
  RunOptions run_;
  ExecuteCommandOptions execute_;
  ExperimentOptions experiment_;
  ImportOptions import_;
  ExportOptions export_;
  InspectOptions inspect_;
  PolicyOptions policy_;
  CapOptions cap_;
  WhyOptions why_;
  std::function<int()> command_;
};

bool allows_color() {
  const char* terminal = std::getenv("TERM");
  const bool is_dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return std::getenv("NO_COLOR") == nullptr && !is_dumb;
}

}  // namespace

}  // namespace corun

int main(int argc, char** argv) {
  try {
    corun::CommandLine line(argc, argv);
    return line.parse_and_run(argc, argv, corun::allows_color());
  } catch (const std::bad_alloc&) {
    std::fputs("error[E0600]: out of memory\n", stderr);
    return static_cast<int>(corun::ErrorKind::kDevice);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: this is a mistake in simcli: %s\n", error.what());
    return corun::kExitOurBug;
  }
}
