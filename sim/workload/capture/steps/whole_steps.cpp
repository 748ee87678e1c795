#include "sim/workload/capture/steps/whole_steps.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/workload/capture/steps/likeness.h"

namespace corun {

namespace {

constexpr double kUnlike = 0.4, kMainPart = 0.5;
constexpr double kLeastNoise = 0.05, kMostNoise = 0.3;
constexpr double kShortest = 0.8, kLongest = 1.25;

class Making {
 public:
  Making(const HostLog& log, const Positions& begins)
      : log_(log), typical_(log, begins), noise_(2 * (1 - typical_.likeness().events)), begins_(begins) {
    noise_ = std::clamp(noise_, kLeastNoise, kMostNoise);
  }

  WholeSteps make() && {
    if (begins_.size() < 2 || typical_.size() == 0) return {};
    divide_long_ones();
    join_other_work();
    trim_start();
    if (begins_.empty()) return {};
    extend_start();
    const std::size_t end = settle_end();
    return {std::move(begins_), end};
  }

 private:
  std::size_t end_of(std::size_t step) const { return step + 1 < begins_.size() ? begins_[step + 1] : log_.size(); }
  double size() const { return static_cast<double>(typical_.size()); }

  /// The launch about a step away from `at` with the longest pause before it: where a step that begins at `at` ends,
  /// or, backwards, where one begins that ends there. Launches of the kind that begins steps go before others.
  std::optional<std::uint32_t> boundary_near(std::size_t at, bool backwards) const {
    const auto shortest = static_cast<std::size_t>(kShortest * size());
    const auto longest = static_cast<std::size_t>(std::ceil(kLongest * size()));
    std::size_t from = at + shortest, to = std::min(log_.size(), at + longest + 1);
    if (backwards) {
      from = at > longest ? at - longest : 0;
      to = at > shortest ? at - shortest + 1 : 0;
    }
    std::optional<std::uint32_t> best;
    std::pair<bool, std::int64_t> merit;
    for (std::size_t i = from; i < std::min(to, log_.size()); ++i) {
      if (!log_.is_launch(i)) continue;
      const std::int64_t pause_ns = i > 0 ? log_.starts_ns[i] - log_.starts_ns[last_launch_before(i)] : INT64_MAX;
      const std::pair its{log_.symbols[i] == log_.symbols[begins_.front()], pause_ns};
      if (best && its <= merit) continue;
      best = static_cast<std::uint32_t>(i);
      merit = its;
    }
    return best;
  }

  std::size_t last_launch_before(std::size_t event) const {
    for (std::size_t i = event; i-- > 0;)
      if (log_.is_launch(i)) return i;
    return event;
  }

  void divide_long_ones() {
    Positions divided;
    for (std::size_t step = 0; step < begins_.size(); ++step) {
      std::uint32_t begin = begins_[step];
      divided.push_back(begin);
      while (static_cast<double>(end_of(step) - begin) > (1 + kShortest) * size()) {
        const std::optional<std::uint32_t> next = boundary_near(begin, false);
        const bool is_step = next && typical_.difference(begin, *next) <= 2 * noise_;
        if (!is_step || typical_.contained(*next, end_of(step)) < kMainPart) break;
        divided.push_back(begin = *next);
      }
    }
    begins_ = std::move(divided);
  }

  void join_other_work() {
    Positions joined{begins_.front()};
    for (std::size_t step = 1; step < begins_.size(); ++step) {
      const bool is_last = step + 1 == begins_.size();
      if (is_last || typical_.contained(begins_[step], begins_[step + 1]) >= kMainPart) joined.push_back(begins_[step]);
    }
    begins_ = std::move(joined);
  }

  void trim_start() {
    std::size_t first = 0;
    while (first + 1 < begins_.size() && typical_.difference(begins_[first], begins_[first + 1]) > kUnlike) ++first;
    begins_.erase(begins_.begin(), begins_.begin() + static_cast<std::ptrdiff_t>(first));
  }

  void extend_start() {
    Positions earlier;  // the latest first
    for (std::uint32_t begin = begins_.front(); begin > 0; earlier.push_back(begin)) {
      const std::optional<std::uint32_t> before = boundary_near(begin, true);
      if (!before || typical_.difference(*before, begin) > noise_) break;
      begin = *before;
    }
    begins_.insert(begins_.begin(), earlier.rbegin(), earlier.rend());
  }

  /// A tail that is longer than a step ends where steps do.
  std::size_t settle_end() {
    const std::size_t last = begins_.back();
    std::size_t end = log_.size();
    if (static_cast<double>(end - last) > kLongest * size()) end = boundary_near(last, false).value_or(end);
    if (typical_.contained(last, end) >= 1 - noise_ && typical_.difference(last, end) <= kUnlike) return end;
    begins_.pop_back();
    return last;
  }

  const HostLog& log_;
  TypicalStretch typical_;
  double noise_;
  Positions begins_;
};

}  // namespace

WholeSteps whole_steps(const HostLog& log, const Positions& begins) { return Making(log, begins).make(); }

std::size_t drop_slow_starts(const HostLog& log, Positions& begins) {
  if (begins.size() < 2) return 0;
  std::vector<std::int64_t> lengths;
  for (std::size_t j = 1; j < begins.size(); ++j)
    lengths.push_back(log.starts_ns[begins[j]] - log.starts_ns[begins[j - 1]]);
  std::vector<std::int64_t> sorted = lengths;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::ranges::nth_element(sorted, middle);
  const std::int64_t usual = *middle;
  const auto first_usual = std::ranges::find_if(lengths, [&](std::int64_t length) { return length <= 2 * usual; });
  const auto slow = first_usual - lengths.begin();
  if (begins.size() >= static_cast<std::size_t>(slow) + 2) begins.erase(begins.begin(), begins.begin() + slow);
  return static_cast<std::size_t>(slow);
}

}  // namespace corun
