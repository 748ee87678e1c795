#include "traces/base/packed_column.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>
// rapidcheck's own header must come after GoogleTest's.
#include <rapidcheck/gtest.h>

namespace corun {
namespace {

/// What a stretch of a column looks like.
enum class Look { kAny, kConstant, kSmall, kSmallWithFew, kRising, kExtremes };

std::int64_t next_number(Look look, std::int64_t before, std::mt19937_64& random) {
  switch (look) {
    case Look::kAny:
      return static_cast<std::int64_t>(random());
    case Look::kConstant:
      return before;
    case Look::kSmall:
      return static_cast<std::int64_t>(random() % 1000) - 500;
    case Look::kSmallWithFew:
      return random() % 90 == 0 ? static_cast<std::int64_t>(random()) : static_cast<std::int64_t>(random() % 7);
    case Look::kRising:
      return before > INT64_MAX / 2 ? 0 : before + static_cast<std::int64_t>(random() % 10'000);
    case Look::kExtremes:
      return std::array{INT64_MIN, INT64_MAX, std::int64_t{-1}, std::int64_t{0}}[random() % 4];
  }
  return 0;
}

std::vector<std::int64_t> any_numbers() {
  const auto stretches = *rc::gen::container<std::vector<std::pair<int, std::uint16_t>>>(
      rc::gen::pair(rc::gen::inRange(0, 6), rc::gen::inRange<std::uint16_t>(0, 700)));
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint32_t>());
  std::vector<std::int64_t> numbers;
  for (const auto& [look, count] : stretches)
    for (int i = 0; i < count; ++i)
      numbers.push_back(next_number(static_cast<Look>(look), numbers.empty() ? 0 : numbers.back(), random));
  return numbers;
}

template <class Packed>
Packed packed(const std::vector<std::int64_t>& numbers) {
  Packed column;
  for (const std::int64_t number : numbers) column.push_back(number);
  return column;
}

template <class Packed>
void check_same(const Packed& column, const std::vector<std::int64_t>& numbers) {
  RC_ASSERT(column.size() == numbers.size());
  for (std::size_t i = numbers.size(); i-- > 0;) RC_ASSERT(column[i] == numbers[i]);
  typename Packed::Reader reader(column);
  for (const std::int64_t number : numbers) RC_ASSERT(reader.next() == number);
}

template <class Packed>
void check_all(const std::vector<std::int64_t>& numbers) {
  Packed column = packed<Packed>(numbers);
  check_same(column, numbers);
  typename Packed::Drain drain(column);
  for (const std::int64_t number : numbers) RC_ASSERT(drain.next() == number);
  check_same(column, numbers);  // a copy was drained
}

RC_GTEST_PROP(PackedColumn, ReturnsAnyNumbersInAnyOrder, ()) {
  const std::vector<std::int64_t> numbers = any_numbers();
  check_all<Durations>(numbers);
  check_all<Instants>(numbers);
}

RC_GTEST_PROP(PackedColumn, CanBeSetTakenBackCopiedAndContinued, ()) {
  std::vector<std::int64_t> numbers = any_numbers();
  Durations column = packed<Durations>(numbers);
  const std::vector<std::int64_t> before = numbers;
  const Durations copy = column;
  const auto shorter = *rc::gen::inRange<std::size_t>(0, numbers.size() + 1);
  for (; numbers.size() > shorter; numbers.pop_back()) column.pop_back();
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint32_t>());
  for (int i = 0; i < 20 && !numbers.empty(); ++i) {
    const std::size_t at = random() % numbers.size();
    numbers[at] = next_number(static_cast<Look>(random() % 6), 3, random);
    column.set(at, numbers[at]);
  }
  for (const std::int64_t number : any_numbers()) {
    column.push_back(number);
    numbers.push_back(number);
  }
  check_same(column, numbers);
  check_same(copy, before);
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

TEST(PackedColumn, HoldsIndicesAndTheLargestOfThem) {
  Indices column;
  for (std::uint32_t i = 0; i < 2'000; ++i) column.push_back(i % 100 == 0 ? UINT32_MAX : i);
  for (std::uint32_t i = 0; i < 2'000; ++i) ASSERT_EQ(column[i], i % 100 == 0 ? UINT32_MAX : i);
}

double bytes_a_number(const std::vector<std::int64_t>& numbers) {
  return static_cast<double>(packed<Durations>(numbers).bytes()) / static_cast<double>(numbers.size());
}

TEST(PackedColumn, TakesAsManyBitsAsMostNumbersNeed) {
  constexpr std::size_t kCount = 500'000;
  std::mt19937_64 random(1);
  std::vector<std::int64_t> constant(kCount, 1'234'567'890'123), ten_bits, few_beyond;
  for (std::size_t i = 0; i < kCount; ++i)
    ten_bits.push_back(5'000'000'000 + static_cast<std::int64_t>(random() % 1000));
  few_beyond = ten_bits;
  for (std::size_t i = 100; i < kCount; i += 256) few_beyond[i] = INT64_MAX;
  EXPECT_LT(bytes_a_number(constant), 0.3);
  EXPECT_LT(bytes_a_number(ten_bits), 1.65);
  EXPECT_LT(bytes_a_number(few_beyond), bytes_a_number(ten_bits) + 0.1);
}

TEST(PackedColumn, OfNumbersThatRiseSteadilyTakesTheirDifferenceToALine) {
  Indices column;
  for (std::uint32_t i = 0; i < 500'000; ++i) column.push_back(i);
  EXPECT_LT(column.bytes(), 500'000 / 3);
  Instants instants;
  for (std::int64_t i = 0; i < 500'000; ++i) instants.push_back(i * 6'000 + i * i % 4'000);
  EXPECT_LT(static_cast<double>(instants.bytes()), 500'000 * 1.9);
}

}  // namespace
}  // namespace corun
