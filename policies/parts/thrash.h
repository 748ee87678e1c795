#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "sim/policy/view.h"

namespace corun {

/// Detects whether clients that use the device together push one another's memory out.
///
/// A first load pages in as much as its client's resident memory grows. What is paged in beyond that takes the place of
/// memory that these clients need again. It samples every 100 ms and reports thrashing after two such samples in a row.
class ThrashDetector {
 public:
  /// `bytes_per_s`: paging beyond growth that is too much, > 0.
  explicit ThrashDetector(double bytes_per_s) : most_bytes_per_s_(bytes_per_s) {}

  /// Others use the device from now on: nothing of before counts.
  void forget();
  /// Reads the counters of `clients` if it is time to; true if they thrash.
  bool look(const GpuView& view, std::span<const ClientId> clients);
  /// When to look again; before the first look it is taken to be done at `now`.
  Time next_look(Time now) const { return (last_ ? last_->time : now) + kPeriod; }

 private:
  static constexpr Duration kPeriod = std::chrono::milliseconds{100};
  static constexpr int kLooksInARow = 2;

  struct Counters {
    Time time;
    std::uint64_t paged = 0;  // bytes, all clients together
    std::uint64_t resident = 0;
  };

  double churn_bytes_per_s(const Counters& now) const;

  double most_bytes_per_s_;
  std::optional<Counters> last_;
  int bad_looks_ = 0;
};

}  // namespace corun
