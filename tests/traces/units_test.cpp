#include "traces/base/units.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <string>

namespace corun {
namespace {

constexpr std::int64_t kMs = 1'000'000;

std::int64_t ns(std::string_view text) {
  const auto duration = parse_duration(text);
  return duration ? duration->count() : INT64_MIN;
}

TEST(Units, DurationIsReadAsExactNanoseconds) {
  EXPECT_EQ(ns("300us"), 300'000);
  EXPECT_EQ(ns("16.6ms"), 16'600'000);
  EXPECT_EQ(ns("16.666667ms"), 16'666'667);
  EXPECT_EQ(ns("0.1s"), 100 * kMs);
  EXPECT_EQ(ns("1.5min"), 90'000 * kMs);
  EXPECT_EQ(ns("3h"), 10'800'000 * kMs);
  EXPECT_EQ(ns("250ns"), 250);
  EXPECT_EQ(ns("-1ms"), -kMs);
  EXPECT_EQ(ns("7 \u00b5s"), 7'000);
}

TEST(Units, DurationWithoutAUnitIsRefused) {
  for (const char* text :
       {"", "100", "0", "1.5", "ms", "-", ".", "1m", "1ms2", " 1ms", "1  ms", "1ms ", "1e3us", "--1s"})
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
}

TEST(Units, DurationFinerThanANanosecondOrTooLongIsRefused) {
  EXPECT_EQ(parse_duration("0.5ns"), std::nullopt);
  EXPECT_EQ(parse_duration("1.0000005ms"), std::nullopt);
  EXPECT_EQ(parse_duration("9223372037s"), std::nullopt);
  EXPECT_EQ(parse_duration("99999999999999999999999999999999h"), std::nullopt);
  EXPECT_EQ(ns("9223372036854775807ns"), INT64_MAX);
}

TEST(Units, BytesDistinguishDecimalAndBinaryUnits) {
  EXPECT_EQ(parse_bytes("15.3GB"), 15'300'000'000U);
  EXPECT_EQ(parse_bytes("256MiB"), 268'435'456U);
  EXPECT_EQ(parse_bytes("512B"), 512U);
  EXPECT_EQ(parse_bytes("1024"), std::nullopt);
  EXPECT_EQ(parse_bytes("-1GB"), std::nullopt);
  EXPECT_EQ(parse_bytes("1G"), std::nullopt);
}

TEST(Units, RateIsPerSecond) {
  EXPECT_DOUBLE_EQ(*parse_rate("484/s"), 484.0);
  EXPECT_DOUBLE_EQ(*parse_rate("60fps"), 60.0);
  EXPECT_DOUBLE_EQ(*parse_rate("6/min"), 0.1);
  EXPECT_DOUBLE_EQ(*parse_rate("1.2k/s"), 1200.0);
  EXPECT_EQ(parse_rate("60"), std::nullopt);
}

TEST(Units, RealTakesPercentAndExponentsButNothingOdd) {
  EXPECT_DOUBLE_EQ(*parse_real("0.4"), 0.4);
  EXPECT_DOUBLE_EQ(*parse_real("40%"), 0.4);
  EXPECT_DOUBLE_EQ(*parse_real("1e-3"), 1e-3);
  for (const char* text : {"", "nan", "inf", "0x10", "1,5", "%", "1%%", " 1"})
    EXPECT_EQ(parse_real(text), std::nullopt) << text;
}

TEST(Units, DurationIsWrittenInTheUnitThatPeopleWouldUse) {
  EXPECT_EQ(format_duration(Duration{300'000}), "300us");
  EXPECT_EQ(format_duration(Duration{16'667'000}), "16.667ms");
  EXPECT_EQ(format_duration(Duration{1'500 * kMs}), "1.5s");
  EXPECT_EQ(format_duration(Duration{7}), "7ns");
  EXPECT_EQ(format_duration(Duration{-1'000'001}), "-1.000001ms");
  EXPECT_EQ(format_duration(Duration::zero()), "0s");
}

RC_GTEST_PROP(Units, EveryWrittenDurationReadsBackAsItself, (std::int64_t value)) {
  RC_PRE(value != INT64_MIN);
  RC_ASSERT(ns(format_duration(Duration{value})) == value);
}

TEST(Units, NearestNameForgivesSlipsAndSwapsOnly) {
  const std::array<std::string, 3> names{"passthrough", "pilotfish", "nvshare"};
  EXPECT_EQ(nearest_name("pilotfihs", names), "pilotfish");
  EXPECT_EQ(nearest_name("nvshar", names), "nvshare");
  EXPECT_EQ(nearest_name("orion", names), "");
  EXPECT_EQ(edit_distance("gaurd", "guard"), 1U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("same", "same"), 0U);
}

}  // namespace
}  // namespace corun
