#include "sim/workload/capture/steps/first_launch.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>

namespace corun {

namespace {

constexpr double kNear = 0.2, kUsuallyThere = 0.8;
constexpr double kNearlyAll = 1.3;

/// Pause and waits before each launch, told in order.
class Launches {
 public:
  struct Launch {
    std::int64_t pause_ns = 0;
    bool waited = false, waited_all = false;
  };

  explicit Launches(const HostLog& log, std::size_t begin)
      : log_(log), last_ns_(begin < log.size() ? log.starts_ns[begin] : 0) {}

  /// Empty waits of `event`s add up until the next launch, for which it returns true.
  bool hear(std::size_t event, Launch& launch) {
    if (!log_.is_launch(event)) {
      next_.waited = true;
      next_.waited_all |= log_.whats[event] == HostLog::What::kWaitAll;
      return false;
    }
    launch = next_;
    launch.pause_ns = log_.starts_ns[event] - last_ns_;
    last_ns_ = log_.starts_ns[event];
    next_ = {};
    return true;
  }

 private:
  const HostLog& log_;
  std::int64_t last_ns_;
  Launch next_;
};

/// One launch of stretches: the rank-th of its symbol.
struct Place {
  std::uint32_t symbol = 0, rank = 0;
  std::uint32_t count = 0, waited_all = 0;
  double log_pause = 0, offset = 0;
};

class Places {
 public:
  Places(const HostLog& log, const Positions& bounds) : log_(log), bounds_(bounds), ranks_(log.symbol_count) {
    Launches launches(log, bounds.front());
    for (std::size_t stretch = 0; stretch < bounds.size(); ++stretch) add(stretch, launches);
  }

  const Place* best(bool is_near) const {
    const auto counted = static_cast<double>(bounds_.size() - 1);
    const auto merit = [](const Place& place) {
      const double count = place.count;
      return std::tuple(2 * place.waited_all >= place.count && place.waited_all > 0, place.log_pause / count,
                        -place.offset / count);
    };
    const Place* best = nullptr;
    for (const Place& place : places_) {
      // The last stretch may be cut off.
      if (place.count < kUsuallyThere * (counted - 1) || place.count == 0) continue;
      if (is_near && place.offset > kNear * place.count) continue;
      if (best == nullptr || merit(place) > merit(*best)) best = &place;
    }
    return best;
  }

 private:
  void add(std::size_t stretch, Launches& launches) {
    const std::size_t begin = bounds_[stretch];
    const std::size_t end = stretch + 1 < bounds_.size() ? bounds_[stretch + 1] : log_.size();
    Launches::Launch launch;
    for (std::size_t i = begin; i < end; ++i) {
      if (!launches.hear(i, launch)) continue;
      const std::uint32_t symbol = log_.symbols[i];
      if (ranks_[symbol]++ == 0) touched_.push_back(symbol);
      if (stretch == 0 && bounds_.size() > 2) continue;
      Place& place = place_of(symbol, ranks_[symbol]);
      ++place.count;
      place.waited_all += launch.waited_all ? 1 : 0;
      place.log_pause += std::log1p(static_cast<double>(std::max<std::int64_t>(0, launch.pause_ns)));
      place.offset += static_cast<double>(i - begin) / static_cast<double>(end - begin);
    }
    for (const std::uint32_t symbol : touched_) ranks_[symbol] = 0;
    touched_.clear();
  }

  Place& place_of(std::uint32_t symbol, std::uint32_t rank) {
    const std::uint64_t key = std::uint64_t{symbol} << 32 | rank;
    const auto [found, is_new] = number_.try_emplace(key, static_cast<std::uint32_t>(places_.size()));
    if (is_new) places_.push_back({symbol, rank});
    return places_[found->second];
  }

  const HostLog& log_;
  const Positions& bounds_;
  std::vector<std::uint32_t> ranks_, touched_;
  std::vector<Place> places_;
  std::unordered_map<std::uint64_t, std::uint32_t> number_;
};

Positions positions_of(const HostLog& log, const Positions& bounds, const Place& place) {
  Positions at;
  for (std::size_t stretch = 0; stretch < bounds.size(); ++stretch) {
    const std::size_t end = stretch + 1 < bounds.size() ? bounds[stretch + 1] : log.size();
    std::uint32_t rank = 0;
    for (std::size_t i = bounds[stretch]; i < end; ++i) {
      if (log.symbols[i] != place.symbol || ++rank != place.rank) continue;
      at.push_back(static_cast<std::uint32_t>(i));
      break;
    }
  }
  return at;
}

double ranked(std::vector<std::int64_t> values, double rank) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, at);
  return static_cast<double>(*at);
}

}  // namespace

FirstLaunch judge_begins(const HostLog& log, Positions begins) {
  FirstLaunch first{std::move(begins)};
  if (first.begins.size() < 2) return first;
  std::vector<std::int64_t> pauses, pauses_of_begins, others;
  double waits = 0, steps_with_wait = 0;
  bool has_wait = false;
  Launches launches(log, first.begins.front());
  Launches::Launch launch;
  std::size_t next = 1;
  for (std::size_t i = first.begins.front() + 1; i <= first.begins.back(); ++i) {
    if (!launches.hear(i, launch)) continue;
    waits += launch.waited ? 1 : 0;
    has_wait |= launch.waited;
    if (launch.pause_ns > 0) pauses.push_back(launch.pause_ns);  // not within a graph launch
    if (first.begins[next] != i) {
      if (launch.pause_ns > 0) others.push_back(launch.pause_ns);
      continue;
    }
    ++next;
    pauses_of_begins.push_back(launch.pause_ns);
    steps_with_wait += has_wait ? 1 : 0;
    has_wait = false;
  }
  const auto steps = static_cast<double>(first.begins.size() - 1);
  if (!others.empty()) first.pause_ratio = ranked(pauses_of_begins, 0.5) / ranked(others, 0.9);
  first.waited = steps_with_wait / steps;
  if (waits > 0) first.specificity = steps_with_wait / waits;
  const auto longest = static_cast<std::size_t>(kNearlyAll * steps);
  first.apart =
      static_cast<double>(std::ranges::count_if(pauses_of_begins, [](std::int64_t ns) { return ns > 0; })) / steps;
  std::int64_t limit_ns = 0;
  if (longest < pauses.size()) {
    std::ranges::nth_element(pauses, pauses.begin() + static_cast<std::ptrdiff_t>(longest), std::greater<>());
    limit_ns = pauses[longest];
  }
  const auto is_long = [&](std::int64_t pause_ns) { return pause_ns > limit_ns; };
  first.long_pauses = static_cast<double>(std::ranges::count_if(pauses_of_begins, is_long)) / steps;
  return first;
}

FirstLaunch find_first_launch(const HostLog& log, const Positions& bounds, bool is_near) {
  if (bounds.empty()) return {};
  const Places places(log, bounds);
  const Place* best = places.best(is_near);
  return best == nullptr ? FirstLaunch{} : judge_begins(log, positions_of(log, bounds, *best));
}

}  // namespace corun
