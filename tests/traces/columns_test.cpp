#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "traces/base/column.h"
#include "traces/base/ranked_numbers.h"

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

TEST(ShortNumbers, AreRankedAsSortingRanksThem) {
  std::vector<std::int64_t> numbers = mixed_numbers(1'000);
  ShortNumbers column;
  for (const std::int64_t number : numbers) column.push_back(number);
  std::ranges::sort(numbers);
  for (std::size_t rank = 0; rank < numbers.size(); ++rank) EXPECT_EQ(column.ranked(rank), numbers[rank]) << rank;
}

}  // namespace
}  // namespace corun
