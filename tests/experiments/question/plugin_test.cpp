#include "experiments/question/plugin.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/experiments/question/experiment_text.h"

namespace corun {
namespace {

std::string refusal(const std::string& path, ErrorKind kind = ErrorKind::kInput) {
  try {
    load_policy_plugin(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.message();
  }
  return "accepted";
}

TEST(Plugin, IsAPolicyOfAnExperimentLikeAnyOther) {
  const std::string text = fmt::format(
      "name: x\ndevice: h200\nclients: [{{ name: a, synthetic: {{ game: rdr2 }} }}]\npolicies:\n  - plugin: {{ file: "
      "{} }}\n",
      CORUN_STRANGER);
  const Experiment experiment = testing::read_text(text);
  EXPECT_EQ(experiment.scenarios[0].policies[0].label, "stranger");
  EXPECT_EQ(experiment.scenarios[0].policies[0].plugin, CORUN_STRANGER);
}

TEST(Plugin, AnotherInterfaceIsRefusedNamingBothNumbers) {
  const std::string message = refusal(CORUN_OLD_STRANGER, ErrorKind::kUnsupported);
  EXPECT_NE(message.find("interface 999"), std::string::npos) << message;
  EXPECT_NE(message.find(fmt::format("has {}", PolicyPlugin::kAbi)), std::string::npos) << message;
}

TEST(Plugin, ALibraryThatIsNoPolicyIsRefused) {
  EXPECT_NE(refusal(CORUN_NO_POLICY).find("corun_policy_plugin"), std::string::npos);
}

TEST(Plugin, OnlyARegularFileNamedByAPathIsLoaded) {
  const testing::TemporaryFolder folder;
  EXPECT_NE(refusal("libm.so.6").find("no `/`"), std::string::npos);
  EXPECT_EQ(refusal(folder / "none.so"), "there is no such plug-in");
  EXPECT_EQ(refusal(folder.path().string()), "this is not a regular file");
  EXPECT_NE(refusal(testing::write_text(folder, "text.so", "no library")).find("cannot be loaded"), std::string::npos);
}

TEST(Plugin, OneThatEverybodyCanWriteIsRefused) {
  const testing::TemporaryFolder folder;
  const std::string copy = folder / "open.so";
  std::filesystem::copy_file(CORUN_STRANGER, copy);
  std::filesystem::permissions(copy, std::filesystem::perms::others_write, std::filesystem::perm_options::add);
  EXPECT_EQ(refusal(copy), "everybody can write this plug-in");
}

}  // namespace
}  // namespace corun
