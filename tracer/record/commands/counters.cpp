#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <span>

#include "tracer/record/child.h"
#include "tracer/record/hints.h"
#include "tracer/record/host/terminal.h"
#include "tracer/record/options.h"
#include "traces/base/error.h"
#include "traces/base/streams.h"
#include "traces/counters/bound_by.h"
#include "traces/counters/count_kernels.h"
#include "traces/counters/named_parts.h"
#include "traces/native/native.h"
#include "traces/reader.h"

namespace corun::record {

namespace {

namespace fs = std::filesystem;

constexpr const char* kUsualPlace = "/usr/local/cuda/bin/ncu";

[[noreturn]] void refuse(const std::string& message, const std::string& help) {
  throw Error(ErrorKind::kInput, SourceLocation{}, message, help);
}

void check(const CountersOptions& options) {
  if (options.command.empty() == options.csv.empty())
    refuse("either a command or --csv is needed, what to count", "simtrace counters FILE -- CMD..., or --csv REPORT");
  if (!options.output.empty() && !options.overwrite && fs::exists(options.output))
    throw Error(ErrorKind::kInput, SourceLocation{options.output}, "the file exists, expected a new name",
                "choose another name, or replace it with -f");
}

std::string ncu() {
  for (const char* place : {"ncu", kUsualPlace})
    if (const std::string found = executable_of(place); ::access(found.c_str(), X_OK) == 0) return found;
  throw Error(ErrorKind::kUnsupported, SourceLocation{}, fmt::format("ncu is neither in PATH nor at {}", kUsualPlace),
              "install NVIDIA Nsight Compute (it comes with CUDA), or count on another machine and give --csv");
}

/// A file that is gone with this object.
class TemporaryFile {
 public:
  TemporaryFile() : path_((fs::temp_directory_path() / "simtrace-counters-XXXXXX").string()) {
    const int descriptor = ::mkstemp(path_.data());
    if (descriptor < 0) throw Error(ErrorKind::kDevice, SourceLocation{path_}, "it cannot be made");
    ::close(descriptor);
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::vector<std::string> command_of(const CountersOptions& options, const std::string& log) {
  std::vector<std::string> words{ncu(),
                                 "--clock-control=none",
                                 "--cache-control=none",
                                 "--csv",
                                 "--page=raw",
                                 "--print-units=base",
                                 "--print-kernel-base=mangled",
                                 "--target-processes=all",
                                 "--kill=yes",
                                 "--force-overwrite",
                                 "--log-file=" + log,
                                 "--metrics=" + counter_metrics(),
                                 fmt::format("--launch-skip={}", options.skipped),
                                 fmt::format("--launch-count={}", options.launches)};
  words.insert(words.end(), options.command.begin(), options.command.end());
  return words;
}

/// What ncu says went wrong, and what helps.
[[noreturn]] void explain(const std::string& report, int code) {
  const std::size_t error = report.find("==ERROR==");
  const std::string said = error == std::string::npos ? "" : report.substr(error, report.find('\n', error) - error);
  std::string help = "the program must launch more kernels than --skip leaves out";
  if (report.find("ERR_NVGPUCTRPERM") != std::string::npos)
    help = "counters need root, or the driver's NVreg_RestrictProfilingToAdminUsers=0";
  throw Error(ErrorKind::kDevice, SourceLocation{},
              fmt::format("ncu counted nothing and ended with {}{}", code, said.empty() ? "" : ": " + printable(said)),
              help);
}

/// Says how many launches are counted so far, and how long the others may take, in a line of the terminal.
class Progress {
 public:
  Progress(std::string log, std::uint32_t launches) : log_(std::move(log)), launches_(launches) {}
  ~Progress() {
    if (is_shown_) print_err("\r\033[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show() {
    if (!terminal_.is_interactive || Clock::now() - shown_ < std::chrono::seconds(1)) return;
    shown_ = Clock::now();
    const std::uint32_t counted = counted_launches();
    if (counted == 0) begin_ = shown_;
    const double left_s = counted == 0 ? 0
                                       : std::chrono::duration<double>(shown_ - begin_).count() *
                                             (launches_ - std::min(counted, launches_)) / counted;
    print_err("\r\033[Kcounting  {} of {} launches{}", counted, launches_,
              counted == 0 ? ", the program warms up" : fmt::format("  about {} left", clock_text(left_s)));
    std::fflush(stderr);
    is_shown_ = true;
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::uint32_t counted_launches() const {
    std::ifstream file(log_);
    std::uint32_t counted = 0;
    for (std::string line; std::getline(file, line);) counted += line.starts_with("==PROF== Profiling") ? 1 : 0;
    return counted;
  }

  const std::string log_;
  const std::uint32_t launches_;
  const Terminal terminal_ = inspect_stderr();
  Clock::time_point begin_ = Clock::now(), shown_;
  bool is_shown_ = false;
};

/// Signals go on to ncu, which ends the program and keeps what was counted.
std::string run_ncu(const CountersOptions& options) {
  const TemporaryFile log;
  Progress progress(log.path(), options.launches);
  Signals signals;
  constexpr int kTickMs = 100;
  Child child({command_of(options, log.path()), Environment::inherited(), false, false}, signals);
  if (child.exec_error() != 0) refuse("ncu cannot be executed", "check the rights of its file");
  while (!child.exit_code()) {
    const std::optional<Signals::Arrival> arrival = signals.next(kTickMs);
    if (arrival && arrival->asks_to_stop() && !arrival->is_from_terminal) child.send(arrival->number);
    progress.show();
  }
  std::string report = read_source(log.path()).bytes;
  if (report.find("\"Kernel Name\"") == std::string::npos) explain(report, *child.exit_code());
  return report;
}

std::string object_of(std::span<const NamedPart> parts) {
  std::string members;
  for (const auto& [name, part] : parts)
    members += fmt::format("{}\"{}\":{:.4f}", members.empty() ? "" : ",", name, part);
  return '{' + members + '}';
}

std::string summary_json(const std::string& output, const BoundBy& bound) {
  return fmt::format(
      "{{\"schema_version\":1,\"output\":{},\"kernels\":{},\"counted\":{},\"bound_by\":{},\"mean_use\":{}}}\n",
      json_text(output), bound.kernels, bound.counted, object_of(named_parts(bound)),
      object_of(named_parts(bound.mean)));
}

std::string summary_text(const std::string& output, const BoundBy& bound) {
  return fmt::format("{}\n  {:<12} {} of {} kernels, {:.1f} % of their time\n  {:<12} {}\n  {:<12} {}\n",
                     printable(output), "counted", bound.counted, bound.kernels, 100 * bound.mean.counted, "bound by",
                     to_text(bound), "mean use", to_text(bound.mean));
}

}  // namespace

int counters_command(const CountersOptions& options) {
  check(options);
  Timeline timeline = read_native(read_source(options.capture).bytes, options.capture);
  const std::string report = options.csv.empty() ? run_ncu(options) : read_source(options.csv).bytes;
  const std::vector<CountedLaunch> launches =
      read_ncu_csv(report, options.csv.empty() ? "the report of ncu" : options.csv);
  std::vector<CounterRecord> counters = count_kernels(timeline, launches);
  if (counters.empty())
    throw Error(ErrorKind::kInput, SourceLocation{options.capture},
                fmt::format("none of its kernels is among the {} launches that were counted", launches.size()),
                "count the program of the capture, in the steps that it shows");
  timeline.set_counters(std::move(counters));
  const std::string& output = options.output.empty() ? options.capture : options.output;
  write_native(timeline, output, options.output.empty() || options.overwrite);
  const BoundBy bound = bound_by(timeline);
  put_err(options.json ? summary_json(output, bound) : summary_text(output, bound));
  return 0;
}

}  // namespace corun::record
