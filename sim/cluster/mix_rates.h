#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "traces/base/error.h"

namespace corun {

/// What a pod is to the others on its card: whose work it does, and what it asks for.
struct MixMember {
  std::string client;
  Milli milli = 0;
  std::uint64_t memory_bytes = 0;
  auto operator<=>(const MixMember&) const = default;
};

/// Pods that are on one card together, in ascending order.
using Mix = std::vector<MixMember>;

/// Jobs a nanosecond of one member: the mean, and the least and the most in any half of a window.
struct MixRate {
  double mean = 0.0, least = 0.0, most = 0.0;
  /// Jobs that it has fewer at the end of its first pass, its second and so on than its mean rate gives it, where all
  /// begin together; of passes that end before a window begins.
  std::vector<double> start{};
};

struct MixRates {
  std::vector<MixRate> members;    ///< as the mix has them; equal members have equal rates
  std::vector<std::string> parts;  ///< clients of which less than one pass over their jobs was seen
  std::uint64_t events = 0;        ///< that were simulated
};

/// Simulates the mix on a card as its pods would be, but with work that has no end, twice for `window` after half as
/// long a warm-up: once all begin together with their first jobs, once one after the other with drawn ones. Rates are
/// whole passes over jobs by their time, where the window has one; equal members share the mean of theirs. A function
/// of its arguments but for `where`, which is for messages.
/// Throws Error(kUnsupported, where) where a member finishes fewer jobs in a window than kFewestMixJobs, or none in a
/// half of it, and where a client is killed or refused; and what simulate() throws.
MixRates measure_mix(const CardSharing& sharing, const Mix& mix, Duration window, const SourceLocation& where,
                     const std::atomic<bool>* interrupt);

inline constexpr std::uint64_t kFewestMixJobs = 5;

}  // namespace corun
