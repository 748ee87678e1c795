#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "traces/timeline.h"

namespace corun {

/// Answers "what was this wait waiting for?" from the operations of a builder, whose launch times are given.
///
/// Streams are in order, so the last operation launched into a stream before an instant stands for all earlier ones.
class AwaitedWork {
 public:
  /// `ops`: the operations of the builder that can be waited for. `launched_ns`, `correlations`: when the call of each
  /// operation began and its id, by the operation's index.
  AwaitedWork(TimelineBuilder& builder, const std::vector<std::uint32_t>& ops, std::vector<std::int64_t> launched_ns,
              std::vector<std::uint64_t> correlations);

  /// Last operation of `queue` whose call has an id below `correlation`; ids count up within a process.
  std::optional<std::uint32_t> before_record(std::uint32_t queue, std::uint64_t correlation) const;

  /// Operation launched before `start_ns` that ended last among those ended by `end_ns`: what a wait for an unnamed
  /// event that took from `start_ns` to `end_ns` can have waited for.
  std::optional<std::uint32_t> ended_by(std::int64_t start_ns, std::int64_t end_ns) const;

  /// Stream that was empty by `end_ns` of all work launched before `start_ns`, and was so last.
  std::optional<std::uint32_t> queue_drained_by(std::int64_t start_ns, std::int64_t end_ns) const;

 private:
  void make_launches_monotonic(const std::vector<std::uint32_t>& ops);
  std::int64_t end_of(std::uint32_t op) const;

  TimelineBuilder& builder_;
  std::vector<std::int64_t> launched_ns_;
  std::vector<std::uint64_t> correlations_;
  std::vector<std::vector<std::uint32_t>> by_correlation_;  // of each queue, in order of call id
  std::vector<std::vector<std::uint32_t>> by_start_;        // of each queue, in order of execution
};

}  // namespace corun
