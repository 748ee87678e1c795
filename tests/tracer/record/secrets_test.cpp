#include "tests/tracer/record/programs.h"

namespace corun {
namespace {

namespace fs = std::filesystem;
using testing::content_of;
using testing::Recorder;
using testing::Running;

constexpr const char* kCanaries[] = {"CANARY_ARGUMENT", "CANARY_VARIABLE", "CANARY_FOLDER", "CANARY_FILE"};

/// Every word of a timeline besides its numbers.
std::string words_of(const Timeline& timeline) {
  const Provenance& provenance = timeline.provenance();
  std::string words = provenance.source_format + provenance.source_version + provenance.source_file + provenance.clock;
  for (const std::string& text : timeline.strings()) words += text + "\n";
  for (const std::string& text : provenance.notes) words += text + "\n";
  for (const std::string& text : provenance.skipped_examples) words += text + "\n";
  for (const auto& [process, program] : provenance.programs) words += program + "\n";
  for (const SwapchainRecord& swapchain : timeline.swapchains()) words += swapchain.address + "\n";
  for (const CapturedDevice& device : provenance.devices) words += device.name + "\n";
  return words;
}

TEST_F(Recorder, ArgumentsVariablesAndPathsAreInNoByteOfWhatIsWritten) {
  const fs::path place = folder_ / "CANARY_FOLDER";
  fs::create_directories(place / "parts");
  const std::vector<std::string> words = {stand_in_path(),     "open=cuda", "kernels=3", "print=CANARY_ARGUMENT",
                                          "touch=CANARY_FILE", "open=gl",   "frames=2",  "exit=0"};
  const std::map<std::string, std::string> variables = {{"SECRET", "CANARY_VARIABLE"}};

  std::map<std::string, std::string> inside = variables;
  inside["CORUN_TRACE_DIR"] = (place / "parts").string();
  EXPECT_EQ(Running(words, place, inside).wait(), 0);
  EXPECT_EQ(Running(joined({simtrace_path(), "record", "-o", "x.corun", "--"}, words), place, variables).wait(), 0);

  std::string written = words_of(read_native(content_of(place / "x.corun"), "x.corun"));
  ASSERT_NE(written.find("stand_in"), std::string::npos) << "the program's name is what is recorded of it";
  written += content_of(place / "x.corun");
  const auto parts = files("CANARY_FOLDER/parts");
  ASSERT_FALSE(parts.empty());
  for (const std::string& part : parts) written += content_of(part);
  for (const char* canary : kCanaries) EXPECT_EQ(written.find(canary), std::string::npos) << canary;
}

}  // namespace
}  // namespace corun
