#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "sim/workload/client_spec.h"

namespace corun::live {

/// What a live run loads into a program; "" = nothing.
struct Guests {
  std::vector<std::string> preloads;  ///< libraries that are loaded behind those that its LD_PRELOAD names
  std::string injection;              ///< what its CUDA driver loads, where its environment names nothing else
  std::string layer_data;  ///< a folder in front of its XDG_DATA_DIRS, where loaders of Vulkan find our layer
};

/// The command of one client and what it starts: processes of a process group of their own, of the scheduler's user,
/// without a terminal's input, their output on our standard error. What is left of the group is killed with this
/// object.
///
/// From the first start() on, this process adopts those that lose their parents, so as to know when they end.
class Program {
 public:
  Program() = default;
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// `variables` ("NAME=value") come on top of the command's. Throws Error(kInput) where it cannot be started. Again,
  /// once all of the last start are gone.
  void start(const std::string& client, const LiveCommand& command, const std::vector<std::string>& variables,
             const Guests& guests);
  /// Whether all of them have ended; the command itself may have before.
  bool is_gone();
  /// How the command ended, for people: "exit code 1", "signal 9"; "" while it runs and where it ended with 0.
  const std::string& ending() const { return ending_; }
  /// Asks the whole group to end.
  void terminate();
  /// Ends it.
  void kill();

 private:
  bool has_ended();
  void note_ending(int code, int status);

  pid_t group_ = 0;  // also the process of the command; 0 = gone
  bool is_over_ = false;
  std::string ending_;
};

}  // namespace corun::live
