#include "experiments/bands/host_in_company.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/experiments/question/experiment_text.h"

namespace corun {
namespace {

Scenario pair(const std::string& keys_of_a = "", const std::string& device = "h200") {
  return testing::read_text(fmt::format("name: x\ndevice: {}\nhorizon: 1s\npolicies: [passthrough, nvshare]\nclients:\n"
                                        "  - {{ name: a, trace: a.corun, solo_rate: 9/s{} }}\n"
                                        "  - {{ name: b, trace: b.corun, solo_rate: 9/s }}\n",
                                        device, keys_of_a))
      .scenarios[0];
}

/// What the host of `a` becomes, whose rate is half of that alone, and for which the device works so much of the time.
double speed_of_a(const Scenario& scenario, double busy, std::size_t policy = 0, bool has_frames = false) {
  const auto mean = [&](const std::string& client, std::string_view metric) -> std::optional<double> {
    if (client != "a") return std::nullopt;
    if (metric == "fps_mean") return has_frames ? std::optional(5.0) : std::nullopt;
    return metric == "throughput_per_s" ? 5 : metric == "solo_throughput_per_s" ? 10 : busy;
  };
  const auto slower = with_slower_hosts(scenario, scenario.policies[policy], mean);
  if (!slower) return 1;
  EXPECT_EQ(slower->clients[1].host_speed, 1) << "nothing is known of b";
  EXPECT_EQ(slower->policies.size(), 1U);
  return slower->clients[0].host_speed;
}

TEST(HostInCompany, MayBeSlowerWhereItWaitsForTheDevice) {
  EXPECT_EQ(speed_of_a(pair(), 0.45), kSlowerHost);
  EXPECT_EQ(speed_of_a(pair("", "{ model: h200, sharing: concurrent }"), 0.45), kSlowerHost);
  EXPECT_EQ(speed_of_a(pair(), 0.30), 1) << "0.6 of the time alone";
}

TEST(HostInCompany, StaysWhereSomethingElseIsKnownOrNothing) {
  EXPECT_EQ(speed_of_a(pair(", host_speed: 0.9"), 0.45), 1);
  EXPECT_EQ(speed_of_a(pair(", replay: open"), 0.45), 1);
  EXPECT_EQ(speed_of_a(pair(), 0.45, 0, true), 1) << "a game";
  EXPECT_EQ(speed_of_a(pair(), 0.45, 1), 1) << "nvshare";
  Scenario range = pair();
  range.bounds = "x";
  EXPECT_EQ(speed_of_a(range, 0.45), 1) << "its range is that of rates alone";
}

}  // namespace
}  // namespace corun
