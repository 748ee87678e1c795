#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "traces/base/time.h"

namespace corun::record {

/// Whether a guest library is put into the program.
enum class Use : std::uint8_t {
  kAuto,  ///< where it can be
  kOn,    ///< an error where it cannot be
  kOff,
};

/// What happens to the program when the time asked for is over.
enum class Kill : std::uint8_t { kNone, kTerm };

/// Frames counted from 1, both ends included.
struct FrameWindow {
  std::uint64_t first = 1;
  std::uint64_t last = UINT64_MAX;

  bool is_whole() const { return first == 1 && last == UINT64_MAX; }
};

/// What `simtrace record` was asked for.
struct RecordOptions {
  std::vector<std::string> command;
  std::string output;  ///< "" = named after the program and the time
  bool overwrite = false;
  Use cuda = Use::kAuto, gl = Use::kAuto, vulkan = Use::kAuto;
  bool with_calls = true;         ///< --detail calls; false: kernels
  std::optional<Duration> delay;  ///< from the start of the program on
  std::optional<Duration> timed;  ///< from the end of the delay on
  FrameWindow frames;
  std::optional<std::uint64_t> max_bytes;  ///< of each part
  bool redact_names = false;
  Kill kill = Kill::kNone;
  bool follow_children = false;
  bool rate_pass = false;
  bool is_quiet = false;
  bool shows_progress = false;
  bool json = false;
};

/// What `simtrace merge` was asked for.
struct MergeCommandOptions {
  std::string parts;  ///< folder that a recording left
  std::string output;
  bool overwrite = false;
  bool is_quiet = false;
  bool json = false;
};

struct DoctorOptions {
  bool json = false;
};

/// What `simtrace counters` was asked for: either a command to count, or a report of ncu.
struct CountersOptions {
  std::string capture;               ///< whose kernels are counted
  std::string output;                ///< "" = the capture itself is replaced
  bool overwrite = false;            ///< an output that exists and is another file
  std::string csv;                   ///< what ncu printed elsewhere; "" = run `command` under ncu
  std::vector<std::string> command;  ///< the program of the capture
  std::uint32_t launches = 100;      ///< that are counted
  std::uint32_t skipped = 500;       ///< launches before them: loading and warming up
  bool json = false;
};

/// The commands. Each returns the exit code of simtrace and throws Error for what the user or the machine has to put
/// right. Nothing goes to stdout but the answers of `doctor`: it belongs to the program that is recorded.
int record_command(const RecordOptions& options);
int merge_command(const MergeCommandOptions& options);
int doctor_command(const DoctorOptions& options);
int counters_command(const CountersOptions& options);

inline constexpr int kExitRecorderFailed = 125;
inline constexpr int kExitCannotExecute = 126;
inline constexpr int kExitNotFound = 127;
inline constexpr int kExitSignal = 128;  ///< plus the number of the signal

}  // namespace corun::record
