#include "experiments/question/expectation.h"

#include <gtest/gtest.h>

namespace corun {
namespace {

std::optional<Expectation> read(const std::string& text) {
  Diagnostics diagnostics;
  ScalarReader reader(diagnostics);
  Node node;
  node.text = text;
  node.where = {"e.yaml", 1, 1, 1};
  const auto expectation = read_expectation(node, reader);
  EXPECT_EQ(expectation.has_value(), diagnostics.empty()) << text;
  return expectation;
}

TEST(Expectation, ComparesInTheUnitOfTheMetric) {
  const auto latency = read("pilotfish.game.frame_time_p99 <= 16.7ms");
  ASSERT_TRUE(latency);
  EXPECT_EQ(latency->left.text(), "pilotfish.game.frame_time_p99_ms");
  EXPECT_TRUE(latency->holds(16.7, 0));
  EXPECT_FALSE(latency->holds(16.71, 0));
  EXPECT_TRUE(read("a.b.fps_mean > 55fps")->holds(55.1, 0));
  EXPECT_FALSE(read("a.b.fps_mean > 55fps")->holds(55, 0));
  EXPECT_TRUE(read("a.device.harvest_ratio >= 70%")->holds(0.7, 0));
  EXPECT_TRUE(read("a.b.throughput < 120/min")->holds(1.9, 0));
  EXPECT_TRUE(read("a.device.power_w <= 650W")->holds(649, 0));
  EXPECT_TRUE(read("a.b.energy_per_job_j < 3.5J")->holds(3.4, 0));
}

TEST(Expectation, ComparesWithAnotherFigure) {
  const auto relative = read("a.train.throughput >= 1.5 * b.train.throughput");
  ASSERT_TRUE(relative && relative->right);
  EXPECT_TRUE(relative->holds(3, 2));
  EXPECT_FALSE(relative->holds(2.9, 2));
}

TEST(Expectation, RefusesWhatItCannotMean) {
  for (const char* text : {"game.fps_mean >= 55fps", "a.b.fps_mean == 55fps", "a.b.fps_mean >= 55",
                           "a.device.power_w <= 650", "a.b.frame_time_p99 <= 16.7", "a.b.speed >= 1",
                           "a.b.harvest_ratio >= lots", "a.b.throughput >= x * c.d.throughput", ""})
    EXPECT_FALSE(read(text)) << text;
}

}  // namespace
}  // namespace corun
