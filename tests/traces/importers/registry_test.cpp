#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "tests/traces/importers/import_text.h"

namespace corun {
namespace {

class RegistryTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "corun-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(std::string_view name, std::string_view content) {
    const std::filesystem::path path = folder_ / name;
    std::ofstream{path} << content;
    return path.string();
  }
  std::string load_error(const std::string& path, std::string_view format = {}) {
    try {
      load_timeline(path, format);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  std::filesystem::path folder_;
};

TEST_F(RegistryTest, ListsImportersUnderDistinctNamesNativeFirst) {
  std::set<std::string_view> names;
  for (const auto& candidate : importers()) {
    EXPECT_TRUE(names.insert(candidate->name()).second) << candidate->name();
    EXPECT_FALSE(candidate->description().empty());
  }
  EXPECT_EQ(importers().front()->name(), "corun");
}

TEST_F(RegistryTest, ChoosesTheImporterByContentNotByFileName) {
  const std::string path = write("trace.json", "Name,Profile,Memory_footprint,SM_usage,Duration\nConv,1,0,98,100\n");
  const Timeline timeline = load_timeline(path);
  EXPECT_EQ(timeline.provenance().source_format, "orion");
  EXPECT_EQ(timeline.provenance().source_file, "trace.json");
  EXPECT_FALSE(timeline.provenance().content_hash.empty());
}

TEST_F(RegistryTest, AForeignFileInWhichNothingWasUnderstoodIsAnError) {
  for (const auto& [format, text] : std::vector<std::pair<std::string, std::string>>{
           {"kineto", "[[[[[[[["},
           {"kineto", R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k"}]})"},
           {"presentmon", "Application,ProcessID,TimeInSeconds,MsBetweenPresents\ra,1,0.1,16\ra,1,0.2,16\r"},
           {"orion", "Name,Profile,Memory_footprint,SM_usage,Duration\n"}}) {
    const std::string message = load_error(write("nothing", text), format);
    EXPECT_NE(message, "") << text;
  }
  const std::string message =
      load_error(write("nothing", R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k"}]})"), "kineto");
  EXPECT_NE(message.find("nothing in it was understood as kineto: 1 x "), std::string::npos) << message;
}

TEST_F(RegistryTest, SaysWhichFileOfAProfilerToBringInPlaceOfOneThatIsNotRead) {
  EXPECT_NE(load_error(write("vm.xplane.pb", "\x0a\x05plane")).find("expected the JSON of the same profile"),
            std::string::npos);
  EXPECT_NE(load_error(write("x.ncu-rep", "NVR")).find("Nsight Compute"), std::string::npos);
  EXPECT_NE(load_error(write("a.json", R"({"rocprofiler-sdk-tool": []})")).find("rocprofv3"), std::string::npos);
  EXPECT_NE(load_error(write("b.json", R"({"schema": "1.0.2-chakra.0.0.4"})")).find("execution trace"),
            std::string::npos);
  EXPECT_NE(load_error(write("c.tar", std::string(257, ' ') + "ustar")).find("an archive"), std::string::npos);
  EXPECT_NE(load_error(write("x.nsys-rep", "NVTR")).find("expected its export to SQLite"), std::string::npos);
}

TEST_F(RegistryTest, ListsTheKnownFormatsWhereNoneFits) {
  const std::string message = load_error(write("x.txt", "hello"));
  EXPECT_NE(message.find("x.txt: the content is of no known trace format, expected one of corun, kineto"),
            std::string::npos)
      << message;
}

TEST_F(RegistryTest, UsesTheNamedFormatAndRefusesAnUnknownName) {
  const std::string path = write("x.txt", "hello");
  EXPECT_NE(load_error(path, "mangohud").find("no line of column names"), std::string::npos);
  EXPECT_NE(load_error(path, "auto").find("no known trace format"), std::string::npos);
  EXPECT_NE(load_error(path, "perfetto").find("no trace format is called 'perfetto', expected auto or one of"),
            std::string::npos);
}

TEST_F(RegistryTest, ACaptureOfWhichNothingWasUnderstoodIsAnError) {
  const std::string header = "Application,ProcessID,SwapChainAddress,TimeInSeconds,MsBetweenPresents\n";
  EXPECT_NE(load_error(write("cr.csv", header + "a,1,0x1,0.1,16\ra,1,0x1,0.2,16\r")).find("nothing in it was"),
            std::string::npos);
  EXPECT_NE(load_error(write("comma.csv", header + "My Game, Deluxe.exe,1,0x1,0.1,16\n"))
                .find("as presentmon: 1 x row with more cells than the header"),
            std::string::npos);
}

TEST_F(RegistryTest, NoImporterIsSureOfAnEmptyFile) { EXPECT_EQ(sniffed(""), ""); }

}  // namespace
}  // namespace corun
