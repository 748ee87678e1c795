#include "experiments/bands/basis.h"

#include <gtest/gtest.h>

#include "tests/experiments/question/experiment_text.h"

namespace corun {
namespace {

const ComparedMechanisms kCompared{
    "mechanism,device,studies\nturns,h200,a b\nmps,h200,a\nmps,h100,c\nnvshare,h200,d\ngames,h200,e\n"
    "turns with servers,h200,f\n"};

MechanismOn of(const std::string& policy, const std::string& device, const std::string& keys_of_a = "") {
  const Experiment experiment =
      testing::read_text(fmt::format("name: x\ndevice: {}\nhorizon: 1s\npolicies: [{}]\nclients:\n"
                                     "  - {{ name: a, trace: a.corun{} }}\n  - {{ name: b, trace: b.corun }}\n",
                                     device, policy, keys_of_a));
  return mechanism_on(experiment.scenarios[0], experiment.scenarios[0].policies[0]);
}

std::string label(const std::string& policy, const std::string& device, bool has_games = false) {
  return std::string(to_string(basis_of(kCompared, of(policy, device), has_games)));
}

TEST(Basis, IsComparedOnTheGpuOfAStudy) {
  EXPECT_EQ(label("passthrough", "h200"), "compared");
  EXPECT_EQ(label("passthrough", "h100"), "calibrated") << "measured laws, and turns were compared on an H200 alone";
  EXPECT_EQ(label("passthrough", "{ model: h100, sharing: concurrent }"), "compared");
  EXPECT_EQ(label("nvshare", "h200"), "compared");
}

TEST(Basis, SaysWhereTheLawsOfAnotherDeviceComeFrom) {
  EXPECT_EQ(label("passthrough", "l4"), "data sheet");
  EXPECT_EQ(label("passthrough", "{ model: h200, switch_cost: 1ms }"), "stated");
  EXPECT_EQ(label("passthrough", "{ model: h200, power_limit: 500W, context_create: 5s }"), "compared")
      << "settings of a site are no laws of the part";
}

TEST(Basis, IsNoneOfMechanismsThatNothingCompared) {
  for (const char* device : {"h200", "a100_80gb"})
    EXPECT_EQ(label("mig: { instances: { a: 3, b: 3 } }", device), "never compared") << device;
  EXPECT_EQ(label("pilotfish", "h200"), "never compared");
  EXPECT_EQ(label("nvshare", "{ model: h200, sharing: concurrent }"), "never compared") << "compared in turns";
  EXPECT_EQ(label("passthrough", "{ model: h200, sharing: exclusive }"), "never compared");
}

TEST(Basis, WithGamesAndServersIsOneOfItsOwn) {
  EXPECT_EQ(label("passthrough", "h200", true), "compared");
  EXPECT_EQ(label("passthrough", "{ model: h200, sharing: concurrent }", true), "never compared");
  EXPECT_EQ(label("nvshare", "h200", true), "compared");
  const std::string server = ", server: { requests: { rate: 1/s, prompt: 8, output: 8 }, max_batch: 4, kv_tokens: 99 }";
  const std::string mps = "{ model: h200, sharing: concurrent }";
  EXPECT_EQ(basis_of(kCompared, of("passthrough", "h200", server), false), Basis::kCompared);
  EXPECT_EQ(basis_of(kCompared, of("passthrough", mps, server), false), Basis::kNeverCompared);
}

TEST(Basis, IsNothingWhereNothingIsSharedOrItWasMeasured) {
  const Experiment pair = testing::read_text(
      "name: x\ndevice: h200\nhorizon: 1s\npolicies: [passthrough]\nclients:\n"
      "  - { name: a, trace: a.corun }\n  - { name: b, trace: b.corun }\n");
  Scenario scenario = pair.scenarios[0];
  scenario.backend = kSurrogates;
  EXPECT_EQ(basis_of(kCompared, mechanism_on(scenario, scenario.policies[0]), false), Basis::kNothingShared);
  scenario = pair.scenarios[0];
  scenario.clients.pop_back();
  EXPECT_EQ(basis_of(kCompared, mechanism_on(scenario, scenario.policies[0]), false), Basis::kNothingShared);
}

TEST(Basis, LegendsExplainTheLabelsThatOccur) {
  EXPECT_EQ(legend_of({Basis::kNothingShared, Basis::kNeverCompared, Basis::kCompared}, 9),
            "basis    compared: predictions were compared with this GPU\n"
            "         never compared: with no GPU, or not with games or servers as here\n");
  EXPECT_EQ(legend_of({Basis::kNothingShared}, 9), "");
}

TEST(Basis, TheBuiltInTableNamesTheStudies) {
  const ComparedMechanisms& compared = ComparedMechanisms::built_in();
  EXPECT_NE(compared.studies("mps", "h200").find("mps-mixes"), std::string_view::npos);
  EXPECT_EQ(compared.studies("mps", "l4"), "");
  for (const char* mechanism : {"mig", "gpreempt", "green_contexts"})
    EXPECT_FALSE(compared.is_compared_anywhere(mechanism)) << mechanism;
  for (const DeviceLaws laws : {DeviceLaws::kMeasured, DeviceLaws::kStated, DeviceLaws::kDataSheet})
    EXPECT_EQ(device_laws(to_string(laws)), laws) << "as results store it";
}

}  // namespace
}  // namespace corun
