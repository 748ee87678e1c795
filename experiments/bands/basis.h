#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "experiments/bands/mechanism.h"
#include "experiments/question/experiment.h"

namespace corun {

/// How it is known what a way of sharing does on a device. It says nothing of how far a figure is off: bands do.
enum class Basis : std::uint8_t {
  kNothingShared,  ///< or it was measured itself
  kCompared,       ///< predictions of its mechanism were compared with measurements on this GPU
  kCalibrated,     ///< on another GPU; the laws of this device were measured
  kStated,         ///< on another GPU; the laws of this device were written by hand
  kDataSheet,      ///< on another GPU; the numbers of this device are published ones (`measured: no`)
  kNeverCompared,  ///< on no GPU, or not with games or servers
};
/// The label that stands with a figure: "compared", "data sheet"; "" of kNothingShared.
std::string_view to_string(Basis basis);
/// What the label says: "predictions were compared with this GPU".
std::string_view meaning_of(Basis basis);

/// Where a device's laws come from.
enum class DeviceLaws : std::uint8_t { kMeasured, kStated, kDataSheet };
std::string_view to_string(DeviceLaws laws);
/// Of a text that to_string() gave; kStated of others.
DeviceLaws device_laws(std::string_view text);

/// A mechanism on a device: what a basis hangs on.
struct MechanismOn {
  std::string mechanism;  ///< mechanism_of()
  std::string device;     ///< its name
  DeviceLaws laws = DeviceLaws::kStated;
};
MechanismOn mechanism_on(const Scenario& scenario, const PolicyChoice& policy);

/// Which mechanisms were compared with hardware, on which GPUs, by which studies. Made by studies/bands/compared.py out
/// of what studies predicted and measured.
class ComparedMechanisms {
 public:
  /// A table with the columns mechanism,device,studies.
  explicit ComparedMechanisms(std::string_view csv);
  /// The built-in table.
  static const ComparedMechanisms& built_in();

  /// Folders below studies/, separated by spaces; "" = none.
  std::string_view studies(const std::string& mechanism, const std::string& device) const;
  bool is_compared_anywhere(const std::string& mechanism) const;

 private:
  std::map<std::pair<std::string, std::string>, std::string> studies_;  ///< by mechanism and device
};

/// A line each of these labels below a table, in order: "basis    compared: predictions were compared with this GPU".
/// What is behind the first word begins `indent` columns in; "" where nothing is shared.
std::string legend_of(const std::set<Basis>& labels, std::size_t indent);

/// `has_games`: some client draws frames, as its run shows.
Basis basis_of(const ComparedMechanisms& compared, const MechanismOn& its, bool has_games);

}  // namespace corun
