#include "sim/live/client/lane_checks.h"

namespace corun::live {

namespace {

constexpr std::int64_t kSlackNs = 1'000'000'000;  // clocks of the GPU are not quite ours

}  // namespace

std::optional<Time> LaneChecks::instant(std::int64_t shown_ns, const char* what) {
  const std::int64_t now = executor::WallClock::monotonic_ns(), begin = now - to_ns(clock_.elapsed());
  if (expect(shown_ns >= begin - kSlackNs && shown_ns <= now + kSlackNs, "{} is at {} ns, outside of the run", what,
             shown_ns))
    return clock_.at(shown_ns);
  return std::nullopt;
}

std::optional<Duration> LaneChecks::length(std::int64_t ns, const char* what) {
  if (expect(ns >= 0 && ns <= to_ns(clock_.elapsed()) + kSlackNs, "{} took {} ns, longer than the run", what, ns))
    return Duration{ns};
  return std::nullopt;
}

}  // namespace corun::live
