#include "sim/executor/host/mps_daemon.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <future>
#include <iterator>
#include <mutex>

#include "sim/executor/host/spawn.h"
#include "sim/executor/host/wall_clock.h"
#include "traces/base/error.h"

namespace corun::executor {

namespace {

namespace fs = std::filesystem;

constexpr Duration kAnswerPatience = std::chrono::seconds{5};
constexpr useconds_t kNap = 20'000;
constexpr std::size_t kMostWords = 600;
constexpr const char* kOutput = "output.txt";

fs::path fresh_folder() {
  std::string name = (fs::temp_directory_path() / "corun-mps-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)  // for its owner alone
    throw Error(ErrorKind::kDevice, fmt::format("cannot make {} for an MPS daemon: {}", name, std::strerror(errno)));
  fs::create_directory(fs::path(name) / "pipe");
  fs::create_directory(fs::path(name) / "log");
  return name;
}

int open_for_output(const fs::path& file) {
  return open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR);
}

/// A descriptor from which one reads this text.
int readable(const std::string& text) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  const bool is_written = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(ends[1]);
  if (is_written) return ends[0];
  close(ends[0]);
  return -1;
}

}  // namespace

MpsDaemon::MpsDaemon(std::string control, Duration patience)
    : control_(std::move(control)), patience_(patience), folder_(fresh_folder()) {
  try {
    start();
    await_answer();
  } catch (const Error&) {
    end();
    throw;
  }
}

MpsDaemon::~MpsDaemon() { end(); }

std::vector<std::string> MpsDaemon::environment() const {
  return {"CUDA_MPS_PIPE_DIRECTORY=" + (folder_ / "pipe").string(),
          "CUDA_MPS_LOG_DIRECTORY=" + (folder_ / "log").string()};
}

/// In the foreground: so its process id is known, and nothing else has to be looked for to end it.
void MpsDaemon::start() {
  std::promise<int> promise;
  std::future<int> started = promise.get_future();
  keeper_ = std::jthread([this, promise = std::move(promise)](const std::stop_token& stop) mutable {
    const int output = open_for_output(folder_ / kOutput);
    process_ = spawn({.words = {control_, "-f"}, .environment = environment(), .output = output, .ends_with_us = true});
    const int failure = process_ > 0 ? 0 : errno;
    close(output);
    promise.set_value(failure);
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any().wait(lock, stop, [] { return false; });
  });
  if (const int failure = started.get(); failure != 0)
    throw Error(ErrorKind::kUnsupported, {}, fmt::format("cannot start {}: {}", control_, std::strerror(failure)),
                "sharing by MPS needs this program, which comes with the NVIDIA driver");
}

void MpsDaemon::await_answer() {
  const WallClock clock;
  while (!tell("get_server_list", folder_ / kOutput, kAnswerPatience)) {
    if (has_ended(process_)) {
      process_ = -1;
      throw Error(ErrorKind::kDevice, fmt::format("{} ended at once: {}", control_, last_words()));
    }
    if (clock.elapsed() > patience_)
      throw Error(ErrorKind::kDevice,
                  fmt::format("{} does not answer within {:.0f} s: {}", control_, to_seconds(patience_), last_words()));
    usleep(kNap);
  }
}

/// By the program's own front end, as a person would.
pid_t MpsDaemon::start_front_end(const std::string& command, const fs::path& output) const {
  const int input = readable(command + "\n"), file = open_for_output(output);
  const pid_t front_end = spawn({.words = {control_}, .environment = environment(), .input = input, .output = file});
  close(input);
  close(file);
  return front_end;
}

/// True if the daemon took the command.
bool MpsDaemon::tell(const std::string& command, const fs::path& output, Duration patience) const {
  const pid_t front_end = start_front_end(command, output);
  int status = -1;
  if (front_end <= 0) return false;
  if (await_end(front_end, patience, &status)) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  kill(front_end, SIGKILL);
  waitpid(front_end, nullptr, 0);
  return false;
}

pid_t MpsDaemon::server() const {
  const fs::path answer = folder_ / "servers.txt";
  fs::remove(answer);
  pid_t server = -1;
  if (tell("get_server_list", answer, kAnswerPatience)) std::ifstream(answer) >> server;
  return server > 0 ? server : -1;
}

pid_t MpsDaemon::begin_to_terminate(pid_t server, pid_t client) const {
  return start_front_end(fmt::format("terminate_client {} {}", server, client), folder_ / kOutput);
}

/// A daemon that quits ends its servers first; one that is killed may leave them, so that comes last.
void MpsDaemon::end() {
  if (process_ > 0) tell("quit", folder_ / kOutput, patience_);
  for (const int signal : {SIGTERM, SIGKILL}) {
    if (process_ <= 0 || await_end(process_, patience_)) break;
    kill(process_, signal);
    if (signal == SIGKILL) waitpid(process_, nullptr, 0);
  }
  process_ = -1;
  std::error_code ignored;  // what is left of it does no harm
  fs::remove_all(folder_, ignored);
}

std::string MpsDaemon::last_words() const {
  std::string words;
  for (const fs::path& file : {folder_ / kOutput, folder_ / "log" / "control.log"}) {
    std::ifstream stream(file);
    words.append(std::istreambuf_iterator<char>(stream), {});
  }
  while (words.ends_with('\n')) words.pop_back();
  if (words.empty()) return "it said nothing";
  return words.size() > kMostWords ? "..." + words.substr(words.size() - kMostWords) : words;
}

}  // namespace corun::executor
