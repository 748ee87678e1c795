#include "sim/calibration/probes/probe_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sim/executor/host/spawn.h"
#include "sim/executor/host/wall_clock.h"
#include "traces/base/error.h"

namespace corun::calibration {

namespace {

using executor::WallClock;

constexpr Duration kEndPatience = std::chrono::seconds{2};
constexpr std::size_t kMostSaid = 600;

bool is_ready(const std::string& line) { return line == "ready"; }
bool is_sample(const std::string& line) { return line.starts_with('{'); }

std::string end_text(int status) {
  return WIFSIGNALED(status) ? fmt::format("signal {} ended it", WTERMSIG(status))
                             : fmt::format("it ended with exit code {} and said nothing", WEXITSTATUS(status));
}

void close_end(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

}  // namespace

ProbeProcess::ProbeProcess(const std::vector<std::string>& words, const std::vector<std::string>& environment) {
  int to[2], from[2];
  if (pipe2(to, O_CLOEXEC) != 0) throw Error(ErrorKind::kDevice, fmt::format("no pipe: {}", std::strerror(errno)));
  if (pipe2(from, O_CLOEXEC) != 0) {
    close(to[0]);
    close(to[1]);
    throw Error(ErrorKind::kDevice, fmt::format("no pipe: {}", std::strerror(errno)));
  }
  input_ = to[1];
  output_ = from[0];
  process_ = executor::spawn({.words = words, .environment = environment, .input = to[0], .output = from[1]});
  const int failure = errno;
  close(to[0]);
  close(from[1]);
  if (process_ > 0) return;
  close_end(input_);
  close_end(output_);
  throw Error(ErrorKind::kDevice, fmt::format("cannot start {}: {}", words.front(), std::strerror(failure)));
}

ProbeProcess::~ProbeProcess() {
  close_end(input_);
  close_end(output_);
  if (process_ <= 0 || executor::has_ended(process_)) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

void ProbeProcess::await_ready(Duration patience) { await_line(patience, "ready", is_ready); }

void ProbeProcess::begin_at(std::int64_t instant_ns) {
  const std::string line = std::to_string(instant_ns) + "\n";
  struct sigaction ignored {
  }, before{};
  ignored.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignored, &before);  // one that has died is found out when its sample is awaited
  [[maybe_unused]] const ssize_t written = write(input_, line.data(), line.size());
  sigaction(SIGPIPE, &before, nullptr);
}

Sample ProbeProcess::await_sample(Duration patience) {
  const std::string line = await_line(patience, "through with measuring", is_sample);
  Sample sample = sample_from_json_line(line, "a probe's output", 1);
  if (executor::await_end(process_, kEndPatience)) process_ = -1;
  return sample;
}

std::string ProbeProcess::await_line(Duration patience, const char* what, bool (*is_it)(const std::string&)) {
  const WallClock clock;
  while (true) {
    const std::size_t end = unread_.find('\n');
    if (end != std::string::npos) {
      const std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      if (is_it(line)) return line;
      if (said_.size() < kMostSaid) said_ += (said_.empty() ? "" : "; ") + line;
      continue;
    }
    const Duration left = patience - clock.elapsed();
    if (left <= Duration{})
      throw Error(ErrorKind::kDevice, fmt::format("it was not {} after {:.0f} s", what, to_seconds(patience)));
    if (!read_more(left)) fail_as_it_did();
  }
}

/// False at the end of its output.
bool ProbeProcess::read_more(Duration patience) {
  pollfd waiting{output_, POLLIN, 0};
  const auto milliseconds = static_cast<int>(std::min<std::int64_t>(to_ns(patience) / 1'000'000 + 1, 60'000));
  if (poll(&waiting, 1, milliseconds) <= 0) return true;
  char bytes[1 << 16];
  const ssize_t count = read(output_, bytes, sizeof(bytes));
  if (count > 0) unread_.append(bytes, static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

void ProbeProcess::fail_as_it_did() {
  int status = 0;
  if (executor::await_end(process_, kEndPatience, &status)) process_ = -1;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  const bool is_kind = code >= static_cast<int>(ErrorKind::kInput) && code <= static_cast<int>(ErrorKind::kDevice);
  if (!unread_.empty()) said_ += (said_.empty() ? "" : "; ") + unread_;
  if (said_.empty()) said_ = process_ > 0 ? "it closed its output without a word" : end_text(status);
  throw Error(is_kind ? static_cast<ErrorKind>(code) : ErrorKind::kDevice, said_);
}

}  // namespace corun::calibration
