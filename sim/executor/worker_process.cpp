#include "sim/executor/worker_process.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sim/executor/wall_clock.h"
#include "traces/base/error.h"

namespace corun::executor {

namespace {

constexpr useconds_t kNap = 1'000;

}  // namespace

void pin(pid_t process, int processor) {
  if (processor < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  sched_setaffinity(process, sizeof(set), &set);  // a machine that refuses runs it anywhere
}

void WorkerProcess::start(const std::string& program, int processor) {
  const std::string descriptor = std::to_string(channel_.descriptor());
  char* arguments[] = {const_cast<char*>(program.c_str()), const_cast<char*>(descriptor.c_str()), nullptr};
  channel_->setup.scheduler = getpid();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, channel_.descriptor(), channel_.descriptor());  // inherited here alone
  const int failure = posix_spawn(&process_, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    throw Error(ErrorKind::kDevice,
                fmt::format("client '{}': cannot start {}: {}", client_, program, std::strerror(failure)));
  pin(process_, processor);
}

WorkerProcess::~WorkerProcess() {
  if (process_ <= 0 || has_exited()) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

bool WorkerProcess::has_exited() {
  if (process_ > 0 && waitpid(process_, nullptr, WNOHANG) != 0) process_ = -1;
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
  while (channel_->state.load(std::memory_order_acquire) != WorkerState::kReady) {
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
