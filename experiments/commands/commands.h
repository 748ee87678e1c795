#pragma once

#include <string>
#include <vector>

#include "experiments/diagnostic.h"
#include "experiments/experiment.h"
#include "experiments/progress.h"
#include "experiments/terminal.h"

namespace corun {

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

struct RunOptions : ExperimentOptions {
  std::string output;  ///< "" = as the experiment says
  bool overwrite = false;
  unsigned jobs = 0;  ///< 0 = one per processor
  ProgressStyle progress = ProgressStyle::kAuto;
  std::string arguments;  ///< as given, to print how to do it again
};

/// A run on hardware: one at a time.
struct ExecuteCommandOptions : RunOptions {
  int gpu = 0;
  std::string driver = "libcuda.so.1";
  std::string worker;  ///< "" = corun-worker beside this program
  bool has_kernel_frames = false;
  std::vector<int> processors;  ///< the scheduler's, then one for each client
};

struct ImportOptions {
  std::vector<std::string> inputs;
  std::string output;  ///< "" = only look
  std::string format = "auto";
  bool overwrite = false;
};

struct ExportOptions {
  std::string file;
  std::string output;
  bool overwrite = false;
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

int run_command(const CommonOptions& common, const RunOptions& options);
int execute_command(const CommonOptions& common, const ExecuteCommandOptions& options);
int check_command(const CommonOptions& common, const ExperimentOptions& options);
int plan_command(const CommonOptions& common, const ExperimentOptions& options);
int import_command(const CommonOptions& common, const ImportOptions& options);
int export_command(const CommonOptions& common, const ExportOptions& options);
int inspect_command(const CommonOptions& common, const InspectOptions& options);
int policy_list_command(const CommonOptions& common, const PolicyOptions& options);
int policy_cap_command(const CommonOptions& common, const CapOptions& options);
int policy_why_command(const CommonOptions& common, const WhyOptions& options);
int version_command(const CommonOptions& common);

/// Prints an error as the options ask and returns its exit code.
int report_error(const CommonOptions& common, const Error& error);

/// The policies that are built in.
PolicyRegistry builtin_policies();

inline constexpr int kExitExpectation = 6;
inline constexpr int kExitSomeFailed = 7;
inline constexpr int kExitSignal = 128;  ///< plus the number of the signal: 130 for an interrupt

}  // namespace corun
