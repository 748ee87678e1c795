#pragma once

#include <string>

#include "tracer/gate/channel/channel.h"
#include "tracer/gate/channel/futex.h"

namespace corun::live {

/// The scheduler's end of a gate file: makes it in a new folder of its own, locks it, and removes both.
///
/// The lock ends with this process, however it ends: guests learn of its death by that.
class GateOwner {
 public:
  /// All gates closed, and their memory taken, so that no write into it can find that there is none. Throws
  /// Error(kDevice) where the file cannot be made.
  explicit GateOwner(std::uint32_t clients);
  /// Opens all gates, which stay open.
  ~GateOwner();
  GateOwner(const GateOwner&) = delete;
  GateOwner& operator=(const GateOwner&) = delete;

  const std::string& path() const { return path_; }
  /// Removed with this object, with all that is in it.
  const std::string& folder() const { return folder_; }
  gate::GateFile& file() const { return *file_; }
  gate::Lane& lane(std::uint32_t client) const { return file_->lanes[client]; }

  void beat();
  /// Sleeps until the bell has rung since it showed `seen`, for at most `most_ns`; stays awake at first where the next
  /// question `is_near`.
  void await_bell(std::uint32_t seen, std::int64_t most_ns, bool is_near = false);
  /// Everything of this client passes from now on.
  void open_for_good(std::uint32_t client);

 private:
  [[noreturn]] void fail(const char* what) const;
  void remove() const;

  std::string folder_, path_;
  int descriptor_ = -1;
  gate::GateFile* file_ = nullptr;
  gate::AwakeWait awake_;
};

}  // namespace corun::live
