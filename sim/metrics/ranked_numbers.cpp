#include "sim/metrics/ranked_numbers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "traces/base/error.h"

namespace corun {

namespace {

/// Digit by digit: a comparison for each of them would cost as much as the simulation that made them.
void sort_by_digits(std::vector<std::int64_t>& values) {
  constexpr unsigned kBits = 11;
  const std::int64_t largest = values.empty() ? 0 : *std::ranges::max_element(values);
  std::vector<std::int64_t> sorted(values.size());
  for (unsigned shift = 0; shift < static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(largest)));
       shift += kBits) {
    const auto digit = [&](std::int64_t value) { return static_cast<std::size_t>(value >> shift) % (1U << kBits); };
    std::array<std::size_t, (1U << kBits) + 1> begins{};
    for (const std::int64_t value : values) ++begins[digit(value) + 1];
    for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
    for (const std::int64_t value : values) sorted[begins[digit(value)]++] = value;
    values.swap(sorted);
  }
}

}  // namespace

void RankedNumbers::reserve(std::size_t count) { newest_.reserve(std::min(count, most_apart_)); }

void RankedNumbers::push_back(std::int64_t value) {
  CORUN_ASSERT(value >= 0, "{} is ranked", value);
  if (value < static_cast<std::int64_t>(short_counts_.size())) return count_short(value);
  if (newest_.size() >= std::max(most_apart_, longer_.size() / 4)) count_newest();
  newest_.push_back(value);
}

void RankedNumbers::count_short(std::int64_t value) {
  ++short_counts_[static_cast<std::size_t>(value)];
  ++counted_numbers_;
}

std::vector<std::int64_t> RankedNumbers::sorted_newest() const {
  std::vector<std::int64_t> values;
  values.reserve(newest_.size());
  for (std::size_t i = 0; i < newest_.size(); ++i) values.push_back(newest_[i]);
  sort_by_digits(values);
  return values;
}

void RankedNumbers::count_newest() {
  const std::vector<std::int64_t> values = sorted_newest();
  newest_ = {};
  newest_.reserve(most_apart_);
  short_counts_.resize(kShort);
  auto longer = values.begin();
  for (; longer != values.end() && *longer < kShort; ++longer) count_short(*longer);
  if (longer != values.end()) count_longer({longer, values.end()});
}

/// Goes through those counted before and the new ones, both ascending.
void RankedNumbers::count_longer(std::span<const std::int64_t> values) {
  const std::size_t before = longer_.size();
  Instants::Drain next_value(std::exchange(longer_, {}));
  Counts::Drain next_count(std::exchange(longer_counts_, {}));
  auto value = values.begin();
  const auto add_equal = [&](std::uint64_t count) {
    const std::int64_t first = *value;
    for (; value != values.end() && *value == first; ++value) ++count;
    longer_.push_back(first);
    longer_counts_.push_back(count);
  };
  for (std::size_t i = 0; i < before; ++i) {
    const std::int64_t known = next_value.next();
    const std::uint64_t count = next_count.next();
    while (value != values.end() && *value < known) add_equal(0);
    if (value != values.end() && *value == known) {
      add_equal(count);
    } else {
      longer_.push_back(known);
      longer_counts_.push_back(count);
    }
  }
  while (value != values.end()) add_equal(0);
  counted_numbers_ += values.size();
}

std::int64_t RankedNumbers::ranked(std::size_t rank) const {
  if (counted_numbers_ == 0) return newest_.ranked(rank);
  CORUN_ASSERT(rank < size(), "rank {} of {}", rank, size());
  RankedNumbers all = *this;
  all.count_newest();
  std::uint64_t left = rank;
  for (std::size_t value = 0; value < all.short_counts_.size(); ++value) {
    if (left < all.short_counts_[value]) return static_cast<std::int64_t>(value);
    left -= all.short_counts_[value];
  }
  Instants::Reader value(all.longer_);
  for (Counts::Reader count(all.longer_counts_);;) {
    const std::int64_t found = value.next();
    const std::uint64_t equal = count.next();
    if (left < equal) return found;
    left -= equal;
  }
}

}  // namespace corun
