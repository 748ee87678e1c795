#include "sim/executor/worker_process.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sim/executor/host/processors.h"
#include "sim/executor/host/spawn.h"
#include "sim/executor/host/wall_clock.h"
#include "traces/base/error.h"

namespace corun::executor {

namespace {

constexpr useconds_t kNap = 1'000;

}  // namespace

void WorkerProcess::start(const std::string& program, int processor, const std::vector<std::string>& environment) {
  channel_->setup.scheduler = getpid();
  std::vector<int> descriptors = {channel_.descriptor()};
  if (channel_->setup.snapshot_descriptor >= 0) descriptors.push_back(channel_->setup.snapshot_descriptor);
  process_ = spawn({.words = {program, std::to_string(channel_.descriptor())},
                    .environment = environment,
                    .descriptors = descriptors});
  if (process_ <= 0)
    throw Error(ErrorKind::kDevice,
                fmt::format("client '{}': cannot start {}: {}", client_, program, std::strerror(errno)));
  pin(process_, processor);
}

WorkerProcess::~WorkerProcess() {
  if (process_ <= 0 || has_exited()) return;
  ::kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

void WorkerProcess::kill() {
  if (process_ > 0) ::kill(process_, SIGKILL);
}

bool WorkerProcess::has_exited() {
  if (process_ > 0 && has_ended(process_)) process_ = -1;
  return process_ <= 0;
}

/// Looks whether it has exited first: its last state is left behind before that.
void WorkerProcess::check() {
  const bool is_over = has_exited();
  const WorkerState state = channel_->state.load(std::memory_order_acquire);
  if (state == WorkerState::kFailed)
    throw Error(static_cast<ErrorKind>(channel_->error_kind), fmt::format("client '{}': {}", client_, channel_->error));
  if (state != WorkerState::kEnded && is_over)
    throw Error(ErrorKind::kDevice, fmt::format("client '{}': its process died", client_));
}

void WorkerProcess::await_ready(Duration patience) {
  const WallClock clock;
  while (!is_ready()) {
    check();
    if (clock.elapsed() > patience)
      throw Error(ErrorKind::kDevice,
                  fmt::format("client '{}': its process is not ready after {:.0f} s", client_, to_seconds(patience)));
    usleep(kNap);
  }
}

void WorkerProcess::tell_to_end() { channel_->is_to_end.store(true, std::memory_order_release); }

void WorkerProcess::end(Duration patience) {
  tell_to_end();
  const WallClock clock;
  while (!has_exited() && clock.elapsed() < patience) usleep(kNap);
  check();
}

}  // namespace corun::executor
