#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace corun {

/// Reads a decimal number as an integer of 10^-`scale` units, without a floating-point number in between.
///
/// Captures write times as decimals of micro-, milli- or whole seconds with up to 19 digits; a double would round them.
/// `parse_decimal("4368164989032.924", 3)` is 4368164989032924. Digits beyond the scale are rounded half away from
/// zero. A sign, an exponent and surrounding blanks or double quotes are accepted. Empty for anything else: "NA",
/// "nan", trailing letters, or a value beyond +-2^62.
std::optional<std::int64_t> parse_decimal(std::string_view text, int scale);

/// A whole number: decimal text without fraction, in quotes or not.
std::optional<std::int64_t> parse_integer(std::string_view text);

inline constexpr int kNsPerUsDigits = 3;  ///< scale of microseconds for nanoseconds
inline constexpr int kNsPerMsDigits = 6;  ///< scale of milliseconds for nanoseconds
inline constexpr int kNsPerSDigits = 9;   ///< scale of seconds for nanoseconds

/// True if the text has a decimal point or an exponent.
bool is_fractional(std::string_view text);

}  // namespace corun
