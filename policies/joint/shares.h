#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "policies/djay/knapsack.h"
#include "policies/pilotfish/pilotfish.h"

namespace corun {

/// What each filler may have of a frame period: the menu from which its share is chosen, and what it has used of it.
///
/// Item k of a menu is the share k * step of the period. It is worth what the filler's throughput is at that share,
/// compared with alone, times its weight: in proportion to the share, since between frames a filler runs as it does
/// alone. Of each menu's value a thousandth shrinks with the share, so that fillers alike get shares alike. A filler
/// that waited for nothing in the newest kPeriods periods has shown how much it can use: its menu ends one step above
/// that, or is none if it used nothing.
///
/// Without spare time, a filler that uses more than its share in one period, since its kernels are longer, has less in
/// the next ones. What it leaves is not carried over.
class FillerShares {
 public:
  struct Settings {
    Duration period{};        ///< in which shares are counted, > 0
    double weight = 0.0;      ///< of quality, that a filler's throughput alone is worth; 0 = there are no menus
    ByClient weights{};       ///< factor of some clients; of others 1
    double step = 0.05;       ///< (0, 1]
    bool gives_spare = true;  ///< fillers may use more than their shares where nothing else wants the time
  };
  static constexpr std::size_t kPeriods = 30;

  explicit FillerShares(const Settings& settings) : settings_(settings) {}

  void joined(const GpuView& view, ClientId client);
  /// A kernel of the filler has taken so long on the device.
  void completed(ClientId filler, Duration device_time);
  /// Begins the period that it is, and notes which fillers wait. True if menus() have changed. Called twice in an
  /// instant it says the same, but for that.
  bool look(const GpuView& view, const PilotFish& gate);

  /// Of the fillers that can use time, in the order of clients.
  std::vector<Menu> menus() const;
  /// What was chosen of them, by menu.
  void grant(std::span<const std::uint32_t> items);

  Duration granted(ClientId filler) const { return fillers_[filler.value].granted; }  ///< device time per period
  Duration left(ClientId filler) const { return fillers_[filler.value].left; }        ///< in this period; may be < 0
  bool gives_spare() const { return settings_.gives_spare; }
  Time next_period() const { return kRunStart + (period_ + 1) * settings_.period; }

 private:
  struct Filler {
    double weight = 0.0;
    std::uint32_t steps = 0;  // of its menu, without the share 0
    Duration granted{}, left{};
    Duration used{};                      // in this period
    bool has_waited = false;              // in this period
    std::deque<Duration> content_uses{};  // of the newest periods, since the last in which it waited
  };

  void begin_periods(std::int64_t count);
  std::uint32_t useful_steps(const Filler& filler) const;

  const Settings settings_;
  std::int64_t period_ = 0;      // number of this one
  std::vector<Filler> fillers_;  // by client
};

/// The rule of one decision that holds fillers to their shares: a kernel may begin while anything is left of its
/// filler's share. Beyond it, only as spare time, while no filler that has something left waits. Copies pass.
class ShareRule : public AdmissionRule {
 public:
  ShareRule(const FillerShares& shares, const PilotFish& gate, const GpuView& view);

  Verdict judge(const ClientView& filler, const OpView& op) const override;
  void take(const ClientView& filler, const OpView& op) override;
  /// Device time for which the filler's kernels pass as far as this rule goes.
  Duration sure(const GpuView& view, ClientId filler) const;

 private:
  bool has_claim(const ClientView& filler) const;

  const FillerShares& shares_;
  const PilotFish& gate_;
  std::vector<Duration> left_;  // by client, without what is in flight or was taken in this decision
  std::vector<bool> claims_;    // by client: it has something left and waits, as the decision began
};

}  // namespace corun
