#include "sim/device/memory.h"

#include <algorithm>
#include <cmath>

namespace corun {

namespace {

// In a round robin, another context ran at most one slice and one switch before the end of every visit; in a lease of
// seconds it did not, except at the very beginning. Four turns tell the two apart.
constexpr int kTurnsPerWindow = 4;

// Less than a byte is rounding, not memory.
constexpr double kNothing = 1.0;

double per_ns(std::uint64_t bytes_per_s) { return static_cast<double>(bytes_per_s) * 1e-9; }

}  // namespace

Residency::Residency(const DeviceSpec& spec)
    : memory_(static_cast<double>(spec.memory_bytes)),
      handover_(per_ns(spec.handover_bandwidth_bytes_per_s)),
      thrash_(spec.thrash_bandwidth_bytes_per_s > 0 ? per_ns(spec.thrash_bandwidth_bytes_per_s) : handover_),
      alternation_window_(kTurnsPerWindow * (spec.time_slice + spec.switch_cost)) {}

void Residency::join(const ContextSpec& context) {
  WorkingSet set;
  set.bytes = std::min(static_cast<double>(context.working_set_bytes), memory_);
  if (context.touch_period > Duration{}) set.touch_rate = set.bytes / static_cast<double>(to_ns(context.touch_period));
  sets_.push_back(set);
}

void Residency::place(ClientId client) {
  WorkingSet& set = sets_[client.value];
  if (set.placed) return;
  set.resident = std::clamp(memory_ - total_resident(), 0.0, set.bytes);
  set.placed = true;
}

void Residency::run(const std::vector<ClientId>& clients, Time now) {
  running_ = clients;
  next_change_ = kNever;
  const auto paging = std::count_if(running_.begin(), running_.end(),
                                    [&](ClientId c) { return sets_[c.value].missing() >= kNothing; });
  for (const ClientId client : running_) set_pace(client, now, static_cast<double>(paging));
}

void Residency::progress(Time from, Time to) {
  if (from == to) return;
  const auto elapsed = static_cast<double>(to_ns(to - from));
  for (const ClientId client : running_) {
    WorkingSet& set = sets_[client.value];
    set.last_ran = to;
    set.has_run = true;
    if (set.missing() < kNothing) continue;
    set.resident = std::min(set.bytes, set.resident + elapsed * set.paging_rate);
    if (set.missing() < kNothing) set.resident = set.bytes;
    displace(total_resident() - memory_, client);
  }
}

double Residency::bandwidth(ClientId client, Time now, Time& until) const {
  until = kNever;
  Time alternating_until = now;
  for (std::size_t other = 0; other < sets_.size(); ++other) {
    if (other == client.value || sets_[other].bytes == 0 || !sets_[other].has_run) continue;
    alternating_until = std::max(alternating_until, sets_[other].last_ran + alternation_window_);
  }
  if (alternating_until == now) return handover_;
  until = alternating_until;
  return thrash_;
}

void Residency::set_pace(ClientId client, Time now, double sharers) {
  WorkingSet& set = sets_[client.value];
  set.pace = kFullRate;
  if (set.missing() < kNothing) return;
  Time bandwidth_until;
  const double available = bandwidth(client, now, bandwidth_until) / sharers;
  if (set.touch_rate > 0) {
    const double speed = available / (available + set.touch_rate);
    set.pace = std::max<Rate>(1, static_cast<Rate>(speed * static_cast<double>(kFullRate)));
    set.paging_rate = set.touch_rate * speed;
  } else {
    set.pace = 0;
    set.paging_rate = available;
  }
  const Time all_in = now + Duration{static_cast<std::int64_t>(std::ceil(set.missing() / set.paging_rate))};
  next_change_ = std::min({next_change_, all_in, bandwidth_until});
}

void Residency::displace(double excess, ClientId keeper) {
  while (excess > 0) {
    WorkingSet* victim = nullptr;
    for (std::size_t other = 0; other < sets_.size(); ++other) {
      WorkingSet& set = sets_[other];
      if (other == keeper.value || set.resident <= 0) continue;
      if (victim == nullptr || set.last_ran < victim->last_ran) victim = &set;
    }
    if (victim == nullptr) return;
    const double taken = std::min(excess, victim->resident);
    victim->resident -= taken;
    excess -= taken;
  }
}

double Residency::total_resident() const {
  double total = 0;
  for (const WorkingSet& set : sets_) total += set.resident;
  return total;
}

}  // namespace corun
