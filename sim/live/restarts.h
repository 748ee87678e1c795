#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/arbiter/arbiter.h"
#include "sim/executor/host/kill_account.h"
#include "sim/executor/host/wall_clock.h"
#include "sim/live/client/live_client.h"
#include "sim/live/program.h"
#include "sim/live/snapshot_file.h"
#include "sim/run/run.h"

namespace corun::live {

/// Kills and snapshots of a live run's programs. A kill ends the processes of a client; when the last is gone, its
/// command is started again, and it is back when it launches something. A snapshot is the program's own (SnapshotFile):
/// it is asked for, and the policy goes on as before. One that is never taken costs a kill all that the program did
/// since it was started. One thread.
class Restarts {
 public:
  /// All references outlive this. Files of snapshots are made in `folder`.
  Restarts(const RunInput& input, const std::string& folder, Arbiter& arbiter, const DeviceUse& use,
           const executor::WallClock& clock);

  /// What the client's program finds in its environment.
  std::vector<std::string> variables(ClientId client) const;

  /// Of the policy: Throw Error(kUnsupported) where the client is not restartable, and kill nothing then.
  void snapshot(ClientId client);
  void kill(ClientId client, Program& program);
  /// To be called after every decision: reports to the arbiter what the above began.
  void act(const std::vector<std::unique_ptr<LiveClient>>& clients);

  /// To be called now and then for a client that is present. True: its command is to be started again now.
  bool look_after(LiveClient& client, Program& program);
  /// Whether it was killed and is not back yet.
  bool is_away(ClientId client) const { return members_[client.value].life != Life::kServing; }
  /// Snapshots that its programs have saved.
  std::uint64_t saved(ClientId client) const { return members_[client.value].saved; }

  /// How often what happened and how long it took, and what programs did not do; a sentence each.
  std::vector<std::string> notes() const;

 private:
  enum class Life : std::uint8_t { kServing, kDying, kStarting };
  struct Member {
    std::unique_ptr<SnapshotFile> file;  // of those that state how large their snapshots are
    Life life = Life::kServing;
    Time killed, ended;          // the last time
    std::uint64_t launches = 0;  // of its programs before it was started again
    std::uint64_t asked = 0, saved = 0;
    Time asked_at;
    Duration device_time{};  // when it began to save
    Time begun_at;
  };

  void require_restartable(ClientId client, std::string_view what) const;
  void look_at_snapshot(ClientId client);
  void come_back(ClientId client);
  std::string_view name(ClientId client) const { return input_.clients[client.value].name; }

  const RunInput& input_;
  Arbiter& arbiter_;
  const DeviceUse& use_;
  const executor::WallClock& clock_;
  std::vector<Member> members_;  // by client
  std::vector<ClientId> asked_, killed_;
  executor::KillAccount account_;
};

}  // namespace corun::live
