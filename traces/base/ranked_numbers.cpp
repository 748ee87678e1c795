#include "traces/base/ranked_numbers.h"

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

void ShortNumbers::push_far(std::int64_t value) {
  far_.emplace_back(near_.size(), value);
  near_.push_back(kFar);
}

std::int64_t ShortNumbers::far(std::size_t index) const {
  return std::ranges::lower_bound(far_, index, {}, &Far::value_type::first)->second;
}

/// Numbers below zero come before all near ones, numbers beyond 32 bits after them.
std::int64_t ShortNumbers::ranked(std::size_t rank) const {
  std::vector<std::int64_t> far;
  for (const auto& [index, value] : far_) far.push_back(value);
  std::ranges::sort(far);
  const auto negative = static_cast<std::size_t>(std::ranges::lower_bound(far, 0) - far.begin());
  const std::size_t near = near_.size() - far_.size();
  if (rank < negative) return far[rank];
  return rank < negative + near ? ranked_near(rank - negative) : far[rank - near];
}

/// Byte by byte from the highest that is not 0 in all of them: those that begin like the one looked for are counted by
/// their next byte.
std::uint32_t ShortNumbers::ranked_near(std::size_t rank) const {
  std::uint32_t bits = 0;  // that any of them has
  for (const std::uint32_t number : near_) bits |= number == kFar ? 0 : number;
  std::uint64_t found = 0;
  for (unsigned shift = (std::bit_width(bits) + 7) / 8 * 8; shift > 0; shift -= 8) {
    std::array<std::size_t, 256> counts{};
    for (const std::uint64_t number : near_)
      if (number >> shift == found && number != kFar) ++counts[number >> (shift - 8) & 0xFF];
    std::size_t byte = 0;
    for (; rank >= counts[byte]; ++byte) rank -= counts[byte];
    found = found << 8 | byte;
  }
  return static_cast<std::uint32_t>(found);
}

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
