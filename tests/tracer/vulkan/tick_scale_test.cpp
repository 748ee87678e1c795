#include "tracer/vulkan/tick_scale.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace corun::vulkan {
namespace {

TEST(TickScale, CountsFromTheFirstValueInNanoseconds) {
  TickScale scale;
  scale.start(52.083, 1'000'000);
  EXPECT_EQ(scale.to_ns(1'000'000, 64), 0);
  EXPECT_EQ(scale.to_ns(1'001'000, 64), 52'083);
  EXPECT_EQ(scale.to_ns(999'000, 64), -52'083);
}

TEST(TickScale, IgnoresBitsThatAreNotValid) {
  TickScale scale;
  scale.start(1, 5);
  EXPECT_EQ(scale.to_ns((std::uint64_t{0xABC} << 36) | 7, 36), 2);
}

RC_GTEST_PROP(TickScale, FollowsACounterAroundAnyNumberOfWraps, ()) {
  const auto bits = *rc::gen::inRange<std::uint32_t>(32, 65);
  const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  const auto first = *rc::gen::arbitrary<std::uint64_t>();
  TickScale scale;
  scale.start(1, first & mask);
  std::int64_t passed = 0;
  for (int i = 0; i < 20; ++i) {
    const std::int64_t half = std::int64_t{1} << 30;
    passed += *rc::gen::inRange<std::int64_t>(0, half);
    scale.follow((first + static_cast<std::uint64_t>(passed)) & mask, bits);
    const std::int64_t back = *rc::gen::inRange<std::int64_t>(-half, half);
    RC_ASSERT(scale.to_ns((first + static_cast<std::uint64_t>(passed + back)) & mask, bits) == passed + back);
  }
}

}  // namespace
}  // namespace corun::vulkan
