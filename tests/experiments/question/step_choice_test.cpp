#include <gtest/gtest.h>

#include "tests/experiments/question/experiment_text.h"

namespace corun {
namespace {

using testing::complaints;
using testing::read_text;

std::string with_step(const std::string& step) {
  return fmt::format(
      "name: e\ndevice: h200\npolicies: [passthrough]\nclients:\n  - {{ name: a, trace: t.corun, step: {} }}\n", step);
}

StepChoice step_of(const std::string& step) {
  return read_text(with_step(step)).scenarios.front().clients.front().options.step;
}

TEST(StepKey, IsAWordOrSaysWhatBeginsAStep) {
  EXPECT_EQ(step_of("whole"), (StepChoice{StepChoice::By::kWhole, "", 0}));
  EXPECT_EQ(step_of("{ range: train step }"), (StepChoice{StepChoice::By::kRange, "train step", 0}));
  EXPECT_EQ(step_of("{ kernel: adam }"), (StepChoice{StepChoice::By::kKernel, "adam", 0}));
  EXPECT_EQ(step_of("{ launches: 120 }"), (StepChoice{StepChoice::By::kLaunches, "", 120}));
}

TEST(StepKey, IsRefusedWhereItSaysNothingOrTwoThings) {
  for (const char* step : {"all", "{ launches: 0 }", "{ range: a, launches: 3 }", "{ name: a }", "[1]", "{}"})
    EXPECT_FALSE(complaints(with_step(step)).empty()) << step;
}

}  // namespace
}  // namespace corun
