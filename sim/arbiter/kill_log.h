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
  void snapshot(ClientId client, Duration device_time, Time now) {
    kills_[client.value].device_time_kept = device_time;
    kills_[client.value].kept_until = now;
  }
  void kill(ClientId client, Duration device_time, Time now) {
    Kill& kill = kills_[client.value];
    kill = Kill{true, now, device_time - kill.device_time_kept, kill.kept_until, device_time, now};
  }
  /// The client's newest kill is over: restored at `restored`, or never.
  void end(ClientId client, Time restored) {
    Kill& kill = kills_[client.value];
    if (kill.is_restoring) recorder_.on_kill(KillFact{client, kill.time, kill.lost, restored, kill.since});
    kill.is_restoring = false;
  }

 private:
  struct Kill {
    bool is_restoring = false;
    Time time;
    Duration lost{};
    Time since;
    Duration device_time_kept{};  ///< when its last snapshot began, or when it was killed
    Time kept_until;              ///< that moment
  };

  std::vector<Kill> kills_;  ///< by client, the newest
  Recorder& recorder_;
};

}  // namespace corun
