#include "sim/device/spatial_set.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sim/device/max_min.h"

namespace corun {

namespace {

constexpr double kNothing = 1e-9;  // of the device, less is rounding

Rate rate_on(SmShare share, SmShare demand) {
  CORUN_ASSERT(share >= 0 && share <= demand, "a share of {} for a demand of {}", share, demand);
  if (share == demand) return kFullRate;
  if (share == 0) return 0;
  return std::max<Rate>(1, static_cast<Rate>(static_cast<double>(share) / static_cast<double>(demand) * kFullRate));
}

/// The rate on a part of the device of an operation that has `rate` of what it asks for there.
Rate on_part(Rate rate, Rate speed, double gain) {
  if (rate == 0 || speed == 0) return 0;
  const double slowed = static_cast<double>(rate) * gain * static_cast<double>(speed) / kFullRate;
  return std::clamp<Rate>(static_cast<Rate>(std::llround(slowed)), 1, kFullRate);
}

/// A part [0, 1] of a share, no less than one unit of something.
SmShare part_of(SmShare share, double part) {
  return share == 0 ? 0 : std::max<SmShare>(1, static_cast<SmShare>(part * static_cast<double>(share)));
}

/// Throughput that an operation asks for where it has only `room` for its blocks: they lie on fewer SMs.
SmShare throughput_in(const ActiveOp& op, SmShare room, double exponent) {
  const SmShare whole = op.occupancy.room_at(op.work_left), throughput = op.occupancy.throughput_at(op.work_left);
  if (room == 0 || room == whole) return room == 0 ? 0 : throughput;
  return part_of(throughput, std::pow(static_cast<double>(room) / static_cast<double>(whole), exponent));
}

SmShare at_pace(SmShare throughput, SmShare pace) {
  return pace == kAllSms ? throughput : part_of(throughput, static_cast<double>(pace) / kAllSms);
}

/// Whether it has blocks that began earlier and have not ended.
bool runs_blocks(const ActiveOp& op) {
  if (op.room == 0 || op.device_time == Duration{}) return false;
  return op.occupancy.wave == Duration{} || op.device_time % op.occupancy.wave != Duration{};
}

}  // namespace

void SpatialSet::treat(std::span<const ContextControls> controls, double available) {
  std::vector<Part> parts{{available}};
  clients_.resize(controls.size());
  caps_.resize(controls.size());
  for (std::size_t c = 0; c < controls.size(); ++c) {
    clients_[c] = {controls[c].priority, 0};
    if (controls[c].sm_share == 0 || controls[c].instance > 0) continue;
    clients_[c].part = parts.size();
    parts.push_back({controls[c].sm_share});
    parts[0].fraction -= controls[c].sm_share;
  }
  if (parts[0].fraction < kNothing) parts[0].fraction = 0;
  for (std::size_t c = 0; c < controls.size(); ++c) {
    const double fraction = parts[clients_[c].part].fraction;
    const double sms = fraction > 0 ? std::min(1.0, controls[c].sm_cap / fraction) : 1.0;
    const double cap = rule_ == SpatialRule::kMaxMin ? std::pow(sms, exponent_) : sms;
    caps_[c] = std::max<SmShare>(1, static_cast<SmShare>(cap * static_cast<double>(kAllSms)));
  }
  const auto same_size = [](const Part& a, const Part& b) { return a.fraction == b.fraction; };
  if (!std::ranges::equal(parts, parts_, same_size))
    for (const OpIndex index : members_) ops_[index].room = 0, ops_[index].placement = {};
  parts_ = std::move(parts);
  has_parts_ = parts_.size() > 1 || parts_[0].fraction < 1.0;
  has_priorities_ = std::ranges::any_of(clients_, [&](const Client& c) { return c.priority != clients_[0].priority; });
}

void SpatialSet::assign_rates() {
  const auto gap_over = [&](OpIndex index) { return ops_[index].gap_left == 0; };
  const auto first_in_gap = std::stable_partition(members_.begin(), members_.end(), gap_over);
  dispatched_ = static_cast<std::size_t>(first_in_gap - members_.begin());
  for (auto in_gap = first_in_gap; in_gap != members_.end(); ++in_gap) ops_[*in_gap].rate = gap_rate(*in_gap);

  yielding_.clear();
  for (Part& part : parts_) part.left = kAllSms;
  find_wants();
  if (rule_ == SpatialRule::kMaxMin) {
    share_fairly();
  } else if (has_priorities_) {
    share_by_priority();
  } else {
    share_in_dispatch_order();
  }
  for (const Part& part : parts_) CORUN_ASSERT(part.left >= 0, "{} SM shares too many are given out", -part.left);
  if (rule_ != SpatialRule::kMaxMin) share_throughput();
  give_rates();
  if (stall_ > Duration{}) stall_others();
}

Duration SpatialSet::until_change() const {
  Duration least = RunSet::until_change();
  for (const OpIndex index : yielding_) {
    const ActiveOp& op = ops_[index];
    if (op.rate > 0) least = std::min(least, op.occupancy.wave - op.device_time % op.occupancy.wave);
  }
  return least;
}

void SpatialSet::find_wants() {
  cap_left_ = caps_;
  wants_.clear();
  for (std::size_t i = 0; i < dispatched_; ++i) {
    const ActiveOp& op = member(i);
    const SmShare most = rule_ == SpatialRule::kMaxMin ? op.occupancy.throughput_at(op.work_left)
                                                       : op.occupancy.room_at(op.work_left);
    SmShare& left = cap_left_[op.client.value];
    wants_.push_back(std::min(most, left));
    left -= wants_.back();
  }
}

void SpatialSet::share_in_dispatch_order() {
  shares_.assign(dispatched_, 0);
  for (std::size_t i = 0; i < dispatched_; ++i) give_room(i);
}

/// More room for the blocks of `i`, of what is left and open to it.
void SpatialSet::give_room(std::size_t i) {
  SmShare& left = has_parts_ ? left_for(i) : parts_[0].left;
  SmShare more = std::min(wants_[i] - shares_[i], left);
  if (more > 0) {
    const SmShare open = sms_open_to(i);
    const SmShare had = member(i).placement.sms > 0 ? member(i).room : 0;
    more = std::max<SmShare>(0, std::min(shares_[i] + more, std::max(had, open)) - shares_[i]);
    shares_[i] += more;
    left -= more;
    if (shares_[i] > 0) place(i, open);
  }
}

/// Writes down where its blocks lie, and from the first ones on how fast they are.
void SpatialSet::place(std::size_t i, SmShare open) {
  const ActiveOp& op = member(i);
  BlockPlacement& at = member(i).placement;
  const SmShare whole = op.occupancy.room_at(op.work_left), spread = op.occupancy.sms_for(whole);
  if (at.sms == 0 && open < spread) {
    const double alone = static_cast<double>(whole) / static_cast<double>(spread);
    const double here = std::min(1.0, static_cast<double>(whole) / static_cast<double>(open));
    at.pace = part_of(kAllSms, std::pow(alone / here, 1.0 - fill_exponent_));
  }
  for (std::size_t k = 0; at.sms == 0 && has_carveouts_ && k < dispatched_; ++k) {
    const ActiveOp& other = member(k);
    if (other.placement.sms <= at.large_sms || other.carveout.most_bytes <= op.carveout.most_bytes) continue;
    if (!has_blocks_beside(i, k)) continue;
    at.large_sms = other.placement.sms;
    at.large_bytes = other.carveout.most_bytes;
  }
  at.sms = std::min(op.occupancy.sms_for(shares_[i]), std::max(open, at.sms));
}

/// SMs that others' blocks do not fill, and whose carve-out is large enough for blocks of `i` or comes free for them.
SmShare SpatialSet::sms_open_to(std::size_t i) {
  const std::uint32_t needed = member(i).carveout.needed_bytes;
  SmShare not_full = kAllSms, large_enough = kAllSms;
  for (std::size_t k = 0; k < dispatched_; ++k) {
    if (!has_blocks_beside(i, k)) continue;
    const ActiveOp& other = member(k);
    not_full = std::min(not_full, other.occupancy.sms_for(kAllSms - shares_[k]));
    if (!has_carveouts_ || other.carveout.most_bytes >= needed) continue;
    const BlockPlacement& at = other.placement;
    large_enough -= at.large_bytes >= needed ? std::max<SmShare>(0, at.sms - at.large_sms) : at.sms;
  }
  return std::clamp<SmShare>(large_enough, 0, not_full);
}

/// Whether a kernel of another client has blocks on the same SMs.
bool SpatialSet::has_blocks_beside(std::size_t i, std::size_t other) {
  if (other == i || member(other).client == member(i).client) return false;
  if (has_parts_ && client_of(other).part != client_of(i).part) return false;
  return shares_[other] > 0 || member(other).room > 0;
}

void SpatialSet::share_by_priority() {
  keep_running_blocks();
  order_.resize(dispatched_);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::stable_sort(order_, std::greater{}, [&](std::size_t i) { return client_of(i).priority; });
  for (const std::size_t i : order_) give_room(i);
  find_yielding();
}

void SpatialSet::keep_running_blocks() {
  shares_.clear();
  for (std::size_t i = 0; i < dispatched_; ++i) {
    shares_.push_back(runs_blocks(member(i)) ? std::min(member(i).room, wants_[i]) : 0);
    left_for(i) -= shares_.back();
  }
}

void SpatialSet::find_yielding() {
  constexpr auto kNobody = std::numeric_limits<std::int32_t>::min();
  std::vector<std::int32_t> wanting(parts_.size(), kNobody);
  for (std::size_t i = 0; i < dispatched_; ++i) {
    if (shares_[i] == wants_[i]) continue;
    std::int32_t& highest = wanting[client_of(i).part];
    highest = std::max(highest, client_of(i).priority);
  }
  for (std::size_t i = 0; i < dispatched_; ++i) {
    const ActiveOp& op = member(i);
    if (shares_[i] == 0 || op.occupancy.wave == Duration{}) continue;
    if (client_of(i).priority < wanting[client_of(i).part]) yielding_.push_back(members_[i]);
  }
}

void SpatialSet::share_fairly() {
  shares_.resize(dispatched_);
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    order_.clear();
    std::vector<SmShare> wants;
    for (std::size_t i = 0; i < dispatched_; ++i) {
      if (client_of(i).part != part) continue;
      order_.push_back(i);
      wants.push_back(wants_[i]);
    }
    const std::vector<SmShare> fair = max_min_shares(wants, kAllSms);
    for (std::size_t k = 0; k < order_.size(); ++k) {
      shares_[order_[k]] = fair[k];
      parts_[part].left -= fair[k];
    }
  }
}

