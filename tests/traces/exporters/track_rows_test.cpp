#include "traces/exporters/track_rows.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace corun {
namespace {

using Spans = std::vector<std::pair<std::int64_t, std::int64_t>>;

std::vector<Spans> rows(const Spans& spans, Nesting nesting) {
  std::vector<Slice> slices;
  for (const auto& [begin, end] : spans) slices.push_back({.begin_ns = begin, .end_ns = end});
  std::vector<Spans> result;
  for (const auto& row : rows_of(slices, nesting)) {
    result.emplace_back();
    for (const Slice& slice : row) result.back().emplace_back(slice.begin_ns, slice.end_ns);
  }
  return result;
}

TEST(TrackRows, WhatFollowsStaysOnOneRow) {
  EXPECT_EQ(rows({{5, 9}, {0, 5}}, Nesting::kNone), (std::vector<Spans>{{{0, 5}, {5, 9}}}));
  EXPECT_EQ(rows({{0, 5}, {0, 0}}, Nesting::kNone), (std::vector<Spans>{{{0, 0}, {0, 5}}}));
  EXPECT_TRUE(rows({}, Nesting::kNone).empty());
}

TEST(TrackRows, WhatOverlapsGoesToASpareRow) {
  EXPECT_EQ(rows({{0, 5}, {3, 9}, {6, 7}}, Nesting::kNone), (std::vector<Spans>{{{0, 5}, {6, 7}}, {{3, 9}}}));
  EXPECT_EQ(rows({{0, 5}, {3, 9}}, Nesting::kAllowed), (std::vector<Spans>{{{0, 5}}, {{3, 9}}}));
}

TEST(TrackRows, WhatLiesInsideNestsWhereThatIsAllowed) {
  EXPECT_EQ(rows({{2, 4}, {0, 5}}, Nesting::kAllowed), (std::vector<Spans>{{{0, 5}, {2, 4}}}));
  EXPECT_EQ(rows({{2, 4}, {0, 5}}, Nesting::kNone), (std::vector<Spans>{{{0, 5}}, {{2, 4}}}));
}

RC_GTEST_PROP(TrackRows, NothingIsLostAndNothingOverlapsWithoutNesting, ()) {
  Spans spans;
  for (const auto& [begin, length] : *rc::gen::arbitrary<std::vector<std::pair<std::uint8_t, std::uint8_t>>>()) {
    spans.emplace_back(begin, begin + length % 32);
  }
  for (Nesting nesting : {Nesting::kNone, Nesting::kAllowed}) {
    Spans all;
    for (const Spans& row : rows(spans, nesting)) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        for (std::size_t j = i + 1; j < row.size(); ++j) {
          const bool is_after = row[j].first >= row[i].second;
          const bool is_inside = row[j].first >= row[i].first && row[j].second <= row[i].second;
          RC_ASSERT(is_after || (nesting == Nesting::kAllowed && is_inside));
        }
      }
      all.insert(all.end(), row.begin(), row.end());
    }
    std::sort(all.begin(), all.end());
    std::sort(spans.begin(), spans.end());
    RC_ASSERT(all == spans);
  }
}

}  // namespace
}  // namespace corun
