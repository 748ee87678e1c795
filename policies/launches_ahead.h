#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/policy/view.h"

namespace corun {

/// How many launches of a client may pass before anybody has heard of them, because its newest ones were short.
///
/// Where asking takes time, a program of short kernels spends most of it on being answered. Of its next launches nothing
/// is known, but kernels like its newest thousand take no longer than the longest of those was expected to.
class LaunchesAhead {
 public:
  /// So much work at most passes unheard, if all is as expected.
  static constexpr Duration kMostWork{500'000};
  static constexpr std::uint32_t kNewest = 1000;  ///< and up to twice as many: the longest of so many is known

  /// A kernel of the client is expected to take so long; to be told at each launch, and when it has been measured.
  void expects(ClientId client, Duration duration) {
    if (client.value >= clients_.size()) clients_.resize(client.value + 1);
    Longest& its = clients_[client.value];
    if (its.count == kNewest) its = {Duration{}, its.newest, 0};
    its.newest = std::max(its.newest, duration);
    ++its.count;
  }

  /// Launches for which there is room, `sharers` clients alike; 0 while nothing is known of the client.
  std::uint32_t in(Duration room, ClientId client, std::size_t sharers) const {
    if (client.value >= clients_.size()) return 0;
    const Longest& its = clients_[client.value];
    const Duration longest = std::max(its.newest, its.before);
    if (longest <= Duration::zero() || room <= Duration::zero()) return 0;
    const Duration part = std::min(room / static_cast<std::int64_t>(std::max<std::size_t>(sharers, 1)), kMostWork);
    return static_cast<std::uint32_t>(part / longest);
  }

 private:
  struct Longest {
    Duration newest{};  // of `count`
    Duration before{};  // of the kNewest before them
    std::uint32_t count = 0;
  };
  std::vector<Longest> clients_;
};

}  // namespace corun
