#include "experiments/commands/results/python_script.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sim/executor/host/spawn.h"
#include "traces/base/error.h"

namespace corun {

namespace {

/// A file without a name, to be read from its start.
int file_with(std::string_view bytes) {
  const int file = memfd_create("corun-input", MFD_CLOEXEC);
  while (file >= 0 && !bytes.empty()) {
    const ssize_t count = write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw Error(ErrorKind::kDevice, fmt::format("memory for the trace: {}", std::strerror(errno)));
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  if (file < 0) throw Error(ErrorKind::kDevice, fmt::format("memory for the trace: {}", std::strerror(errno)));
  lseek(file, 0, SEEK_SET);
  return file;
}

}  // namespace

int run_python(const std::string& interpreter, std::string_view script, const std::vector<std::string>& arguments,
               std::string_view input, const std::string& help) {
  executor::Program program;
  program.words = {interpreter, "-P", "-c", std::string(script)};
  program.words.insert(program.words.end(), arguments.begin(), arguments.end());
  program.input = file_with(input);
  program.ends_with_us = true;
  const pid_t process = executor::spawn(program);
  const int reason = errno;
  close(program.input);
  if (process < 0)
    throw Error(ErrorKind::kUnsupported, SourceLocation{},
                fmt::format("`{}` cannot be run: {}", interpreter, std::strerror(reason)), help);
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace corun
