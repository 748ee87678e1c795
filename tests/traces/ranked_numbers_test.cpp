#include "traces/base/ranked_numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace corun {
namespace {

void expect_ranked_as_sorted(std::vector<std::int64_t> values) {
  RankedNumbers ranked(1000);
  for (const std::int64_t value : values) ranked.push_back(value);
  std::ranges::sort(values);
  ASSERT_EQ(ranked.size(), values.size());
  const std::size_t last = values.size() - 1;
  for (const std::size_t rank :
       {std::size_t{0}, last / 3, last / 2, last - last / 100, last - std::min<std::size_t>(last, 1), last})
    EXPECT_EQ(ranked.ranked(rank), values[rank]) << rank << " of " << values.size();
}

std::vector<std::int64_t> drawn(std::size_t count, std::int64_t most) {
  std::mt19937_64 random(count);
  std::vector<std::int64_t> values(count);
  for (std::int64_t& value : values)
    value = random() % 1000 == 0 ? 5'000'000'000 + static_cast<std::int64_t>(random() % 3)
                                 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  return values;
}

TEST(RankedNumbers, AreRankedAsSortingRanksThem) {
  expect_ranked_as_sorted({7});
  expect_ranked_as_sorted(drawn(1000, 50));
}

TEST(RankedNumbers, AreRankedAsSortingRanksThemWhereEqualOnesAreCounted) {
  for (const std::int64_t most : {1L, 3L, 4'000'000'000L}) {
    expect_ranked_as_sorted(drawn(1001, most));
    expect_ranked_as_sorted(drawn(7500, most));
  }
}

}  // namespace
}  // namespace corun
