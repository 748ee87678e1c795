#include "traces/text/decimal.h"

#include <charconv>

namespace corun {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 62;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kAround = " \t\r\n\"";
  const std::size_t first = text.find_first_not_of(kAround);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kAround) - first + 1);
}

// Digits before rounding: value * 10^exponent, and whether all text was used.
struct Digits {
  std::int64_t value = 0;
  int exponent = 0;
  bool rounds_up = false;
};

bool append(Digits& digits, char c) {
  if (digits.value > (kLargest - 9) / 10) return false;
  digits.value = digits.value * 10 + (c - '0');
  return true;
}

std::optional<int> parse_exponent(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  int exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return exponent;
}

// Mantissa with its decimal point; `text` is left at what follows it.
std::optional<Digits> parse_mantissa(std::string_view& text, int keep_fraction) {
  Digits digits;
  bool has_digits = false, has_point = false, is_cut = false;
  for (; !text.empty() && (is_digit(text.front()) || (text.front() == '.' && !has_point)); text.remove_prefix(1)) {
    const char c = text.front();
    if (c == '.') {
      has_point = true;
      continue;
    }
    has_digits = true;
    if (has_point && -digits.exponent >= keep_fraction) {
      if (!is_cut) digits.rounds_up = c >= '5';
      is_cut = true;
      continue;
    }
    if (!append(digits, c)) return std::nullopt;
    if (has_point) --digits.exponent;
  }
  return has_digits ? std::optional{digits} : std::nullopt;
}

std::optional<std::int64_t> scaled(Digits digits, int scale) {
  if (digits.rounds_up) ++digits.value;
  int shift = digits.exponent + scale;
  for (; shift > 0; --shift) {
    if (digits.value > kLargest / 10) return std::nullopt;
    digits.value *= 10;
    if (digits.value == 0) return 0;
  }
  for (bool last = false; shift < 0 && digits.value != 0; ++shift) {
    last = shift == -1;
    digits.value = (digits.value + (last ? 5 : 0)) / 10;
  }
  return digits.value;
}

}  // namespace

std::optional<std::int64_t> parse_decimal(std::string_view text, int scale) {
  text = trimmed(text);
  const bool is_negative = !text.empty() && text.front() == '-';
  if (is_negative || (!text.empty() && text.front() == '+')) text.remove_prefix(1);

  // With an exponent the fraction's place is not known before it is read: keep what an integer can hold.
  const bool has_exponent = text.find_first_of("eE") != std::string_view::npos;
  std::optional<Digits> digits = parse_mantissa(text, has_exponent ? 17 : scale);
  if (!digits) return std::nullopt;
  if (!text.empty()) {
    if (text.front() != 'e' && text.front() != 'E') return std::nullopt;
    const std::optional<int> exponent = parse_exponent(text.substr(1));
    if (!exponent || *exponent > 40 || *exponent < -400) return std::nullopt;
    digits->exponent += *exponent;
  }
  const std::optional<std::int64_t> value = scaled(*digits, scale);
  if (!value || *value > kLargest) return std::nullopt;
  return is_negative ? -*value : *value;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  text = trimmed(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_fractional(std::string_view text) { return text.find_first_of(".eE") != std::string_view::npos; }

}  // namespace corun
