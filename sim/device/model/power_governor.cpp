#include "sim/device/model/power_governor.h"

#include <algorithm>
#include <cmath>

namespace corun {

PowerGovernor::PowerGovernor(const DeviceSpec& spec)
    : limit_w_(spec.power_limit_w - spec.idle_power_w),
      time_exponent_(spec.clock_time_exponent),
      power_exponent_(spec.clock_time_exponent + spec.clock_energy_exponent) {
  CORUN_ASSERT(spec.power_limit_w == 0 || limit_w_ > 0, "a limit of {} W and {} W when idle", spec.power_limit_w,
               spec.idle_power_w);
}

bool PowerGovernor::draws() const {
  return is_on() && std::ranges::any_of(clients_, [](const Client& client) { return client.full_watts > 0; });
}

void PowerGovernor::join(const PowerDraw& draw) {
  CORUN_ASSERT(draw.watts >= 0 && draw.clock > 0 && draw.clock <= 1, "a draw of {} W at {} of the full clock",
               draw.watts, draw.clock);
  Client& client = clients_.emplace_back();
  client.clock = draw.clock;
  client.full_watts = draw.watts / std::pow(draw.clock, power_exponent_);
  settle(client);
}

Duration PowerGovernor::duration_now(ClientId client, Duration duration) const {
  const Client& its = clients_[client.value];
  if (its.stretch == 1.0) return duration;
  return Duration{std::llround(static_cast<double>(to_ns(duration)) * its.stretch)};
}

void PowerGovernor::ended(ClientId client, Duration duration, Time now) {
  Client& its = clients_[client.value];
  const double joules = its.watts * to_seconds(duration);
  its.energy_j += joules;
  taken_j_ += joules;
  const Duration passed = now - changed_;
  if (passed < kBetweenChanges) return;
  const double watts = taken_j_ / to_seconds(passed) / std::pow(clock_, power_exponent_);
  full_watts_ += (watts - full_watts_) * to_seconds(passed) / to_seconds(passed + kMemory);
  clocked_ns_ += clock_ * static_cast<double>(to_ns(passed));
  taken_j_ = 0;
  changed_ = now;
  const double allowed = full_watts_ > limit_w_ ? std::pow(limit_w_ / full_watts_, 1 / power_exponent_) : 1.0;
  set_clock(std::max(allowed, kLowestClock));
}

Duration PowerGovernor::clocked(Time now) const {
  return Duration{std::llround(clocked_ns_ + clock_ * static_cast<double>(to_ns(now - changed_)))};
}

void PowerGovernor::set_clock(double clock) {
  if (clock == clock_) return;
  clock_ = clock;
  for (Client& client : clients_) settle(client);
}

void PowerGovernor::settle(Client& client) const {
  client.watts = client.full_watts * std::pow(clock_, power_exponent_);
  client.stretch = std::pow(client.clock / clock_, time_exponent_);
}

}  // namespace corun
