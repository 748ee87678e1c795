#include "sim/live/client/group_times.h"

#include "sim/policy/view.h"

namespace corun::live {

std::vector<Duration> group_times(Duration took, const std::vector<Duration>& expected) {
  double sum = 0, known = 0;
  for (const Duration each : expected) {
    if (each == kUnknownDuration) continue;
    sum += static_cast<double>(each.count());
    ++known;
  }
  const double usual = sum > 0 ? sum / known : 1;
  const double whole = sum + usual * (static_cast<double>(expected.size()) - (sum > 0 ? known : 0));
  std::vector<Duration> parts;
  double before = 0;
  Duration given{};
  for (const Duration each : expected) {
    before += each == kUnknownDuration || sum <= 0 ? usual : static_cast<double>(each.count());
    const Duration until{static_cast<std::int64_t>(static_cast<double>(took.count()) * (before / whole))};
    parts.push_back(until - given);
    given = until;
  }
  if (!parts.empty()) parts.back() += took - given;
  return parts;
}

}  // namespace corun::live
