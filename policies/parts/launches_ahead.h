#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "sim/policy/view.h"

namespace corun {

/// How many launches of a client may pass before the policy hears of them, because its newest ones were short.
///
/// Where asking takes time, a program of short kernels spends most of it on being answered. Of its next launches
/// nothing is known, but programs repeat themselves: so many of them take no longer than any so many in a row of the
/// newest thousand were expected to. They would be admitted if they were asked about: nothing is lost of the room that
/// there is.
class LaunchesAhead {
 public:
  static constexpr std::uint32_t kNewest = 1000;  ///< and up to twice as many: the longest of so many is known

  /// The client launched a kernel that is expected to take so long.
  void launched(ClientId client, Duration expected) {
    if (client.value >= clients_.size()) clients_.resize(client.value + 1);
    clients_[client.value].add(expected);
  }

  /// What it launched is expected to take so long, now that it has been measured.
  void measured(ClientId client, Duration expected) {
    if (client.value >= clients_.size()) return;
    Row& longest = clients_[client.value].newest;
    longest[0] = std::max(longest[0], expected);
  }

  /// Launches for which there is room, `sharers` clients alike; 0 while nothing is known of the client.
  std::uint32_t in(Duration room, ClientId client, std::size_t sharers) const {
    if (client.value >= clients_.size()) return 0;
    const Row longest = clients_[client.value].longest();
    const Duration part = room / static_cast<std::int64_t>(std::max<std::size_t>(sharers, 1));
    if (longest[0] <= Duration::zero()) return 0;
    std::uint32_t count = 0;
    Duration work{};
    for (std::size_t i = kLengths; i-- > 0;) {
      if (work + longest[i] > part) continue;
      work += longest[i];
      count += 1U << i;
    }
    return count;
  }

 private:
  static constexpr std::size_t kLengths = 9;  // of stretches: 1, 2, 4 and up to 256 launches in a row
  static constexpr std::size_t kSums = std::size_t{1} << kLengths;
  using Row = std::array<Duration, kLengths>;

  struct Client {
    Row newest{}, before{};  // the longest stretches of each length: of `count` launches, of kNewest before them
    std::uint32_t count = 0;
    std::array<Duration, kSums> sums{};  // ring: of all launches until one
    std::uint64_t total = 0;             // launches

    void add(Duration expected) {
      if (count == kNewest) before = newest, newest = {}, count = 0;
      ++count;
      const Duration sum = sums[total % kSums] + expected;
      sums[++total % kSums] = sum;
      for (std::size_t i = 0; i < kLengths && total >> i > 0; ++i)
        newest[i] = std::max(newest[i], sum - sums[(total - (std::uint64_t{1} << i)) % kSums]);
    }

    /// A stretch that is longer than what has been launched counts as twice the half of it.
    Row longest() const {
      Row all;
      for (std::size_t i = 0; i < kLengths; ++i) {
        all[i] = std::max(newest[i], before[i]);
        if (i > 0) all[i] = total >> i > 0 ? std::max(all[i], all[i - 1]) : 2 * all[i - 1];
      }
      return all;
    }
  };
  std::vector<Client> clients_;
};

}  // namespace corun
