#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/policy/view.h"

namespace corun {

/// Says how long a kernel will take on the device, from a solo profile, from what was measured, or from an oracle.
///
/// One object serves all clients of a policy. Predictions depend on nothing but what was learned, in order.
class DurationPredictor {
 public:
  enum class Kind : std::uint8_t {
    kNameMean,       ///< mean of the solo profile by name; a name that is not in it: its first measurement
    kNameShapeMean,  ///< mean of the solo profile by name and launch shape, else as kNameMean
    kPosition,       ///< mean of what was measured at the same position of the client's jobs, else as kNameShapeMean
    kEwma,           ///< exponentially weighted mean of what was measured by name and grid, else as kNameShapeMean
    kQuantile,       ///< quantile of the newest measurements by name and grid; with few, the longest of them and of the
                     ///< profile's mean
    kOracle,         ///< OpView::exact
  };
  struct Settings {
    Kind kind = Kind::kNameMean;
    double quantile = 0.95;    ///< of kQuantile, (0, 1)
    double ewma_weight = 0.2;  ///< of kEwma: weight of the newest measurement, (0, 1]
  };

  explicit DurationPredictor(const Settings& settings) : settings_(settings) {}

  /// kUnknownDuration if nothing is known of the kernel.
  Duration predict(ClientId client, const OpView& op) const;

  /// A kernel of the client took `measured` on the device. Not to be called for kernels that were lost, nor for those
  /// that stood still for page faults: neither says how long the kernel takes.
  void learn(ClientId client, const OpView& op, Duration measured);

  /// Names as parameters give them: "name_mean", "name_shape_mean", "position_in_iteration", "ewma", "quantile".
  static Kind kind_of(std::string_view choice);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  /// What was measured of one name and grid.
  struct Measured {
    std::vector<Duration> newest;  // ring of kWindow
    std::uint64_t count = 0;
    Duration ewma{};
    Duration quantile{};  // of `newest`; the longest of them while they are few
  };
  struct AtPosition {
    std::string name;
    std::uint64_t count = 0;
    double mean_ns = 0;
  };

  static constexpr std::size_t kWindow = 64;
  static constexpr std::uint64_t kEnough = 20;  // measurements that have a quantile worth the name

  const Measured* measured(const OpView& op) const;
  const AtPosition* at_position(ClientId client, const OpView& op) const;
  Duration by_name(const OpView& op) const;
  Duration by_shape(const OpView& op) const;
  Duration by_quantile(const OpView& op) const;
  void learn_position(ClientId client, const OpView& op, Duration duration);
  void learn_grid(const OpView& op, Duration duration);

  const Settings settings_;
  std::unordered_map<std::string, Duration, Hash, std::equal_to<>> first_by_name_;  // of names without a profile
  std::unordered_map<std::string, std::unordered_map<std::uint64_t, Measured>, Hash, std::equal_to<>> by_grid_;
  std::vector<std::vector<AtPosition>> by_position_;  // by client, by position in the job
};

}  // namespace corun
