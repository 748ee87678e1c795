#include "tracer/record/child.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <system_error>

#include "tracer/record/options.h"
#include "traces/base/error.h"

namespace corun::record {

namespace {

[[noreturn]] void fail(const char* what) {
  throw Error(ErrorKind::kDevice, fmt::format("cannot {}: {}", what, std::generic_category().message(errno)));
}

constexpr std::string_view kOnlyProcess = "CORUN_TRACE_ONLY_PID";
constexpr std::string_view kRoomForProcess = "0000000000";

/// Everything that the child needs, made before the fork: after it nothing is allocated.
struct Prepared {
  std::vector<char*> arguments;
  std::vector<char*> environment;
  char* process_end = nullptr;  ///< behind the digits of the child's own process id; null where it is not passed on
};

Prepared prepare(ChildSetting& setting) {
  Prepared prepared;
  for (std::string& word : setting.command) prepared.arguments.push_back(word.data());
  prepared.arguments.push_back(nullptr);
  if (setting.is_only_recorded) setting.environment.set(kOnlyProcess, kRoomForProcess);
  prepared.environment = setting.environment.pointers();
  if (setting.is_only_recorded) {
    char* entry = prepared.environment[prepared.environment.size() - 2];  // the last one before the null
    prepared.process_end = entry + std::strlen(entry);
  }
  return prepared;
}

void write_process(char* end) {
  for (pid_t rest = ::getpid(); end != nullptr && rest > 0; rest /= 10) *--end = static_cast<char>('0' + rest % 10);
}

void silence() {
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nowhere, STDIN_FILENO);
  ::dup2(nowhere, STDOUT_FILENO);
}

/// Never comes back: becomes the program, or says why not.
[[noreturn]] void become(const Prepared& prepared, bool is_silent, const Signals& signals, int report) {
  signals.restore_in_child();
  if (is_silent) silence();
  write_process(prepared.process_end);
  ::execvpe(prepared.arguments[0], prepared.arguments.data(), prepared.environment.data());
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(report, &error, sizeof(error));
  ::_exit(error == ENOENT ? kExitNotFound : kExitCannotExecute);
}

/// What the child wrote before its exec failed; nothing once the exec has closed the pipe.
int read_error(int from) {
  int error = 0;
  ssize_t size = 0;
  do {
    size = ::read(from, &error, sizeof(error));
  } while (size < 0 && errno == EINTR);
  return size == sizeof(error) ? error : 0;
}

}  // namespace

Child::Child(ChildSetting setting, const Signals& signals) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("make a pipe");
  const Prepared prepared = prepare(setting);
  process_ = ::fork();
  if (process_ == 0) become(prepared, setting.is_silent, signals, ends[1]);
  const int error = errno;
  ::close(ends[1]);
  if (process_ > 0) exec_error_ = read_error(ends[0]);
  ::close(ends[0]);
  errno = error;
  if (process_ < 0) fail("make a process");
}

std::optional<int> Child::exit_code() {
  int status = 0;
  if (!exit_code_ && ::waitpid(process_, &status, exec_error_ == 0 ? WNOHANG : 0) == process_)
    exit_code_ = WIFSIGNALED(status) ? kExitSignal + WTERMSIG(status) : WEXITSTATUS(status);
  return exit_code_;
}

void Child::send(int signal_number) {
  if (!exit_code()) ::kill(process_, signal_number);
}

}  // namespace corun::record
