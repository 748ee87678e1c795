#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "sim/policy/view.h"
#include "tracer/gate/channel/channel.h"
#include "traces/base/time.h"

namespace corun::live {

/// A launch of a live client.
struct LiveOp {
  std::uint64_t number = 0;  ///< for the arbiter
  Time submitted, launched = kNever;
  gate::LaunchKind kind = gate::LaunchKind::kKernel;
  std::uint32_t name = 0, stream = 0, slot_mark = 0;
  std::uint64_t blocks = 0, bytes = 0;
  bool is_complete = false;
  bool is_void = false;                  ///< was never made, or its process died first: the arbiter does not have it
  Duration expected = kUnknownDuration;  ///< by the profile
};

/// Launches of a client from the oldest that is not complete, in the order of their numbers in the lane.
class LiveOps {
 public:
  auto begin() { return ops_.begin(); }
  auto end() { return ops_.end(); }
  auto begin() const { return ops_.begin(); }
  auto end() const { return ops_.end(); }

  /// Numbers in the lane: of the oldest, of the first that the arbiter has not launched, and of the next to be added.
  std::uint64_t first() const { return first_; }
  std::uint64_t launched() const { return launched_; }
  std::uint64_t next() const { return first_ + ops_.size(); }
  bool has_waiting() const { return launched_ < next(); }

  LiveOp& at(std::uint64_t in_lane) { return ops_[in_lane - first_]; }
  /// Null for one that is retired. Precondition: below next().
  LiveOp* find(std::uint64_t in_lane) { return in_lane < first_ ? nullptr : &at(in_lane); }

  void add(const LiveOp& op) { ops_.push_back(op); }
  void add_void(std::uint64_t number);
  static void make_void(LiveOp& op) { op.is_complete = op.is_void = true; }
  /// The arbiter launches the operation of this number of its own. Returns its number in the lane; nullopt: none of
  /// these.
  std::optional<std::uint64_t> launch(std::uint64_t number);
  /// Void launches count as launched, so that one that is made after all passes.
  void pass_by_void();
  /// Removes the oldest ones up to the first that is not complete.
  void retire();
  /// Removes all. The next to be added has this number in the lane.
  void clear(std::uint64_t next);

 private:
  std::deque<LiveOp> ops_;
  std::uint64_t first_ = 0;
  std::uint64_t launched_ = 0;
};

}  // namespace corun::live
