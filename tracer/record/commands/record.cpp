#include <sys/stat.h>

#include <ctime>
#include <filesystem>

#include "tracer/guest/settings.h"
#include "tracer/record/host/environment.h"
#include "tracer/record/host/terminal.h"
#include "tracer/record/options.h"
#include "tracer/record/recording.h"
#include "traces/base/error.h"
#include "traces/base/streams.h"

namespace corun::record {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& message, const std::string& help) {
  throw Error(ErrorKind::kInput, SourceLocation{}, message, help);
}

void check(const RecordOptions& options) {
  if (options.command.empty()) refuse("there is no command", "put it behind two dashes: simtrace record -- CMD...");
  if (options.kill == Kill::kTerm && !options.timed)
    refuse("--kill term without --timed, which says when", "add --timed 30s, for example");
  if (options.rate_pass && options.cuda == Use::kOff)
    refuse("--rate-pass counts launches, and --cuda off leaves none", "leave one of them out");
  if (options.rate_pass && !options.with_calls)
    refuse("--rate-pass compares launch calls, and --detail kernels leaves them out", "leave one of them out");
}

/// "python3-20250131T142501.corun"
std::string default_output(const std::string& command) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char instant[32];
  std::strftime(instant, sizeof(instant), "%Y%m%dT%H%M%S", &local);
  return fmt::format("{}-{}.corun", fs::path(command).filename().string(), instant);
}

/// Better now than after an hour of recording.
void check_output(const RecordOptions& options) {
  struct stat status {};
  if (::lstat(options.output.c_str(), &status) != 0) return;
  if (!S_ISREG(status.st_mode))
    throw_input(SourceLocation{options.output}, "this is no regular file, expected a name for a new one");
  if (!options.overwrite)
    throw Error(ErrorKind::kInput, SourceLocation{options.output}, "the file exists, expected a new name",
                "choose another name, or replace it with -f");
}

/// What a program gets before the guests are put in: what an outer recording has left there is gone.
Environment clean_environment() {
  Environment environment = Environment::inherited();
  for (const char* name :
       {"DIR", "ONLY_PID", "FROM_NS", "UNTIL_NS", "FRAMES", "MAX_BYTES", "REDACT", "CUDA", "GL", "VULKAN"})
    environment.remove(std::string("CORUN_TRACE_") + name);
  return environment;
}

}  // namespace

int record_command(const RecordOptions& given) {
  RecordOptions options = given;
  check(options);
  std::error_code ignored;
  if (options.output.empty() || fs::is_directory(options.output, ignored)) {
    options.output = (fs::path(options.output) / default_output(options.command[0])).string();
    if (!options.is_quiet) print_err("recording to {}\n", printable(options.output));
  }
  check_output(options);
  const PartsFolder folder = PartsFolder::make(options.output + ".parts", options.overwrite);
  try {
    return Recording(options, folder, clean_environment()).run();
  } catch (const Error& error) {
    if (folder.parts().empty()) folder.remove();
    if (error.kind() != ErrorKind::kDevice) throw;
    put_err(render(error, inspect_stderr().has_color));
    return kExitRecorderFailed;
  }
}

}  // namespace corun::record
