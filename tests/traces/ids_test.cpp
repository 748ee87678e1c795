#include "traces/base/ids.h"

#include <gtest/gtest.h>

#include <type_traits>
#include <unordered_set>

namespace corun {
namespace {

TEST(Ids, OneKindDoesNotPassForAnother) {
  static_assert(!std::is_convertible_v<ClientId, StreamId>);
  static_assert(!std::is_constructible_v<ClientId, StreamId>);
  static_assert(!std::is_convertible_v<std::uint32_t, ClientId>);
}

TEST(Ids, NoneIsNoIndexAndDiffersFromAllIndices) {
  EXPECT_TRUE(OpId::none().is_none());
  EXPECT_FALSE(OpId{0}.is_none());
  EXPECT_NE(OpId::none(), OpId{UINT32_MAX - 1});
}

TEST(Ids, OrderAndHashFollowTheNumber) {
  EXPECT_LT(JobId{3}, JobId{4});
  const std::unordered_set<JobId> set{JobId{3}, JobId{4}, JobId{3}};
  EXPECT_EQ(set.size(), 2u);
}

}  // namespace
}  // namespace corun
