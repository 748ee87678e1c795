#include "traces/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <vector>

namespace corun {

namespace {

__extension__ using Int128 = __int128;

constexpr int kMaxDigits = 27;  // 10^27 times the largest unit stays below 2^127

/// A decimal as written: digits / 10^decimals, with its sign apart.
struct Decimal {
  Int128 digits = 0;
  Int128 denominator = 1;
  bool is_negative = false;
};

template <class Factor>
struct Unit {
  std::string_view name;
  Factor factor;
};

constexpr Unit<std::int64_t> kDurationUnits[] = {
    {"ns", 1},
    {"us", 1'000},
    {"\u00b5s", 1'000},
    {"ms", 1'000'000},
    {"s", 1'000'000'000},
    {"min", 60'000'000'000},
    {"h", 3'600'000'000'000},
};

constexpr Unit<std::int64_t> kByteUnits[] = {
    {"B", 1},           {"kB", 1'000},         {"KB", 1'000},
    {"MB", 1'000'000},  {"GB", 1'000'000'000}, {"TB", 1'000'000'000'000},
    {"KiB", 1LL << 10}, {"MiB", 1LL << 20},    {"GiB", 1LL << 30},
    {"TiB", 1LL << 40},
};

constexpr Unit<double> kRateUnits[] = {
    {"/s", 1.0}, {"fps", 1.0}, {"Hz", 1.0}, {"/min", 1.0 / 60.0}, {"/h", 1.0 / 3600.0}, {"k/s", 1e3}, {"M/s", 1e6},
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Reads a plain decimal from the front of `text` and leaves the rest there, less one space before a unit.
std::optional<Decimal> take_decimal(std::string_view& text) {
  Decimal read;
  std::size_t at = 0;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) read.is_negative = text[at++] == '-';
  int digits = 0;
  bool has_point = false;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !has_point)); ++at) {
    if (text[at] == '.') {
      has_point = true;
      continue;
    }
    if (++digits > kMaxDigits) return std::nullopt;
    read.digits = read.digits * 10 + (text[at] - '0');
    if (has_point) read.denominator *= 10;
  }
  if (digits == 0) return std::nullopt;
  if (at < text.size() && text[at] == ' ') ++at;
  text.remove_prefix(at);
  return read;
}

template <class Factor>
std::optional<Factor> factor_of(std::string_view unit, std::span<const Unit<Factor>> units) {
  const auto found = std::ranges::find(units, unit, &Unit<Factor>::name);
  if (found == units.end()) return std::nullopt;
  return found->factor;
}

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  const auto decimal = take_decimal(text);
  const auto unit = factor_of<std::int64_t>(text, kDurationUnits);
  if (!decimal || !unit) return std::nullopt;
  const Int128 scaled = decimal->digits * *unit;
  if (scaled % decimal->denominator != 0) return std::nullopt;
  const Int128 ns = scaled / decimal->denominator;
  if (ns > INT64_MAX) return std::nullopt;
  return Duration{static_cast<std::int64_t>(decimal->is_negative ? -ns : ns)};
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  const auto decimal = take_decimal(text);
  const auto unit = factor_of<std::int64_t>(text, kByteUnits);
  if (!decimal || !unit || decimal->is_negative) return std::nullopt;
  const Int128 bytes = decimal->digits * *unit / decimal->denominator;
  if (bytes > INT64_MAX) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

std::optional<double> parse_rate(std::string_view text) {
  const auto decimal = take_decimal(text);
  const auto unit = factor_of<double>(text, kRateUnits);
  if (!decimal || !unit || decimal->is_negative) return std::nullopt;
  return static_cast<double>(decimal->digits) / static_cast<double>(decimal->denominator) * *unit;
}

std::optional<double> parse_real(std::string_view text) {
  const bool is_percent = text.ends_with('%');
  if (is_percent) text.remove_suffix(1);
  double value = 0.0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return is_percent ? value / 100.0 : value;
}

std::optional<double> parse_of(std::string_view unit, std::string_view text) {
  if (!text.ends_with(unit)) return std::nullopt;
  text.remove_suffix(unit.size());
  return text.ends_with('%') ? std::nullopt : parse_real(text);
}

std::string format_size(std::uint64_t bytes) {
  const double gib = static_cast<double>(bytes) / static_cast<double>(1U << 30);
  if (gib < 1) return fmt::format("{:.3g} MiB", gib * 1024);
  return gib < 100 ? fmt::format("{:.3g} GiB", gib) : fmt::format("{:.0f} GiB", gib);
}

std::string format_duration(Duration duration) {
  const std::int64_t ns = duration.count();
  if (ns == 0) return "0s";
  const std::uint64_t size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  const auto [unit, factor, decimals] = size >= 1'000'000'000 ? std::tuple{"s", 1'000'000'000U, 9}
                                        : size >= 1'000'000   ? std::tuple{"ms", 1'000'000U, 6}
                                        : size >= 1'000       ? std::tuple{"us", 1'000U, 3}
                                                              : std::tuple{"ns", 1U, 0};
  std::string text = fmt::format("{}{}", ns < 0 ? "-" : "", size / factor);
  if (size % factor != 0) {
    text += fmt::format(".{:0{}}", size % factor, decimals);
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text + unit;
}

std::uint32_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::uint32_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<std::uint32_t>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<std::uint32_t>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace corun
