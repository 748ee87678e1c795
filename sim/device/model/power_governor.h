#pragma once

#include <vector>

#include "sim/device/device_model.h"

namespace corun {

/// The clock of a device's SMs, which its power limit lowers, and the energy that clients take.
///
/// The board lowers the clock until the mean power of the recent past keeps the limit. At a clock c, in times of the
/// full one, an operation takes c^-clock_time_exponent times as long as at the full clock and c^clock_energy_exponent
/// times the energy. The energy of an operation counts when it ends, and the clock changes at such ends, at most once
/// in kBetweenChanges: it applies to operations that are submitted from then on. Clients whose draw is not known take
/// no energy. How far that is from real boards: studies/power.
class PowerGovernor {
 public:
  static constexpr Duration kBetweenChanges{10'000'000};
  /// Power is averaged over so long; assumed, as what boards do is not published. Turns of contexts and steps of
  /// programs are shorter, so that a program's share counts and not its peaks.
  static constexpr Duration kMemory{100'000'000};
  static constexpr double kLowestClock = 0.2;

  explicit PowerGovernor(const DeviceSpec& spec);

  bool is_on() const { return limit_w_ > 0; }
  bool draws() const;  ///< any client does, as far as is known
  void join(const PowerDraw& draw);

  /// What an operation takes at the present clock that was recorded with `duration` at the client's. Only if on.
  Duration duration_now(ClientId client, Duration duration) const;
  /// An operation has ended that takes `duration` alone at the present clock. Only if on.
  void ended(ClientId client, Duration duration, Time now);

  double energy_j(ClientId client) const { return clients_[client.value].energy_j; }
  /// DeviceUsage::clocked at `now`.
  Duration clocked(Time now) const;

 private:
  struct Client {
    double full_watts = 0.0;  ///< of its operations at the full clock
    double clock = 1.0;       ///< of its recorded durations
    double watts = 0.0;       ///< at the present clock
    double stretch = 1.0;     ///< of its recorded durations, at the present clock
    double energy_j = 0.0;
  };
  void set_clock(double clock);
  void settle(Client& client) const;

  const double limit_w_;  ///< above the idle power
  const double time_exponent_, power_exponent_;
  std::vector<Client> clients_;
  double clock_ = 1.0;
  double full_watts_ = 0.0;  ///< mean of the recent past, were the clock the full one
  double taken_j_ = 0.0;     ///< since the last change
  Time changed_ = kRunStart;
  double clocked_ns_ = 0.0;  ///< until then
};

}  // namespace corun
