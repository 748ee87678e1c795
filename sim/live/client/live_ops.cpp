#include "sim/live/client/live_ops.h"

#include <algorithm>

namespace corun::live {

void LiveOps::add_void(std::uint64_t number) {
  LiveOp& op = ops_.emplace_back();
  op.number = number;
  make_void(op);
}

std::optional<std::uint64_t> LiveOps::launch(std::uint64_t number) {
  auto found = std::ranges::lower_bound(ops_, number, {}, &LiveOp::number);
  while (found != ops_.end() && found->is_void) ++found;
  if (found == ops_.end() || found->number != number) return std::nullopt;
  const std::uint64_t in_lane = first_ + static_cast<std::uint64_t>(found - ops_.begin());
  launched_ = in_lane + 1;
  pass_by_void();
  return in_lane;
}

void LiveOps::pass_by_void() {
  while (launched_ < next() && at(launched_).is_void) ++launched_;
}

void LiveOps::retire() {
  for (; !ops_.empty() && ops_.front().is_complete; ops_.pop_front()) ++first_;
}

void LiveOps::clear(std::uint64_t next) {
  ops_.clear();
  first_ = launched_ = next;
}

}  // namespace corun::live
