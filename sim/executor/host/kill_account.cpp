#include "sim/executor/host/kill_account.h"

#include <fmt/format.h>

#include <algorithm>

namespace corun::executor {

void LongestOf::add(Duration took, Duration part) {
  ++times;
  longest = std::max(longest, took);
  longest_part = std::max(longest_part, part);
}

std::string times(std::uint64_t count) { return count == 1 ? "once" : fmt::format("{} times", count); }

std::vector<std::string> KillAccount::notes() const {
  std::vector<std::string> notes;
  for (const auto& [client, count] : snapshots_)
    notes.push_back(fmt::format("client '{}': a snapshot was taken {}, in {:.1f} ms at most", client,
                                times(count.times), to_milliseconds(count.longest)));
  for (const auto& [client, count] : restarts_)
    notes.push_back(
        fmt::format("client '{}' was killed and came back {}: its context ended within {:.0f} ms, a new process went "
                    "on after {:.0f} "
                    "ms at most",
                    client, times(count.times), to_milliseconds(count.longest_part), to_milliseconds(count.longest)));
  return notes;
}

}  // namespace corun::executor