void SpatialSet::share_throughput() {
  for (Part& part : parts_) part.left = part.free_sms = kAllSms, part.given = 0;
  for (std::size_t k = 0; k < dispatched_; ++k) {
    const std::size_t i = has_priorities_ ? order_[k] : k;
    ActiveOp& op = member(i);
    op.room = shares_[i];
    Part& part = has_parts_ ? parts_[client_of(i).part] : parts_[0];
    shares_[i] = std::min(at_pace(throughput_in(op, op.room, exponent_), op.placement.pace), std::max(part.left, part.free_sms));
    part.given += shares_[i];
    part.left = std::max<SmShare>(0, part.left - shares_[i]);
    part.free_sms = std::max<SmShare>(0, part.free_sms - op.occupancy.kept_by(op.room));
  }
  share_excess();
}

/// Takes from everyone in proportion what has been given out beyond the whole.
void SpatialSet::share_excess() {
  for (std::size_t i = 0; i < dispatched_; ++i) {
    const SmShare given = parts_[has_parts_ ? client_of(i).part : 0].given;
    if (given > kAllSms) shares_[i] = part_of(shares_[i], static_cast<double>(kAllSms) / static_cast<double>(given));
  }
}

void SpatialSet::give_rates() {
  const double gain = has_parts_ ? bandwidth_gain() : 1.0;
  for (std::size_t i = 0; i < dispatched_; ++i) {
    ActiveOp& op = member(i);
    op.rate = rate_on(shares_[i], op.occupancy.throughput_at(op.work_left));
    if (has_parts_) op.rate = on_part(op.rate, op.speed, gain);
  }
}

