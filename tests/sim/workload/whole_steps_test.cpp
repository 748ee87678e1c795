#include "sim/workload/capture/steps/whole_steps.h"

#include <gtest/gtest.h>

#include <string>

namespace corun {
namespace {

/// One letter a launch, 10 us apart; `|` waits, `-` lets 100 us pass.
HostLog log_of(const std::string& text) {
  HostLog log;
  std::int64_t now_us = 0;
  for (const char c : text) {
    now_us += c == '-' ? 100 : 10;
    if (c == '-') continue;
    log.symbols.push_back(static_cast<std::uint32_t>(c));
    log.starts_ns.push_back(now_us * 1'000);
    log.whats.push_back(c == '|' ? HostLog::What::kWait : HostLog::What::kLaunch);
  }
  log.names = log.variants = log.symbols;
  log.streams.assign(log.size(), 0);
  log.symbol_count = log.name_count = log.variant_count = 128;
  log.is_update.assign(log.symbol_count, false);
  return log;
}

Positions begins_of(const std::string& text, const Positions& begins) {
  return whole_steps(log_of(text), begins).begins;
}

TEST(WholeSteps, OfAStretchWithoutItsBoundaryAreSeveral) {
  EXPECT_EQ(begins_of("abcd|abcd|abcd|abcd|abcd|abcd|", {0, 5, 15, 20, 25}), (Positions{0, 5, 10, 15, 20, 25}));
}

TEST(WholeSteps, TakeInOtherWorkBetweenThem) {
  EXPECT_EQ(begins_of("abcd|abcd|xyz|abcd|abcd|abcd|", {0, 5, 10, 14, 19, 24}), (Positions{0, 5, 14, 19, 24}));
}

TEST(WholeSteps, LeaveOutAStartThatIsUnlikeThem) {
  EXPECT_EQ(begins_of("axyzuvw|abcd|abcd|abcd|abcd|", {0, 8, 13, 18, 23}), (Positions{8, 13, 18, 23}));
}

TEST(WholeSteps, BeforeTheFirstBoundaryAreAddedButNotAnIncompleteOne) {
  EXPECT_EQ(begins_of("abcd|abcd|abcd|abcd|", {5, 10, 15}), (Positions{0, 5, 10, 15}));
  EXPECT_EQ(begins_of("cd|abcd|abcd|abcd|", {3, 8, 13}), (Positions{3, 8, 13}));
}

TEST(WholeSteps, EndWhereTheLastOneDoes) {
  const WholeSteps cut = whole_steps(log_of("abcd|abcd|abcd|ab"), {0, 5, 10, 15});
  EXPECT_EQ(cut.begins.size(), 3u);
  EXPECT_EQ(cut.end, 15u);
  const WholeSteps followed = whole_steps(log_of("abcd|abcd|abcd|---uvwxyzuvwxyz"), {0, 5, 10});
  EXPECT_EQ(followed.begins.size(), 3u);
  EXPECT_EQ(followed.end, 15u);
}

TEST(WholeSteps, OfStartUpAreSlow) {
  const HostLog log = log_of("ab--------|ab|ab|ab|ab|");
  Positions begins{0, 3, 6, 9, 12};
  EXPECT_EQ(drop_slow_starts(log, begins), 1u);
  EXPECT_EQ(begins, (Positions{3, 6, 9, 12}));
}

}  // namespace
}  // namespace corun
