#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "traces/base/column.h"
#include "traces/base/instants.h"
#include "traces/base/short_numbers.h"

namespace corun {
namespace {

/// Small numbers, and some that need more than 32 bits, at either side of zero.
std::vector<std::int64_t> mixed_numbers(std::size_t count) {
  std::mt19937_64 random(7);
  std::vector<std::int64_t> numbers{0, -1, UINT32_MAX, std::int64_t{UINT32_MAX} - 1, INT64_MAX, INT64_MIN};
  while (numbers.size() < count) {
    const auto number = static_cast<std::int64_t>(random());
    numbers.push_back(random() % 8 == 0 ? number : number & 0xFFFF);
  }
  std::ranges::shuffle(numbers, random);
  return numbers;
}

TEST(Column, OfSeveralLargePagesHoldsWhatWasWritten) {
  Column<std::uint32_t> column;
  const std::size_t count = 3 * kLargePage / sizeof(std::uint32_t) + 5;
  for (std::uint32_t i = 0; i < count; ++i) column.push_back(i * 3);
  for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(column[i], i * 3);
}

TEST(ShortNumbers, HoldAnyNumber) {
  const std::vector<std::int64_t> numbers = mixed_numbers(1'000);
  ShortNumbers column;
  for (const std::int64_t number : numbers) column.push_back(number);
  for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(column[i], numbers[i]) << i;
}

TEST(ShortNumbers, CanBeChangedAllAtOnceHoweverManyWereAndBecomeFar) {
  ShortNumbers column;
  constexpr std::size_t kCount = 200'000;  // one by one, in the square of it
  for (std::size_t i = 0; i < kCount; ++i) column.push_back(i % 2 == 0 ? -5 : 7);
  ShortNumbers::Rewriter next(column);
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::int64_t value = next.number();
    EXPECT_EQ(value, i % 2 == 0 ? -5 : 7);
    next.put(i % 3 == 0 ? std::int64_t{1} << 40 : value + 5);
  }
  for (std::size_t i = 0; i < kCount; ++i)
    ASSERT_EQ(column[i], i % 3 == 0 ? std::int64_t{1} << 40 : i % 2 == 0 ? 0 : 12) << i;
}

TEST(ShortNumbers, AreRankedAsSortingRanksThem) {
  std::vector<std::int64_t> numbers = mixed_numbers(1'000);
  ShortNumbers column;
  for (const std::int64_t number : numbers) column.push_back(number);
  std::ranges::sort(numbers);
  for (std::size_t rank = 0; rank < numbers.size(); ++rank) EXPECT_EQ(column.ranked(rank), numbers[rank]) << rank;
}

TEST(ShortNumbers, CanBeSetAndTakenBack) {
  const std::vector<std::int64_t> before = mixed_numbers(200), after = mixed_numbers(100);
  ShortNumbers column;
  for (const std::int64_t number : before) column.push_back(number);
  for (std::size_t i = 0; i < after.size(); ++i) column.set(i, after[i]);
  while (column.size() > after.size()) column.pop_back();
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_EQ(column[i], after[i]) << i;
}

TEST(Instants, HoldAscendingInstantsOverHours) {
  std::mt19937_64 random(3);
  std::vector<std::int64_t> expected{-20'000'000'000};
  while (expected.size() < 2'000)
    expected.push_back(expected.back() + static_cast<std::int64_t>(random() % 9'000'000'000));
  Instants instants;
  for (const std::int64_t instant : expected) instants.push_back(instant);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(instants[i], expected[i]) << i;
  EXPECT_EQ(instants.front(), expected.front());
  EXPECT_EQ(instants.back(), expected.back());
}

}  // namespace
}  // namespace corun
