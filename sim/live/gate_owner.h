#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/live/gate_door.h"
#include "sim/live/sealed_memory.h"
#include "tracer/gate/channel/channel.h"
#include "tracer/gate/channel/futex.h"

namespace corun::live {

/// The scheduler's end of the gates: their memory, and a new folder of their sockets, which it removes. The sockets end
/// with this process, however it ends: guests learn of its death by that.
class GateOwner {
 public:
  /// All gates closed. Throws Error(kDevice) where memory or folder cannot be made. Removes folders of schedulers of
  /// this user that have died.
  explicit GateOwner(std::uint32_t clients);
  /// Opens all gates, which stay open.
  ~GateOwner();
  GateOwner(const GateOwner&) = delete;
  GateOwner& operator=(const GateOwner&) = delete;

  /// Of the socket of a client.
  const std::string& path(std::uint32_t client) const { return paths_[client]; }
  /// Removed with this object, with all that is in it.
  const std::string& folder() const { return folder_; }
  gate::GateCommon& common() const { return *common_; }
  gate::Lane& lane(std::uint32_t client) const { return *static_cast<gate::Lane*>(lanes_[client]->get()); }

  void beat();
  /// Sleeps until the bell has rung since it showed `seen`, for at most `most_ns`; stays awake at first where the next
  /// question `is_near`.
  void await_bell(std::uint32_t seen, std::int64_t most_ns, bool is_near = false);
  /// Everything of this client passes from now on.
  void open_for_good(std::uint32_t client);

 private:
  void make_folder(std::uint32_t clients);
  void remove() const;

  SealedMemory shared_;
  gate::GateCommon* common_;
  std::vector<std::unique_ptr<SealedMemory>> lanes_;  // by client
  std::string folder_;
  std::vector<std::string> paths_;
  std::unique_ptr<GateDoor> door_;
  gate::AwakeWait awake_;
};

}  // namespace corun::live
