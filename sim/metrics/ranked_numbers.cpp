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
  if (newest_.size() >= std::max(most_apart_, counted_.size())) count_newest();
  newest_.push_back(value);
}

std::vector<std::int64_t> RankedNumbers::sorted_newest() const {
  std::vector<std::int64_t> values;
  values.reserve(newest_.size());
  for (std::size_t i = 0; i < newest_.size(); ++i) values.push_back(newest_[i]);
  sort_by_digits(values);
  return values;
}

void RankedNumbers::count_newest() {
  const std::vector<Counted> before = std::exchange(counted_, {});
  auto next = before.begin();
  const auto add = [&](const Counted& more) {
    if (!counted_.empty() && counted_.back().value == more.value) {
      counted_.back().count += more.count;
    } else {
      counted_.push_back(more);
    }
  };
  for (const std::int64_t value : sorted_newest()) {
    for (; next != before.end() && next->value <= value; ++next) add(*next);
    add({value, 1});
  }
  for (; next != before.end(); ++next) add(*next);
  counted_numbers_ += newest_.size();
  newest_ = {};
}

std::int64_t RankedNumbers::ranked(std::size_t rank) const {
  if (counted_.empty()) return newest_.ranked(rank);
  CORUN_ASSERT(rank < size(), "rank {} of {}", rank, size());
  const std::vector<std::int64_t> newest = sorted_newest();
  std::size_t passed = 0;  // of the newest
  std::uint64_t before = 0;
  for (const Counted& counted : counted_) {
    while (passed < newest.size() && newest[passed] < counted.value) {
      if (before++ == rank) return newest[passed];
      ++passed;
    }
    before += counted.count;
    if (before > rank) return counted.value;
  }
  return newest[passed + (rank - before)];
}

}  // namespace corun
