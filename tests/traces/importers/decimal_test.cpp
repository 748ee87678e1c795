#include "traces/importers/decimal.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace corun {
namespace {

TEST(Decimal, KeepsNanosecondsThatADoubleWouldRound) {
  EXPECT_EQ(parse_decimal("1711964646123456.789", kNsPerUsDigits), 1711964646123456789);
  EXPECT_EQ(parse_decimal("4368164989032.924", kNsPerUsDigits), 4368164989032924);
  EXPECT_EQ(parse_decimal("0.34900300000000", kNsPerSDigits), 349003000);
}

TEST(Decimal, ReadsWholeNumbersSignsQuotesAndExponents) {
  EXPECT_EQ(parse_decimal("12", 3), 12000);
  EXPECT_EQ(parse_decimal("-15.4471", kNsPerMsDigits), -15447100);
  EXPECT_EQ(parse_decimal("+.5", 3), 500);
  EXPECT_EQ(parse_decimal(" \"7.25\" ", 3), 7250);
  EXPECT_EQ(parse_decimal("1.5e3", 3), 1500000);
  EXPECT_EQ(parse_decimal("2.5e-05", kNsPerMsDigits), 25);
  EXPECT_EQ(parse_decimal("0e10", 3), 0);
}

TEST(Decimal, RoundsDigitsBelowTheScaleHalfAwayFromZero) {
  EXPECT_EQ(parse_decimal("0.0004999", 3), 0);
  EXPECT_EQ(parse_decimal("0.0005", 3), 1);
  EXPECT_EQ(parse_decimal("-0.0005", 3), -1);
  EXPECT_EQ(parse_decimal("13.119999885559082", 3), 13120);
  EXPECT_EQ(parse_decimal("149e-1", 0), 15);
  EXPECT_EQ(parse_decimal("144e-1", 0), 14);
}

TEST(Decimal, RefusesWhatIsNoNumberOrDoesNotFit) {
  for (const char* text : {"", "NA", "nan", "-", ".", "1.2.3", "12ms", "1e", "inf", "1e300", "99999999999999999999",
                           "9223372036854775807"}) {
    EXPECT_FALSE(parse_decimal(text, 3)) << text;
  }
}

TEST(Integer, AcceptsWholeNumbersOnly) {
  EXPECT_EQ(parse_integer("\"25738\""), 25738);
  EXPECT_EQ(parse_integer("-1 "), -1);
  EXPECT_FALSE(parse_integer("1.5"));
  EXPECT_FALSE(parse_integer("stream 7"));
}

RC_GTEST_PROP(Decimal, PrintsAndReadsBackTheSameNanoseconds, ()) {
  const auto ns = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 61);
  RC_ASSERT(parse_decimal(fmt::format("{}.{:03}", ns / 1000, ns % 1000), kNsPerUsDigits) == ns);
  RC_ASSERT(parse_decimal(fmt::format("-{}.{:06}", ns / 1000000, ns % 1000000), kNsPerMsDigits) == -ns);
}

}  // namespace
}  // namespace corun
