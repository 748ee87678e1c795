#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sim/cluster/cluster.h"

namespace corun {

/// Pods that wait for cards, in the order in which they came.
///
/// Those that ask for the same have one answer as long as nothing is free that was not: so a retry asks each kind until
/// it gets a no, and takes no longer with many pods than with few.
class WaitingPods {
 public:
  explicit WaitingPods(const std::vector<PodSpec>& pods) {
    std::map<Asked, std::size_t> kinds;
    for (const PodSpec& pod : pods) {
      const Asked asked{pod.cards, pod.milli, pod.memory_bytes, pod.cpu_milli, pod.memory_mib, pod.models};
      kind_of_.push_back(kinds.try_emplace(asked, kinds.size()).first->second);
    }
    queues_.resize(kinds.size());
  }

  void push(std::uint64_t pod) {
    queues_[kind_of_[pod]].push_back({came_++, pod});
    ++size_;
  }
  std::size_t size() const { return size_; }

  /// Calls `place(pod)`, which says whether it found a place, for pods in their order, and drops those that have one.
  template <class Place>
  void retry(Place place) {
    std::set<std::pair<std::uint64_t, std::size_t>> heads;  // when the first pod of a kind came, and the kind
    for (std::size_t kind = 0; kind < queues_.size(); ++kind)
      if (!queues_[kind].empty()) heads.emplace(queues_[kind].front().came, kind);
    while (!heads.empty()) {
      const std::size_t kind = heads.extract(heads.begin()).value().second;
      std::deque<Waiting>& queue = queues_[kind];
      if (!place(queue.front().pod)) continue;
      queue.pop_front();
      --size_;
      if (!queue.empty()) heads.emplace(queue.front().came, kind);
    }
  }

 private:
  struct Asked {
    std::uint32_t cards;
    Milli milli;
    std::uint64_t memory_bytes;
    std::int64_t cpu_milli, memory_mib;
    std::vector<std::string> models;
    auto operator<=>(const Asked&) const = default;
  };
  struct Waiting {
    std::uint64_t came, pod;
  };

  std::vector<std::size_t> kind_of_;         ///< by pod
  std::vector<std::deque<Waiting>> queues_;  ///< by kind
  std::uint64_t came_ = 0;
  std::size_t size_ = 0;
};

}  // namespace corun
