#include "sim/workload/capture/steps/equal_rounds.h"

#include <algorithm>
#include <utility>

namespace corun {

namespace {

class Steps {
 public:
  Steps(const HostLog& log, const Positions& begins, std::size_t end, bool with_read_backs)
      : log_(log), all_(begins.size()) {
    for (std::size_t step = 0; step < begins.size(); ++step)
      add(begins[step], step + 1 < begins.size() ? begins[step + 1] : end, with_read_backs);
    keep_usual();
  }

  EqualRounds rounds() const {
    for (std::size_t round = 1; 2 * round <= size_; ++round)
      if (size_ % round == 0 && repeat(round) && !is_told_apart(round)) return {size_ / round, round, false};
    return {};
  }

 private:
  /// Read-backs are copies to the host that it waits for, or that end a step: programs read a result where they wait.
  void add(std::size_t begin, std::size_t end, bool with_read_backs) {
    Positions launches;
    bool is_read_back = true;
    for (std::size_t i = end; i-- > begin;) {
      is_read_back = !log_.is_launch(i) || (is_read_back && log_.is_read_back[log_.symbols[i]]);
      if (log_.is_launch(i) && (with_read_backs || !is_read_back)) launches.push_back(static_cast<std::uint32_t>(i));
    }
    std::ranges::reverse(launches);
    steps_.push_back(std::move(launches));
  }

  void keep_usual() {
    std::vector<std::size_t> sizes;
    for (const Positions& step : steps_) sizes.push_back(step.size());
    const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
    std::ranges::nth_element(sizes, middle);
    size_ = *middle;
    std::erase_if(steps_, [&](const Positions& step) { return step.size() != size_; });
  }

  /// The operations of a graph come with one call.
  bool begins_call(std::uint32_t event) const {
    return event == 0 || !log_.is_of_graph[log_.variants[event]] || log_.starts_ns[event] != log_.starts_ns[event - 1];
  }

  bool repeats(const Positions& step, std::size_t round) const {
    for (std::size_t i = round; i < size_; ++i) {
      if (log_.symbols[step[i]] != log_.symbols[step[i - round]]) return false;
      if (i % round == 0 && !begins_call(step[i])) return false;
    }
    return true;
  }
  bool repeat(std::size_t round) const {
    const auto those = std::ranges::count_if(steps_, [&](const Positions& step) { return repeats(step, round); });
    return 2 * static_cast<std::size_t>(those) >= all_;
  }

  /// Whether a launch differs from the one a round before it, and not from that of the step before, in nearly all
  /// steps.
  bool is_told_apart(std::size_t round) const {
    for (std::size_t i = round; i < size_; ++i) {
      std::size_t differ = 0, as_before = 0;
      for (std::size_t step = 0; step < steps_.size(); ++step) {
        const std::uint32_t event = steps_[step][i], earlier = steps_[step][i - round];
        const std::uint32_t before = steps_[step > 0 ? step - 1 : 0][i];
        if (log_.variants[event] != log_.variants[earlier] && log_.streams[event] == log_.streams[earlier]) ++differ;
        if (log_.variants[event] == log_.variants[before]) ++as_before;
      }
      if (10 * std::min(differ, as_before) >= 9 * steps_.size()) return true;
    }
    return false;
  }

  const HostLog& log_;
  std::size_t all_;
  std::vector<Positions> steps_;  ///< launches of those with the usual number of them
  std::size_t size_ = 0;
};

}  // namespace

EqualRounds equal_rounds(const HostLog& log, const Positions& begins, std::size_t end) {
  if (begins.empty()) return {};
  const EqualRounds rounds = Steps(log, begins, end, true).rounds();
  if (rounds.count > 0) return rounds;
  EqualRounds without = Steps(log, begins, end, false).rounds();
  without.reads_back = without.count > 0;
  return without;
}

}  // namespace corun
