#pragma once

#include <functional>
#include <string>
#include <vector>

namespace corun::live {

/// A socket at which a live run is asked for its state, and told new values of its policy's adjustable parameters.
///
/// One request a connection, of words; its answer is text, or the error that answering threw. Of this user alone.
class ControlDoor {
 public:
  using Answer = std::function<std::string(const std::vector<std::string>& words)>;

  /// Makes the socket, and removes it at the end. Throws Error(kInput) where the path is taken or too long,
  /// Error(kDevice) where it cannot be made.
  explicit ControlDoor(std::string path);
  ~ControlDoor();
  ControlDoor(const ControlDoor&) = delete;
  ControlDoor& operator=(const ControlDoor&) = delete;

  /// Answers what has been asked so far. Never waits. Only Error(kInput) may come out of `answer`.
  void serve(const Answer& answer);

 private:
  void let_in();

  const std::string path_;
  int listener_ = -1;
  std::vector<int> askers_;  // oldest first
};

/// Asks the run at this path. Throws Error(kInput) where nothing answers there, and what answering threw.
std::string ask_run(const std::string& path, const std::vector<std::string>& words);

}  // namespace corun::live
