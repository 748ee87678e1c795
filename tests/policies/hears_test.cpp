// Policies hear what the first lines of their files say.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "policies/builtin.h"

namespace corun {
namespace {

struct Header {
  std::string policy, hears;
};

/// Of every file of policies/ that makes a policy which shares a device.
std::vector<Header> headers() {
  std::vector<Header> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(CORUN_SOURCE_DIR "/policies")) {
    if (entry.path().extension() != ".cpp") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::smatch said;
    if (!std::regex_search(text, said, std::regex("/// Hears: +([^.]*)[.]"))) continue;
    const std::regex maker(R"(\nPolicyDescriptor (\w+)_policy\(\) \{)");
    for (std::sregex_iterator made(text.begin(), text.end(), maker), end; made != end; ++made)
      all.push_back({(*made)[1], said[1]});
  }
  return all;
}

TEST(PolicyHeaders, SayWhatThePolicyHears) {
  PolicyRegistry registry;
  add_builtin_policies(registry);
  std::size_t checked = 0;
  for (const Header& header : headers()) {
    const PolicyDescriptor* policy = registry.find(header.policy);
    ASSERT_NE(policy, nullptr) << header.policy;
    if (policy->create == nullptr) continue;
    SCOPED_TRACE(header.policy + " hears " + header.hears);
    const Hears hears = policy->create(policy->defaults())->hears();
    const auto says = [&](std::string_view word) {
      return header.hears == "everything" || header.hears.find(word) != std::string::npos;
    };
    EXPECT_EQ(hears.submitted, says("submissions"));
    EXPECT_EQ(hears.launched, says("launches"));
    EXPECT_EQ(hears.completed, says("completions"));
    EXPECT_EQ(hears.frames, says("frames"));
    ++checked;
  }
  EXPECT_GE(checked, 28U);
}

}  // namespace
}  // namespace corun
