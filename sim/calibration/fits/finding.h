#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/calibration/fits/quantile.h"

namespace corun::calibration {

/// In what a value is counted, and so how a device file writes it.
enum class Unit : std::uint8_t { kCount, kRatio, kNs, kBytes, kBytesPerS, kKhz, kChoice };

/// A number of a situation that a value should explain: as it was measured, as the model has it with the value, and as
/// rival models have it that know less.
struct Comparison {
  std::string situation{};
  double measured = 0.0;
  double model = 0.0;
  std::vector<std::pair<std::string, double>> nulls{};

  static double error(double predicted, double measured) { return predicted / measured - 1.0; }
};

/// What is concluded from samples about one property of a device.
struct Finding {
  std::string key{};    ///< of a device file; "" = it has none for this
  std::string title{};  ///< for people: "time slice"
  Unit unit = Unit::kNs;
  Spread value{};        ///< not for kChoice
  std::string choice{};  ///< for kChoice
  std::string method{};  ///< how it was measured, and by how many
  bool is_told = false;  ///< not measured: the driver says so
  Unit compared_in = Unit::kNs;
  std::vector<Comparison> comparisons{};
  std::vector<std::string> notes{};
};

/// Mean and worst of the absolute errors of a model over comparisons.
struct ModelError {
  std::string model{};
  double mean = 0.0;
  double worst = 0.0;
};
/// Of the model ("the model"), then of each null model in the order of the first comparison.
std::vector<ModelError> model_errors(const std::vector<Comparison>& comparisons);

/// "2.097ms", "54.2GB/s", "1980 MHz": as a device file or a report writes it, to four or five digits.
std::string text_of(double value, Unit unit);
/// The value of a finding as a device file writes it, and its spread: "2.095ms to 2.099ms", "" where there is none.
std::string value_text(const Finding& finding);
std::string spread_text(const Finding& finding);

}  // namespace corun::calibration
