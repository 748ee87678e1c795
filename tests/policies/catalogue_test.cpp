#include "policies/catalogue.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "policies/builtin.h"

namespace corun {
namespace {

TEST(Catalogue, PoliciesReadmeEqualsTheDescriptors) {
  PolicyRegistry registry;
  add_builtin_policies(registry);
  const std::string page = policy_catalogue_markdown(registry);
  const std::string path = CORUN_SOURCE_DIR "/policies/README.md";
  if (std::getenv("CORUN_UPDATE") != nullptr) std::ofstream(path, std::ios::binary) << page;
  std::ifstream file(path, std::ios::binary);
  const std::string found{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(found, page) << "policies/README.md is generated: run this test once with CORUN_UPDATE=1 to rewrite it";
}

TEST(Catalogue, EveryPolicySaysEverythingAboutItself) {
  PolicyRegistry registry;
  add_builtin_policies(registry);
  EXPECT_GE(registry.all().size(), 34U);
  for (const PolicyDescriptor& policy : registry.all()) {
    EXPECT_FALSE(policy.summary.empty()) << policy.name;
    EXPECT_FALSE(policy.source.empty()) << policy.name;
    EXPECT_NE(policy.create == nullptr, policy.create_placement == nullptr) << policy.name << " does one thing";
    for (const ParameterDescriptor& parameter : policy.parameters) {
      EXPECT_FALSE(parameter.meaning.empty()) << policy.name << '.' << parameter.name;
      EXPECT_FALSE(parameter.source.empty()) << policy.name << '.' << parameter.name;
      EXPECT_EQ(parameter.choices.empty(), parameter.type != ParameterType::kChoice)
          << policy.name << '.' << parameter.name;
      const bool has_range = parameter.type != ParameterType::kChoice && parameter.type != ParameterType::kBoolean;
      EXPECT_EQ(parameter.minimum < parameter.maximum, has_range) << policy.name << '.' << parameter.name;
    }
  }
}

TEST(Catalogue, EveryDefaultIsInItsOwnRange) {
  PolicyRegistry registry;
  add_builtin_policies(registry);
  for (const PolicyDescriptor& policy : registry.all())
    for (const ParameterDescriptor& parameter : policy.parameters) {
      if (parameter.type == ParameterType::kByClient) continue;
      const std::string text = format_parameter(parameter.default_value);
      EXPECT_EQ(parse_parameter(parameter, text, {}), parameter.default_value) << policy.name << '.' << parameter.name;
    }
}

}  // namespace
}  // namespace corun
