#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "experiments/run/clients/client_builder.h"
#include "experiments/run/plan.h"
#include "experiments/run/policy_warnings.h"
#include "tests/experiments/question/experiment_text.h"

namespace corun {
namespace {

/// Of one policy and two clients whose kernels have these keys.
std::vector<std::string> warnings(const std::string& policy, const std::string& kernels) {
  const Experiment experiment = testing::read_text(
      fmt::format("name: x\ndevice: h200\nhorizon: 1s\ndefaults: {{ synthetic: {{ kernels: {{ {} }} }} }}\n"
                  "clients: [{{ name: a }}, {{ name: b }}]\npolicies: [{}]\n",
                  kernels, policy));
  const FileHashes hashes;
  ClientBuilder builder(hashes, true);
  const Scenario& scenario = experiment.scenarios[0];
  return policy_warnings(scenario, scenario.policies[0], builder.clients(scenario, 1));
}

TEST(SmCapWarnings, SayHowFarARateMayBeWhereKernelsMayBeBoundByMemory) {
  const std::string policy = "mps_percentage: { percentages: { a: 50, b: 100 } }";
  const auto found = warnings(policy, "duration: 1ms, blocks: 100000");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("with 50 % of the SMs the kernels of a take 1.00 to 2.00 times as long"), std::string::npos)
      << found[0];
}

TEST(SmCapWarnings, AreSilentWhereACapChangesNothing) {
  EXPECT_TRUE(warnings("mps_percentage: { percentages: { a: 50 } }", "duration: 1ms, blocks: 8").empty());
  EXPECT_TRUE(warnings("passthrough", "duration: 1ms, blocks: 100000").empty());
}

/// Of two programs that were captured with fewer SMs, too.
std::vector<std::string> warnings_of_captures(const std::string& policy, const std::string& a, const std::string& b) {
  std::string clients;
  for (const std::string& name : {a, b}) {
    const std::string path = std::filesystem::absolute("studies/sm-caps/captures/" + name);
    clients += fmt::format(
        "  - {{ name: {0}, trace: {1}.sms100.corun, fewer_sms: [{1}.sms25.corun], accept: [span] }}\n", name, path);
  }
  const Experiment experiment = testing::read_text(
      fmt::format("name: x\ndevice: h100\nhorizon: 1s\nclients:\n{}policies: [{}]\n", clients, policy));
  const FileHashes hashes = make_plan(experiment).hashes;
  ClientBuilder builder(hashes, true);
  const Scenario& scenario = experiment.scenarios[0];
  return policy_warnings(scenario, scenario.policies[0], builder.clients(scenario, 1));
}

TEST(StreamWarnings, NameTheProgramWhoseKernelsMemoryBinds) {
  const auto found = warnings_of_captures("mps_percentage: { default_percentage: 50 }", "triton", "two_graphs");
  ASSERT_EQ(found.size(), 1U) << "measured: others keep 0.78 of their rate next to one, 0.93 next to the other";
  EXPECT_NE(found[0].find("of the kernel time of triton is in kernels that half of the SMs do not slow down"),
            std::string::npos)
      << found[0];
  EXPECT_TRUE(warnings_of_captures("passthrough", "triton", "two_graphs").empty()) << "no cap";
  EXPECT_TRUE(warnings_of_captures("mps_percentage: { default_percentage: 50 }", "timm", "two_graphs").empty());
}

TEST(PolicyWarnings, NameLimitsThatTheLimiterCannotHold) {
  const std::string policy = "gaiagpu: { limits: { a: 0.1 } }";
  const auto found = warnings(policy, "duration: 1ms, blocks: 132");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].starts_with("warning: gaiagpu: its limit of 10 % does not hold a, which alone would use "))
      << found[0];
  EXPECT_EQ(warnings(policy, "duration: 1ms, blocks: 1").size(), 1U) << "kernels of one block never make a debt";
  EXPECT_TRUE(warnings(policy, "duration: 20us, blocks: 512, count: 50").empty());
  EXPECT_TRUE(warnings("gaiagpu: { limits: { a: 0.1 }, mode: elastic }", "duration: 1ms, blocks: 132").empty());
}

TEST(PolicyWarnings, NameTurnsThatLaunchesInFlightOutlast) {
  const std::string policy = "xsched_utilization: { utilizations: { a: 0.75, b: 0.25 } }";
  EXPECT_EQ(warnings(policy, "duration: 40us, count: 160").size(), 1U);
  EXPECT_TRUE(warnings(policy, "duration: 2us, count: 160").empty());
}

TEST(PolicyWarnings, NameSlicesThatNoInstanceHas) {
  const auto found = warnings("mig", "duration: 1ms");
  EXPECT_EQ(std::ranges::count_if(found, [](const std::string& text) { return text.find("5 of 7") < text.size(); }), 1);
}

}  // namespace
}  // namespace corun
