#pragma once

#include <sys/types.h>

#include <string>

#include "sim/executor/channel.h"
#include "traces/base/time.h"

namespace corun::executor {

/// Lets a process (0 = the calling thread) run on this processor alone; -1 = wherever it may now.
void pin(pid_t process, int processor);

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

  /// Starts `program` with the channel's descriptor as its argument, on processor `processor` (-1 = any). It is killed
  /// when the calling thread ends. Throws Error(kDevice) where it cannot.
  void start(const std::string& program, int processor);
  /// Waits until it can take commands. Throws what it failed with, or Error(kDevice) if it died or the time is over.
  void await_ready(Duration patience);
  /// Throws if it has failed or died.
  void check();
  /// Tells it to end; does not wait.
  void tell_to_end();
  /// Tells it to end and waits; one that takes longer is killed with this object. Throws as check() does.
  void end(Duration patience);

 private:
  bool has_exited();

  MappedChannel channel_ = MappedChannel::create();
  std::string client_;
  pid_t process_ = -1;
};

}  // namespace corun::executor
