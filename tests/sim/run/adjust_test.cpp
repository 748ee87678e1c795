#include <gtest/gtest.h>

#include "sim/policy/adjustable.h"
#include "tests/shapes/run_policy.h"
#include "tests/support/replay.h"

namespace corun {
namespace {

using namespace std::chrono_literals;
using testing::Facts;

/// Opens every gate and writes down adjustments.
class Listener : public OpenGates {
 public:
  void on_adjusted(const GpuView& view, const std::string& parameter, const ParameterValue& value) override {
    heard.push_back(fmt::format("{}={} at {} ms", parameter, format_parameter(value),
                                std::chrono::duration_cast<std::chrono::milliseconds>(view.now - kRunStart).count()));
  }
  std::vector<std::string> heard;
};

/// Kernels of 10 ms, one after another.
ClientSpec client(const std::string& name, std::uint64_t repeat) {
  Workload workload;
  workload.names = {"op"};
  testing::append_job(workload, {10ms}, 0ns, 0ns, true);
  workload.recorded_span = 10ms;
  workload.check();
  ClientSpec spec;
  spec.name = name;
  spec.workload = std::make_shared<Workload>(std::move(workload));
  spec.repeat = repeat;
  return spec;
}

RunInput input_of(std::vector<ClientSpec> clients, Policy& policy, std::vector<Adjustment> adjustments) {
  RunInput input{DeviceSpec{}, std::move(clients), &policy, "policy", 10s, Duration{0}, 1};
  input.adjustments = std::move(adjustments);
  return input;
}

TEST(Adjustment, IsHeardAtItsTimeInOrder) {
  Listener policy;
  Facts facts;
  simulate(input_of({client("a", 100)}, policy, {{20ms, "x", 2.5}, {20ms, "y", true}, {35ms, "x", 3.0}}), facts);
  EXPECT_EQ(policy.heard, (std::vector<std::string>{"x=2.5 at 20 ms", "y=true at 20 ms", "x=3 at 35 ms"}));
}

TEST(Adjustment, AfterTheLastClientHasFinishedDoesNotLengthenTheRun) {
  Listener policy;
  Facts facts;
  const RunResult result = simulate(input_of({client("a", 10), client("b", 10)}, policy, {{5s, "x", 1.0}}), facts);
  EXPECT_LT(result.end, kRunStart + 300ms);
  EXPECT_TRUE(policy.heard.empty());
}

/// Of the second of two clients under nvshare: when its first kernel begins.
Duration second_begins(std::vector<Adjustment> adjustments) {
  const auto policy = testing::make_policy("nvshare", {{"quantum", "2s"}});
  Facts facts;
  simulate(input_of({client("a", 0), client("b", 0)}, *policy, std::move(adjustments)), facts);
  const auto first = std::ranges::find_if(facts.ops, [](const OpFact& op) { return op.client.value == 1; });
  return first->begin - kRunStart;
}

TEST(Adjustment, OfNvsharesQuantumOrLockLetsTheSecondClientRunSooner) {
  EXPECT_NEAR(to_seconds(second_begins({})), 2.0, 0.1);
  EXPECT_NEAR(to_seconds(second_begins({{500ms, "quantum", Duration(700ms)}})), 1.2, 0.1);
  EXPECT_NEAR(to_seconds(second_begins({{500ms, "anti_thrash", false}})), 0.5, 0.1);
}

std::string refusal(std::string_view assignment) {
  PolicyRegistry registry;
  add_builtin_policies(registry);
  const PolicyDescriptor& nvshare = *registry.find("nvshare");
  try {
    AdjustableParameters(nvshare, nvshare.defaults()).read(assignment);
  } catch (const Error& error) {
    return fmt::format("{} / {}", error.what(), error.help());
  }
  return "";
}

TEST(AdjustableParameters, MistakesSayWhatMayChangeAndToWhat) {
  EXPECT_EQ(refusal("quantum=5s"), "");
  EXPECT_EQ(refusal("quantum"), "found 'quantum', expected a parameter and its value / for example quantum=5s");
  EXPECT_EQ(refusal("quantm=5s"),
            "policy 'nvshare' has no parameter 'quantm' that may change in a run; there are quantum, anti_thrash / did "
            "you mean 'quantum'?");
  EXPECT_EQ(refusal("reserve_mib=0").substr(0, 51), "policy 'nvshare' has no parameter 'reserve_mib' tha");
  EXPECT_EQ(
      refusal("quantum=5"),
      "parameter 'quantum' is '5', expected a duration in ns, us, ms, s, min or h from 1ms to 86400s / a duration "
      "needs a unit: 5s?");
  EXPECT_EQ(refusal("anti_thrash=off"), "parameter 'anti_thrash' is 'off', expected true or false / ");
}

TEST(AdjustableParameters, ShowTheirPresentValues) {
  PolicyRegistry registry;
  add_builtin_policies(registry);
  const PolicyDescriptor& nvshare = *registry.find("nvshare");
  AdjustableParameters adjustable(nvshare, nvshare.defaults());
  EXPECT_EQ(adjustable.texts(), (std::vector<std::string>{"quantum=30s", "anti_thrash=true"}));
  adjustable.set(adjustable.read("quantum=2s"));
  EXPECT_EQ(adjustable.texts().front(), "quantum=2s");
}

}  // namespace
}  // namespace corun
