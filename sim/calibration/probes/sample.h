#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace corun::calibration {

using Series = std::vector<std::int64_t>;

/// What one probe measured in one trial: series of whole numbers whose names end in their unit (`gap_length_ns`).
///
/// Times are nanoseconds since the common start of the trial's probes, on CLOCK_MONOTONIC, regardless of the clock on
/// which they were read from. A probe that failed has no series and says why in `failure`.
struct Sample {
  std::string trial;  ///< of the plan: "slice_two"
  std::uint32_t repetition = 0;
  std::uint32_t role = 0;  ///< index among the probes of the trial
  std::string probe;       ///< "spin"
  std::map<std::string, std::int64_t> settings;
  std::map<std::string, Series> series;
  std::map<std::string, std::string> texts;
  std::string failure;
  int failure_kind = 0;  ///< its ErrorKind; 0 = it did not fail

  /// The series of this name; empty where there is none.
  const Series& of(const std::string& name) const;
  /// First number of a series, or `otherwise` where there is none.
  std::int64_t first(const std::string& name, std::int64_t otherwise = 0) const;
  std::int64_t setting(const std::string& name, std::int64_t otherwise = 0) const;
};

using Samples = std::vector<Sample>;

/// One line of JSON without its end of line.
std::string to_json_line(const Sample& sample);
/// Reads such a line; members that are not there stay empty. Throws Error(kInput) at `file` and `line`.
Sample sample_from_json_line(std::string_view text, const std::string& file, std::uint32_t line);
/// Reads a file of such lines.
Samples samples_from_json_lines(std::string_view text, const std::string& file);

}  // namespace corun::calibration
