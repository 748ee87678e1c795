#include "traces/awaited_work.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace corun {
namespace {

// Device times are fitted to the host's clock after the fact: an operation can seem to end this much after the wait for
// it returned.
constexpr std::int64_t kClockSlackNs = 20'000;

}  // namespace

AwaitedWork::AwaitedWork(TimelineBuilder& builder, const std::vector<std::uint32_t>& ops,
                         std::vector<std::int64_t> launched_ns, std::vector<std::uint64_t> correlations)
    : builder_(builder), launched_ns_(std::move(launched_ns)), correlations_(std::move(correlations)) {
  for (std::uint32_t op : ops) {
    const std::uint32_t queue = builder_.op(op).queue;
    if (queue >= by_start_.size()) by_start_.resize(queue + 1);
    by_start_[queue].push_back(op);
  }
  for (auto& queue : by_start_) {
    std::stable_sort(queue.begin(), queue.end(), [&](std::uint32_t a, std::uint32_t b) {
      return builder_.op(a).start_ns < builder_.op(b).start_ns;
    });
    make_launches_monotonic(queue);
  }
  by_correlation_ = by_start_;
  for (auto& queue : by_correlation_) {
    std::stable_sort(queue.begin(), queue.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return correlations_[a] < correlations_[b]; });
  }
}

// A stream runs in order: an operation whose call is missing or out of place was launched no earlier than the one
// before.
void AwaitedWork::make_launches_monotonic(const std::vector<std::uint32_t>& ops) {
  std::int64_t latest_ns = std::numeric_limits<std::int64_t>::min();
  for (std::uint32_t op : ops) latest_ns = launched_ns_[op] = std::max(latest_ns, launched_ns_[op]);
}

std::int64_t AwaitedWork::end_of(std::uint32_t op) const {
  return builder_.op(op).start_ns + builder_.op(op).duration_ns;
}

std::optional<std::uint32_t> AwaitedWork::before_record(std::uint32_t queue, std::uint64_t correlation) const {
  if (queue >= by_correlation_.size()) return std::nullopt;
  const auto& ops = by_correlation_[queue];
  const auto after =
      std::partition_point(ops.begin(), ops.end(), [&](std::uint32_t op) { return correlations_[op] < correlation; });
  if (after == ops.begin()) return std::nullopt;
  return *std::prev(after);
}

std::optional<std::uint32_t> AwaitedWork::ended_by(std::int64_t start_ns, std::int64_t end_ns) const {
  std::optional<std::uint32_t> best;
  for (const auto& ops : by_start_) {
    auto after = std::partition_point(ops.begin(), ops.end(), [&](std::uint32_t op) {
      return launched_ns_[op] < start_ns && end_of(op) <= end_ns + kClockSlackNs;
    });
    if (after == ops.begin()) continue;
    const std::uint32_t last = *std::prev(after);
    if (!best || end_of(last) > end_of(*best)) best = last;
  }
  return best;
}

std::optional<std::uint32_t> AwaitedWork::queue_drained_by(std::int64_t start_ns, std::int64_t end_ns) const {
  std::optional<std::uint32_t> best;
  std::int64_t best_end = 0;
  for (std::uint32_t queue = 0; queue < by_start_.size(); ++queue) {
    const auto& ops = by_start_[queue];
    const auto after =
        std::partition_point(ops.begin(), ops.end(), [&](std::uint32_t op) { return launched_ns_[op] < start_ns; });
    if (after == ops.begin()) continue;
    const std::int64_t end = end_of(*std::prev(after));
    if (end > end_ns + kClockSlackNs || (best && end <= best_end)) continue;
    best = queue;
    best_end = end;
  }
  return best;
}

}  // namespace corun
