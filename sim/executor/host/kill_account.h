#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "traces/base/time.h"

namespace corun::executor {

/// How often something happened to a client, and the longest that it took.
struct LongestOf {
  std::uint64_t times = 0;
  Duration longest{}, longest_part{};
  void add(Duration took, Duration part = {});
};

/// "once", "3 times".
std::string times(std::uint64_t count);

/// What snapshots and restarts of a run's clients took.
class KillAccount {
 public:
  void snapshot(std::string_view client, Duration took) { snapshots_[std::string(client)].add(took); }
  /// So long after a kill, a new process of the client could go on; of that, `dying` until its context had ended.
  void restarted(std::string_view client, Duration took, Duration dying) {
    restarts_[std::string(client)].add(took, dying);
  }
  /// A sentence for each client and what happened to it.
  std::vector<std::string> notes() const;

 private:
  std::map<std::string, LongestOf, std::less<>> snapshots_, restarts_;
};

}  // namespace corun::executor
