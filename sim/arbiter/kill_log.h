#pragma once

#include <cstddef>
#include <vector>

#include "sim/facts/recorder.h"
#include "traces/base/ids.h"
#include "traces/base/time.h"

namespace corun {

/// What every kill cost: device time since the snapshot that the client is restored from. Each kill becomes a KillFact.
class KillLog {
 public:
  /// `recorder` must outlive it.
  KillLog(std::size_t clients, Recorder& recorder) : kills_(clients), recorder_(recorder) {}

  /// A snapshot begins; `device_time` is what the client has received so far.
  void begin_snapshot(ClientId client, Duration device_time, Time now) {
    kills_[client.value].begun = {device_time, now};
  }
  /// The snapshot that began last is complete.
  void keep_snapshot(ClientId client) { kills_[client.value].kept = kills_[client.value].begun; }
  void kill(ClientId client, Duration device_time, Time now) {
    Kill& kill = kills_[client.value];
    kill = Kill{true, now, device_time - kill.kept.device_time, kill.kept.when, {device_time, now}, {}};
  }
  /// The client's newest kill is over: restored at `restored`, or never.
  void end(ClientId client, Time restored) {
    Kill& kill = kills_[client.value];
    if (kill.is_restoring) recorder_.on_kill(KillFact{client, kill.time, kill.lost, restored, kill.since});
    kill.is_restoring = false;
  }

 private:
  struct State {
    Duration device_time{};
    Time when;
  };
  struct Kill {
    bool is_restoring = false;
    Time time;
    Duration lost{};
    Time since;
    State kept;   ///< when its last complete snapshot began, or when it was killed
    State begun;  ///< of the newest snapshot
  };

  std::vector<Kill> kills_;  ///< by client, the newest
  Recorder& recorder_;
};

}  // namespace corun
