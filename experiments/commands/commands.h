#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "experiments/base/diagnostic.h"
#include "experiments/question/experiment.h"
#include "experiments/summary/progress.h"
#include "experiments/results/row_writer.h"
#include "experiments/results/stored_plan.h"
#include "experiments/base/terminal.h"

namespace corun {

struct ExecutionBackend;

/// The commands of simcli, one file each. Data goes to stdout, all else to stderr. Each returns the exit code of the
/// program and throws Error for what the user or the machine has to put right.

/// What every command knows.
struct CommonOptions {
  DiagnosticStyle diagnostics = DiagnosticStyle::kFull;
  bool json = false;
  Terminal out;  ///< stdout
  Terminal err;  ///< stderr
};

struct ExperimentOptions {
  std::string file;
  ExperimentOverrides overrides;
};

/// Results files of one plan, to be one.
struct MergeOptions {
  std::vector<std::string> inputs;
  std::string output;
  bool overwrite = false;
};

struct RunOptions : ExperimentOptions {
  std::string output;  ///< "" = as the experiment says
  bool overwrite = false;
  unsigned jobs = 0;  ///< 0 = one per processor
  ProgressStyle progress = ProgressStyle::kAuto;
  bool resumes = false;          ///< goes on with a results file that is not complete
  std::optional<Shard> shard{};  ///< the part of the plan to do
  bool skips_baselines = false;  ///< no client runs alone first: no slowdown, no harvest
  std::string arguments;         ///< as given, to print how to do it again
  std::string resume_arguments;  ///< to print how to go on after a stop; "" = there is no way
};

/// A run on hardware: one at a time.
struct ExecuteCommandOptions : RunOptions {
  int gpu = 0;
  std::string driver = "libcuda.so.1";
  std::string worker;  ///< "" = corun-worker beside this program
  bool has_kernel_frames = false;
  bool under_mps = false;       ///< with a daemon of its own
  double traffic = 0.0;         ///< part of the memory's bandwidth that kernels draw
  std::vector<int> processors;  ///< the scheduler's, then one for each client; empty = chosen
};

/// Programs as they are, one run at a time.
struct LiveCommandOptions : RunOptions {
  std::string gate;    ///< libcorun_gate.so; "" = beside this program
  bool is_gated_by_cupti = false;  ///< not by a preload
  std::string frames;  ///< libcorun_gl.so; "" = beside this program, where it was built
  unsigned most_in_flight = 1024;
  Duration most_queued{30'000'000};
  unsigned every = 16;
  std::string captures;  ///< folder for captures of the runs; "" = none
  bool runs_alone_first = false;
};

struct ExecutionBackend;
/// Where the clients' commands run. Throws Error(kUnsupported) where the library that gates them is missing.
ExecutionBackend backend_of_programs(const LiveCommandOptions& options);

/// Predictions against measurements on hardware.
struct ValidateOptions : ExecuteCommandOptions {
  Duration window{20'000'000'000};  ///< most that is measured of a run
  unsigned repetitions = 5;
  std::vector<std::string> seen;  ///< scenarios that models could have been fitted to
  bool only_predicts = false;
  std::vector<std::string> only;      ///< scenarios; empty = all
  std::vector<std::string> measured;  ///< results files with what was measured before; empty = measure now
  std::string report = "VALIDATION.md";
  bool has_no_budget = false;
  bool has_no_canary = false;
  bool is_live = false;  ///< measures the clients' commands in place of surrogates
};

/// Measuring a GPU, or concluding from what was measured before.
struct CalibrateCommandOptions {
  int gpu = 0;
  std::string output;               ///< device file to write; "" = none
  std::string report;               ///< fit report; "" = stdout
  std::string samples;              ///< what was measured, as JSON lines; "" = not kept
  std::string from;                 ///< samples to conclude from in place of a GPU; "" = measure
  std::string base;                 ///< built-in device or device file with the values that are not measured
  std::string name;                 ///< of the device; "" = the driver's
  std::vector<std::string> groups;  ///< what to measure; empty = all
  bool overwrite = false;
  std::string driver = "libcuda.so.1";
  std::string probe;    ///< "" = corun-probe beside this program
  std::string control;  ///< of MPS; "" = nvidia-cuda-mps-control
};

struct ImportOptions {
  std::vector<std::string> inputs;
  std::string output;  ///< "" = only look
  std::string format = "auto";
  bool overwrite = false;
};

struct ExportOptions {
  std::string file;   ///< capture or results
  std::string table;  ///< of results; "" = a timeline
  std::string run;    ///< of results, as find_run takes it; "" = all rows, or the only run
  std::string python = "python3";
  std::string output;
  bool overwrite = false;
};

struct ViewOptions {
  std::string file;  ///< capture or results
  std::string run;   ///< of results; "" = the only one
  std::string python = "python3";
  unsigned port = 0;  ///< 0 = any that is free
  bool opens_browser = false;
};

struct InspectOptions {
  std::string file;
  bool verify = false;
  std::string recover;  ///< "" = do not
};

struct PolicyOptions {
  std::string name;  ///< "" = all
  std::vector<std::string> plugins;
};

struct WhyOptions {
  std::string run;  ///< FILE, FILE:POLICY or FILE:ID
  std::string client;
  std::string time;  ///< since the run began, with its unit
};

struct CapOptions {
  std::string file;
  std::string device = "h200";
  std::string solo_rate;         ///< jobs per second alone and untraced; "" = as the capture tells
  std::uint32_t iterations = 0;  ///< jobs that the capture is split into; 0 = as it tells
};

struct CompareOptions {
  std::vector<std::string> files;
  std::string baseline;              ///< policy; "" = the first of the results
  std::vector<std::string> metrics;  ///< empty = the main ones; "all" = every one
  std::string markdown, csv, json;   ///< files to write; "" = none
  bool overwrite = false;
};

struct ReportOptions {
  std::vector<std::string> files;
  std::string baseline;  ///< policy; "" = the first of the results
  std::string output;
  bool overwrite = false;
  std::string arguments;  ///< as given
};

struct MetricsOptions {
  std::string name;  ///< of one metric; "" = all
};

struct SqlOptions {
  std::string file;
  std::optional<std::string> query;  ///< none = list the tables
  RowFormat format = RowFormat::kAligned;
};

struct IdentifyCommandOptions {
  std::string device = "h200";  ///< what is known already: a built-in device or a device file
  std::string against;          ///< device whose simulation is the unknown GPU; "" = hardware
  std::string output;           ///< device file to write; "" = none
  bool overwrite = false;
  bool lists_trials = false;
  bool under_mps = false;
  std::uint32_t most_trials = 8;
  std::uint32_t repetitions = 3;
  int gpu = 0;
  std::string driver = "libcuda.so.1";
  std::string worker;  ///< "" = corun-worker beside this program
  bool renders = true;
  std::vector<int> processors;  ///< the scheduler's, then one for each client
};

int run_command(const CommonOptions& common, const RunOptions& options);
int execute_command(const CommonOptions& common, const ExecuteCommandOptions& options);
int live_command(const CommonOptions& common, const LiveCommandOptions& options);
int validate_command(const CommonOptions& common, const ValidateOptions& options);
int calibrate_command(const CommonOptions& common, const CalibrateCommandOptions& options);
int sweep_command(const CommonOptions& common, RunOptions options);
int merge_command(const CommonOptions& common, const MergeOptions& options);
int hash_command(const CommonOptions& common, const std::vector<std::string>& files);
int check_command(const CommonOptions& common, ExperimentOptions options);
int plan_command(const CommonOptions& common, ExperimentOptions options);
int import_command(const CommonOptions& common, const ImportOptions& options);
int export_command(const CommonOptions& common, const ExportOptions& options);
int view_command(const CommonOptions& common, const ViewOptions& options);
/// A capture, or a run of results, as a timeline in the format that the ending of `output` names.
std::string encode_timeline(const std::string& file, const std::string& run, const std::string& output);
int inspect_command(const CommonOptions& common, const InspectOptions& options);
int policy_list_command(const CommonOptions& common, const PolicyOptions& options);
int policy_cap_command(const CommonOptions& common, const CapOptions& options);
int policy_why_command(const CommonOptions& common, const WhyOptions& options);
int compare_command(const CommonOptions& common, const CompareOptions& options);
int report_command(const CommonOptions& common, const ReportOptions& options);
int metrics_command(const CommonOptions& common, const MetricsOptions& options);
int sql_command(const CommonOptions& common, const SqlOptions& options);
int identify_command(const CommonOptions& common, const IdentifyCommandOptions& options);
int version_command(const CommonOptions& common);

/// "1 run", "3 runs", "2 policies".
std::string counted(std::size_t count, std::string_view noun);

/// Set by the first interrupt, once run_in has begun.
const std::atomic<bool>& interrupted();
/// Whether one has come again, in a run whose programs are then to be killed.
const std::atomic<bool>& interrupted_again();
/// Makes a scenario one of that backend. Throws Error(kUnsupported) where it cannot take place there.
void put_in(const ExecutionBackend& backend, Scenario& scenario);
/// Reads, runs and reports an experiment in a backend.
int run_in(const ExecutionBackend& backend, const CommonOptions& common, const RunOptions& options);

/// The worker of runs on hardware, where it was built.
std::string worker_beside_this_program();

/// Everything that an error says, each with the line of its file where that can be read.
std::vector<Diagnostic> diagnostics_of(const Error& error);
/// The text of an error that says `diagnostics`.
std::string render(const Error& error, const std::vector<Diagnostic>& diagnostics, DiagnosticStyle style,
                   bool with_color);
/// Prints an error as the options ask and returns its exit code.
int report_error(const CommonOptions& common, const Error& error);

/// The policies that are built in.
PolicyRegistry builtin_policies();

inline constexpr int kExitExpectation = 6;
inline constexpr int kExitSomeFailed = 7;
inline constexpr int kExitSignal = 128;  ///< plus the number of the signal: 130 for an interrupt

}  // namespace corun