Rate SpatialSet::gap_rate(OpIndex in_gap) const {
  const auto is_other = [&](OpIndex index) { return ops_[index].client != ops_[in_gap].client; };
  const bool has_company = std::any_of(members_.begin(), members_.begin() + static_cast<std::ptrdiff_t>(dispatched_), is_other);
  return has_company ? gap_rate_ : kFullRate;
}

/// Kernels that begin now hold up those of other clients that have begun before.
void SpatialSet::stall_others() {
  for (std::size_t i = 0; i < dispatched_; ++i) {
    ActiveOp& beginning = member(i);
    if (beginning.started || beginning.rate == 0) continue;
    beginning.started = true;
    for (std::size_t k = 0; k < dispatched_; ++k) {
      ActiveOp& other = member(k);
      if (other.client == beginning.client || !other.started || other.room == 0) continue;
      const Work lost = other.rate * to_ns(stall_);
      other.work_left = std::min(other.work_left + lost, other.occupancy.most_left(other.work_left));
    }
  }
}

/// Throughput of a part over its fraction of the device, while some parts leave their memory bandwidth to others.
double SpatialSet::bandwidth_gain() const {
  double all = 0, busy = 0;
  for (const Part& part : parts_) {
    all += part.fraction;
    if (part.left < kAllSms) busy += part.fraction;
  }
  return busy > 0 ? std::pow(busy / all, exponent_ - 1.0) : 1.0;
}

}  // namespace corun
