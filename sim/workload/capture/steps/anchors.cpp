#include "sim/workload/capture/steps/anchors.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace corun {

namespace {

constexpr std::size_t kFewest = 3;
constexpr double kBurstRatio = 3, kLeastRegular = 0.1;
constexpr std::size_t kMostOfOneNumber = 2;  // candidates with about as many recurrences

/// Positions of each symbol's events, in one list.
std::vector<Positions> positions_of(const std::vector<std::uint32_t>& symbols, std::uint32_t count) {
  std::vector<Positions> lists(count);
  for (std::uint32_t i = 0; i < symbols.size(); ++i) lists[symbols[i]].push_back(i);
  return lists;
}

/// The distance that divides those inside of bursts from those between them; 0 where there are no bursts.
std::uint32_t burst_limit(const Positions& at) {
  Positions distances;
  distances.reserve(at.size());
  for (std::size_t i = 1; i < at.size(); ++i) distances.push_back(at[i] - at[i - 1]);
  std::ranges::sort(distances);
  double widest = kBurstRatio;
  std::uint32_t limit = 0;
  // At least two bursts' ends: one long distance is no regularity.
  for (std::size_t i = 1; i + 1 < distances.size(); ++i) {
    const double ratio = static_cast<double>(distances[i]) / distances[i - 1];
    if (ratio < widest) continue;
    widest = ratio;
    limit = distances[i];
  }
  return limit;
}

Positions first_of_bursts(const Positions& at, std::uint32_t limit) {
  Positions firsts{at.front()};
  for (std::size_t i = 1; i < at.size(); ++i)
    if (at[i] - at[i - 1] >= limit) firsts.push_back(at[i]);
  return firsts;
}

/// Behind the last of each burst.
Positions behind_bursts(const Positions& at, std::uint32_t limit, std::size_t size) {
  Positions behind;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const bool is_last = i + 1 == at.size() || at[i + 1] - at[i] >= limit;
    if (is_last && at[i] + 1 < size) behind.push_back(at[i] + 1);
  }
  return behind;
}

/// How evenly the positions lie, and over how much of the log: 0 to 1.
double regularity(const Positions& at, std::size_t size) {
  Positions distances;
  for (std::size_t i = 1; i < at.size(); ++i) distances.push_back(at[i] - at[i - 1]);
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::ranges::nth_element(distances, middle);
  const double usual = *middle;
  double off = 0;
  for (const std::uint32_t distance : distances) off += std::min(1.0, std::abs(distance - usual) / usual);
  const double covered = static_cast<double>(at.back() - at.front()) / static_cast<double>(size);
  return covered * (1 - off / static_cast<double>(distances.size()));
}

/// Keeps the most regular candidates of each number of recurrences, to about 6 %.
class Shortlist {
 public:
  explicit Shortlist(std::size_t size) : size_(size) {}

  void offer(Positions at) {
    if (at.size() < kFewest) return;
    const double merit = regularity(at, size_);
    if (merit < kLeastRegular) return;
    auto& best = by_number_[std::lround(std::log(static_cast<double>(at.size())) / 0.06)];
    best.emplace_back(merit, std::move(at));
    std::ranges::stable_sort(best, std::greater<>(), [](const auto& entry) { return entry.first; });
    if (best.size() > kMostOfOneNumber) best.pop_back();
  }
  void offer_with_bursts(const Positions& at) {
    if (at.size() < kFewest) return;
    const std::uint32_t limit = burst_limit(at);
    if (limit > 0) offer(first_of_bursts(at, limit));
    offer(at);
  }
  std::vector<Anchors> take() && {
    std::vector<Anchors> all;
    for (auto& [number, best] : by_number_)
      for (auto& [merit, at] : best) all.push_back({std::move(at), number, false, false});
    return all;
  }

 private:
  std::size_t size_;
  std::map<long, std::vector<std::pair<double, Positions>>> by_number_;
};

/// Pauses of the host before launches, the longest first.
std::vector<std::pair<std::int64_t, std::uint32_t>> pauses_of(const HostLog& log) {
  std::vector<std::pair<std::int64_t, std::uint32_t>> pauses;
  std::int64_t last_ns = INT64_MIN;
  for (std::uint32_t i = 0; i < log.size(); ++i) {
    if (!log.is_launch(i)) continue;
    if (last_ns != INT64_MIN) pauses.emplace_back(log.starts_ns[i] - last_ns, i);
    last_ns = log.starts_ns[i];
  }
  std::ranges::sort(pauses, std::greater<>());
  return pauses;
}

/// Launches before which the host paused long: longer than a limit that is put where lengths of pauses jump.
void offer_pauses(const HostLog& log, std::vector<Anchors>& anchors) {
  constexpr std::int64_t kShort_ns = 1'000;
  constexpr double kJump = 1.3;
  const auto pauses = pauses_of(log);
  std::vector<std::pair<double, std::size_t>> jumps;
  for (std::size_t i = kFewest; i < pauses.size(); ++i) {
    const auto longer = static_cast<double>(pauses[i - 1].first);
    const double ratio = longer / static_cast<double>(pauses[i].first + kShort_ns);
    if (ratio > kJump) jumps.emplace_back(ratio, i);
  }
  std::ranges::stable_sort(jumps, std::greater<>(), [](const auto& jump) { return jump.first; });
  for (std::size_t j = 0; j < std::min<std::size_t>(3, jumps.size()); ++j) {
    Positions at;
    for (std::size_t i = 0; i < jumps[j].second; ++i) at.push_back(pauses[i].second);
    std::ranges::sort(at);
    const long group = -2 - static_cast<long>(j);
    if (regularity(at, log.size()) >= kLeastRegular) anchors.push_back({std::move(at), group, false, true});
  }
}

void offer_updates(const HostLog& log, std::vector<Anchors>& anchors) {
  Positions updates;
  for (std::uint32_t i = 0; i < log.size(); ++i)
    if (log.is_update[log.symbols[i]]) updates.push_back(i);
  if (updates.size() < 2) return;
  const std::uint32_t limit = burst_limit(updates);
  Positions behind = behind_bursts(updates, std::max(limit, 2U), log.size());
  if (behind.size() >= 2) anchors.push_back({std::move(behind), -1, true, false});
}

}  // namespace

std::vector<Anchors> find_anchors(const HostLog& log) {
  Shortlist shortlist(log.size());
  for (const Positions& at : positions_of(log.symbols, log.symbol_count)) shortlist.offer_with_bursts(at);
  for (const Positions& at : positions_of(log.names, log.name_count)) shortlist.offer_with_bursts(at);
  for (const Positions& at : positions_of(log.variants, log.variant_count)) shortlist.offer_with_bursts(at);
  std::vector<Anchors> anchors = std::move(shortlist).take();
  offer_pauses(log, anchors);
  offer_updates(log, anchors);
  return anchors;
}

}  // namespace corun
