#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "traces/base/time.h"

namespace corun::executor {

/// A private MPS control daemon: contexts of processes that are started with its environment share the device at once
/// instead of taking turns. It lives in a fresh temporary folder that no other user can enter; other daemons of the
/// machine are left alone, and no setting of the device is changed.
class MpsDaemon {
 public:
  static constexpr const char* kControl = "nvidia-cuda-mps-control";
  static constexpr Duration kPatience = std::chrono::seconds{20};

  /// Starts `control` and waits until it answers. Throws Error(kUnsupported) where that program is not installed and
  /// Error(kDevice) with the last lines of its log where it ends or does not answer within `patience`. It ends with
  /// this process at the latest.
  explicit MpsDaemon(std::string control = kControl, Duration patience = kPatience);
  /// Asks it to quit, kills it where it does not within its patience, and removes its folder. Processes that use it
  /// should have ended.
  ~MpsDaemon();
  MpsDaemon(const MpsDaemon&) = delete;
  MpsDaemon& operator=(const MpsDaemon&) = delete;

  /// NAME=VALUE of each variable that a process needs to use it.
  std::vector<std::string> environment() const;

  /// Id of the server process that its clients share, once there is a client; -1 = none, or it does not say. Waits for
  /// the answer.
  pid_t server() const;
  /// Asks it to end what a client process has on the device: the documentation of MPS wants that before such a process
  /// is killed, for the sake of the others. Does not wait; returns a process of ours that ends when that is done, or
  /// -1.
  pid_t begin_to_terminate(pid_t server, pid_t client) const;

  /// The folder with its pipes and logs.
  const std::filesystem::path& folder() const { return folder_; }

 private:
  void start();
  void await_answer();
  pid_t start_front_end(const std::string& command, const std::filesystem::path& output) const;
  bool tell(const std::string& command, const std::filesystem::path& output, Duration patience) const;
  void end();
  std::string last_words() const;

  const std::string control_;
  const Duration patience_;
  std::filesystem::path folder_;
  pid_t process_ = -1;
  std::jthread keeper_;  ///< starts it and lives as long as it: what is bound to a process is bound to a thread of it
};

}  // namespace corun::executor
