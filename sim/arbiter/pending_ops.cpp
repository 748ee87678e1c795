#include "sim/arbiter/pending_ops.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace corun {

namespace {

constexpr std::size_t kInitialRing = 8;  // grows with what is in flight, so that a short queue stays in the cache

}  // namespace

PendingOps::PendingOps(bool keeps_views) : predicted_(kInitialRing), views_(keeps_views ? kInitialRing : 0) {}

void PendingOps::let_pass(std::size_t count, std::vector<OpView>& passing) {
  if (passed_ == 0 && count == held_.size()) return passing.swap(held_);
  const std::span<const OpView> first = waiting().first(count);
  passing.assign(first.begin(), first.end());
  passed_ += count;
  // Dropping them only when they are half of what is held keeps a long backlog linear.
  if (2 * passed_ < held_.size()) return;
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(passed_));
  passed_ = 0;
}

void PendingOps::drop_waiting() {
  held_.clear();
  passed_ = 0;
}

void PendingOps::launched(std::uint64_t number, Duration predicted) {
  if (next_ - oldest_ == predicted_.size()) grow();
  predicted_[slot(number)] = predicted;
  ++next_;
}

Duration PendingOps::completed(std::uint64_t number) {
  const Duration predicted = std::exchange(predicted_[slot(number)], kCompleted);
  while (oldest_ < next_ && predicted_[slot(oldest_)] == kCompleted) ++oldest_;
  return predicted;
}

void PendingOps::grow() {
  const auto enlarge = [this](auto& ring) {
    auto larger = std::remove_reference_t<decltype(ring)>(2 * ring.size());
    for (std::uint64_t n = oldest_; n < next_; ++n) larger[n & (larger.size() - 1)] = ring[slot(n)];
    return larger;
  };
  if (!views_.empty()) views_ = enlarge(views_);
  predicted_ = enlarge(predicted_);
}

}  // namespace corun
