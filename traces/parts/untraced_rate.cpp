#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "traces/base/error.h"
#include "traces/parts/merge.h"

namespace corun {
namespace {

using part::LaunchCountRecord;

constexpr std::uint64_t kStretches = 10;
constexpr std::int64_t kLatestNs = INT64_MAX / 4;

// Instant of a launch, between two counts by a straight line. The launch lies within the counts.
double instant_of(const std::vector<LaunchCountRecord>& counts, double launch) {
  const auto after = std::partition_point(counts.begin(), counts.end(), [&](const LaunchCountRecord& count) {
    return static_cast<double>(count.launches) < launch;
  });
  if (after == counts.begin()) return static_cast<double>(after->at_ns);
  const auto before = std::prev(after);
  if (after == counts.end()) return static_cast<double>(before->at_ns);
  const double share =
      (launch - static_cast<double>(before->launches)) / static_cast<double>(after->launches - before->launches);
  return static_cast<double>(before->at_ns) + share * static_cast<double>(after->at_ns - before->at_ns);
}

// Coefficient of variation of the rates of stretches of as many launches each.
double jitter_of(const std::vector<LaunchCountRecord>& counts, double first, double last) {
  std::array<double, kStretches> rates;
  for (std::uint64_t i = 0; i < kStretches; ++i) {
    const auto launch = [&](std::uint64_t stretch) {
      return first + (last - first) * static_cast<double>(stretch) / kStretches;
    };
    rates[i] = 1 / std::max(instant_of(counts, launch(i + 1)) - instant_of(counts, launch(i)), 1.0);
  }
  const double mean = std::accumulate(rates.begin(), rates.end(), 0.0) / kStretches;
  double squares = 0;
  for (double rate : rates) squares += (rate - mean) * (rate - mean);
  return std::sqrt(squares / kStretches) / mean;
}

}  // namespace

UntracedRate untraced_rate(const PartContent& untraced_pass, std::uint64_t from, std::uint64_t to) {
  std::vector<LaunchCountRecord> counts;
  for (const LaunchCountRecord& count : untraced_pass.launch_counts) {
    const bool is_instant = count.at_ns >= 0 && count.at_ns <= kLatestNs;
    if (is_instant && count.launches >= from && count.launches <= to) counts.push_back(count);
  }
  std::sort(counts.begin(), counts.end(),
            [](const LaunchCountRecord& a, const LaunchCountRecord& b) { return a.launches < b.launches; });
  const std::uint64_t launches = counts.empty() ? 0 : counts.back().launches - counts.front().launches;
  const std::int64_t duration_ns = counts.empty() ? 0 : counts.back().at_ns - counts.front().at_ns;
  constexpr std::uint64_t kFewest = kStretches * part::kLaunchesPerCount;
  if (launches < kFewest || duration_ns <= 0) {
    throw_input({untraced_pass.path}, "{} launches counted in {} ns of the untraced pass, expected at least {}",
                launches, duration_ns, kFewest);
  }
  const double jitter =
      jitter_of(counts, static_cast<double>(counts.front().launches), static_cast<double>(counts.back().launches));
  return {.launches = launches,
          .duration_ns = duration_ns,
          .jitter_ppm = static_cast<std::uint32_t>(std::min(std::lround(jitter * 1e6), 1'000'000'000L))};
}

}  // namespace corun
