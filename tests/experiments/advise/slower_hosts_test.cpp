#include "experiments/advise/figures/slower_hosts.h"

#include <gtest/gtest.h>

namespace corun {
namespace {

/// A program that has half of its rate alone, and for which the device works so much of its time alone.
ClientMeans means_of(double busy_alone, double rate = 50) {
  ClientMeans means;
  means.add("solo_throughput_per_s", 100);
  means.add("throughput_per_s", rate);
  means.add("gpu_busy_ratio", busy_alone * rate / 100);
  means.end_run();
  return means;
}

SimulatedRuns runs(double busy_of_a, double busy_of_b) {
  SimulatedRuns its;
  its.clients = {{"a", means_of(busy_of_a)}, {"b", means_of(busy_of_b)}};
  return its;
}

std::vector<AskedProgram> programs(std::map<std::string, std::string> keys_of_a = {}) {
  return {{"a", "a.corun", std::move(keys_of_a)}, {"b", "b.corun"}};
}

TEST(SlowerHosts, AreThoseThatWaitForTheDevice) {
  const auto slower = with_slower_hosts(programs(), runs(0.9, 0.3));
  ASSERT_TRUE(slower);
  EXPECT_EQ(slower->at(0).keys.at("host_speed"), "0.6");
  EXPECT_TRUE(slower->at(1).keys.empty()) << "its host is what it waits for";
  EXPECT_FALSE(with_slower_hosts(programs(), runs(0.4, 0.3)));
  EXPECT_FALSE(with_slower_hosts({{"c", "c.corun"}}, runs(0.9, 0.9))) << "it does not run here";
}

TEST(SlowerHosts, AreNotThoseOfWhichSomethingIsStated) {
  for (const char* key : {"host_speed", "host_gaps", "server"})
    EXPECT_FALSE(with_slower_hosts(programs({{key, "x"}}), runs(0.9, 0.3))) << key;
  SimulatedRuns unknown = runs(0.9, 0.3);
  unknown.unknown_rates = {"a"};
  EXPECT_FALSE(with_slower_hosts(programs(), unknown)) << "its range is that of its rate";
  SimulatedRuns game = runs(0.9, 0.3);
  game.clients["a"].add("fps_mean", 60);
  EXPECT_FALSE(with_slower_hosts(programs(), game));
}

TEST(SlowerHosts, GiveABoundInPartsOfTheRateAsAlone) {
  SimulatedBounds simulated = {runs(0.9, 0.3)};
  SimulatedRuns slower = runs(0.9, 0.3);
  ClientMeans with_slow_host;
  with_slow_host.add("solo_throughput_per_s", 80);  // of a program that runs with such a host alone, too
  with_slow_host.add("throughput_per_s", 40);
  with_slow_host.end_run();
  slower.clients["a"] = with_slow_host;
  add_bound(simulated, {slower});
  ASSERT_EQ(simulated.size(), 2U);
  EXPECT_DOUBLE_EQ(simulated[0].clients.at("a").kept(), 0.5);
  EXPECT_DOUBLE_EQ(simulated[1].clients.at("a").kept(), 0.4) << "of 100 alone, not of 80";
}

}  // namespace
}  // namespace corun
