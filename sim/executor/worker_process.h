#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "sim/executor/worker/channel.h"
#include "traces/base/time.h"

namespace corun::executor {

/// A worker in a process of its own: so its context on the device is its own too, under MPS if a daemon runs. Killed
/// where it has not ended.
class WorkerProcess {
 public:
  explicit WorkerProcess(std::string client) : client_(std::move(client)) {}
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// What it is to be is written here before start().
  Channel& channel() { return *channel_; }

  /// Starts `program` with the channel's descriptor as its argument, on processor `processor` (-1 = any), with these
  /// variables (NAME=VALUE) in addition to our own. It is killed when the calling thread ends. Throws Error(kDevice)
  /// where it cannot.
  void start(const std::string& program, int processor, const std::vector<std::string>& environment = {});
  pid_t id() const { return process_; }  ///< -1 = it does not run
  /// Whether it can take commands.
  bool is_ready() const { return channel_->state.load(std::memory_order_acquire) == WorkerState::kReady; }
  /// Waits until it can take commands. Throws what it failed with, or Error(kDevice) if it died or the time is over.
  void await_ready(Duration patience);
  /// Ends it at once, with its context and all that is in flight there; does not wait.
  void kill();
  /// Whether it has ended, and its context with it.
  bool has_exited();
  /// Throws if it has failed or died.
  void check();
  /// Asks it to end; does not wait.
  void tell_to_end();
  /// Asks it to end and waits; one that takes longer is killed with this object. Throws as check() does.
  void end(Duration patience);

 private:
  MappedChannel channel_ = MappedChannel::create();
  std::string client_;
  pid_t process_ = -1;
};

}  // namespace corun::executor
