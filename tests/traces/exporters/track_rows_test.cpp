#include "traces/exporters/lanes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace corun {
namespace {

using Spans = std::vector<std::pair<std::int64_t, std::int64_t>>;

std::vector<Spans> lanes(const Spans& spans, Nesting nesting) {
  std::vector<Slice> slices;
  for (const auto& [begin, end] : spans) slices.push_back({.begin_ns = begin, .end_ns = end});
  std::vector<Spans> result;
  for (const auto& lane : lanes_of(slices, nesting)) {
    result.emplace_back();
    for (const Slice& slice : lane) result.back().emplace_back(slice.begin_ns, slice.end_ns);
  }
  return result;
}

TEST(Lanes, WhatFollowsStaysOnOneLane) {
  EXPECT_EQ(lanes({{5, 9}, {0, 5}}, Nesting::kNone), (std::vector<Spans>{{{0, 5}, {5, 9}}}));
  EXPECT_EQ(lanes({{0, 5}, {0, 0}}, Nesting::kNone), (std::vector<Spans>{{{0, 0}, {0, 5}}}));
  EXPECT_TRUE(lanes({}, Nesting::kNone).empty());
}

TEST(Lanes, WhatOverlapsGoesToASpareLane) {
  EXPECT_EQ(lanes({{0, 5}, {3, 9}, {6, 7}}, Nesting::kNone), (std::vector<Spans>{{{0, 5}, {6, 7}}, {{3, 9}}}));
  EXPECT_EQ(lanes({{0, 5}, {3, 9}}, Nesting::kAllowed), (std::vector<Spans>{{{0, 5}}, {{3, 9}}}));
}

TEST(Lanes, WhatLiesInsideNestsWhereThatIsAllowed) {
  EXPECT_EQ(lanes({{2, 4}, {0, 5}}, Nesting::kAllowed), (std::vector<Spans>{{{0, 5}, {2, 4}}}));
  EXPECT_EQ(lanes({{2, 4}, {0, 5}}, Nesting::kNone), (std::vector<Spans>{{{0, 5}}, {{2, 4}}}));
}

RC_GTEST_PROP(Lanes, NothingIsLostAndNothingOverlapsWithoutNesting, ()) {
  Spans spans;
  for (const auto& [begin, length] : *rc::gen::arbitrary<std::vector<std::pair<std::uint8_t, std::uint8_t>>>()) {
    spans.emplace_back(begin, begin + length % 32);
  }
  for (Nesting nesting : {Nesting::kNone, Nesting::kAllowed}) {
    Spans all;
    for (const Spans& lane : lanes(spans, nesting)) {
      for (std::size_t i = 0; i < lane.size(); ++i) {
        for (std::size_t j = i + 1; j < lane.size(); ++j) {
          const bool is_after = lane[j].first >= lane[i].second;
          const bool is_inside = lane[j].first >= lane[i].first && lane[j].second <= lane[i].second;
          RC_ASSERT(is_after || (nesting == Nesting::kAllowed && is_inside));
        }
      }
      all.insert(all.end(), lane.begin(), lane.end());
    }
    std::sort(all.begin(), all.end());
    std::sort(spans.begin(), spans.end());
    RC_ASSERT(all == spans);
  }
}

}  // namespace
}  // namespace corun
