#include "traces/text/decimal.h"

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

TEST(Decimal, TakesExponentsFromMinus400To40) {
  EXPECT_EQ(parse_decimal("0e40", 0), 0);
  EXPECT_FALSE(parse_decimal("0e41", 0));
  EXPECT_EQ(parse_decimal("1e-400", 3), 0);
  EXPECT_FALSE(parse_decimal("1e-401", 3));
  EXPECT_EQ(parse_decimal("1e+3", 0), 1000);
  EXPECT_EQ(parse_decimal("4E18", 0), 4'000'000'000'000'000'000);
  EXPECT_FALSE(parse_decimal("5e18", 0));
}

TEST(Decimal, HoldsWhatFitsIn62Bits) {
  EXPECT_EQ(parse_decimal("4611686018427387899", 0), 4'611'686'018'427'387'899);
  EXPECT_FALSE(parse_decimal("4611686018427387905", 0));
  EXPECT_EQ(parse_decimal("4611686018427387", 3), 4'611'686'018'427'387'000);
  EXPECT_FALSE(parse_decimal("4611686018427388", 3));
  EXPECT_EQ(parse_decimal("9.9", 0), 10);
  EXPECT_EQ(parse_decimal("9.49", 0), 9) << "the digit behind the last one decides";
}

TEST(Decimal, ExponentsOfFractionsKeepSeventeenDigits) {
  EXPECT_EQ(parse_decimal("1.2345678901234567e3", 6), 1'234'567'890);
  EXPECT_EQ(parse_decimal("0.000012345e5", 6), 1'234'500);
  EXPECT_EQ(parse_decimal("15e-1", 0), 2) << "half away from zero";
  EXPECT_EQ(parse_decimal("-15e-1", 0), -2);
}

TEST(Decimal, TellsFractionsFromWholeNumbers) {
  for (const char* text : {"1.5", "1e3", "1E3", "1.0"}) EXPECT_TRUE(is_fractional(text)) << text;
  EXPECT_FALSE(is_fractional("15"));
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
