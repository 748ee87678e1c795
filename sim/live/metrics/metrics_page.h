#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "sim/live/metrics/histogram.h"

namespace corun::live {

/// `name="value"`, whatever the value holds.
std::string label_of(std::string_view name, std::string_view value);

/// A duration as a sample has it: fifteen digits, so that nanoseconds of eleven days are whole and 0.1 s is 0.1.
std::string seconds_of(Duration duration);

/// A page in Prometheus' text format, version 0.0.4: families one after another, each with all its samples.
class MetricsPage {
 public:
  /// `type`: "counter", "gauge" or "histogram". `name` outlives the family. `help` is one line without backslashes.
  void family(std::string_view name, std::string_view type, std::string_view help);
  /// `labels`: those of label_of(), commas between them; "" = none.
  template <class Value>
  void sample(std::string_view labels, const Value& value, std::string_view ending = "") {
    const std::string_view open = labels.empty() ? "" : "{", close = labels.empty() ? "" : "}";
    fmt::format_to(std::back_inserter(text_), "{}{}{}{}{} {}\n", name_, ending, open, labels, close, value);
  }
  void histogram(std::string_view labels, const Histogram& values);

  std::string text() && { return std::move(text_); }

 private:
  std::string_view name_;
  std::string text_;
};

}  // namespace corun::live
