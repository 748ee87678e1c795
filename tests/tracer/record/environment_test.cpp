#include "tests/tracer/record/programs.h"

namespace corun {
namespace {

namespace fs = std::filesystem;
using testing::Recorder;
using testing::Running;

// A simtrace in a folder with libraries that are there, but hold nothing: the environment is what is looked at.
class Placing : public Recorder {
 protected:
  explicit Placing(const std::string& folder = "tool") : tool_(folder_ / folder) {
    fs::create_directories(tool_);
    std::error_code failed;
    fs::create_hard_link(simtrace_path(), tool_ + "/simtrace", failed);
    if (failed) fs::copy_file(simtrace_path(), tool_ + "/simtrace");
  }

  void put(const std::string& name) const {
    fs::create_directories(fs::path(tool_ + "/" + name).parent_path());
    std::ofstream(tool_ + "/" + name) << "";
  }
  void put_all() const {
    put("libcorun_cuda.so");
    put("libcorun_gl.so");
    put("share/vulkan/implicit_layer.d/VkLayer_corun_trace.json");
  }

  /// What the program sees of its environment, "NAME=value\n" each.
  std::string environment(const std::vector<std::string>& options, std::map<std::string, std::string> more = {}) {
    more["ASAN_OPTIONS"] = "verify_asan_link_order=0";  // LD_PRELOAD is for the program, and simtrace sees it too
    Running running(joined(joined({tool_ + "/simtrace", "record", "-o", "x.corun"}, options), {"--", "/usr/bin/env"}),
                    folder_.path(), more);
    code_ = running.wait();
    err_ = running.err();
    return "\n" + running.out();
  }

  static bool has(const std::string& environment, const std::string& line) {
    return environment.find("\n" + line + "\n") != std::string::npos;
  }

  const std::string tool_;
  int code_ = 0;
  std::string err_;
};

TEST_F(Placing, TheLibrariesBesideTheExecutableArePutInPlace) {
  put_all();
  const std::string seen = environment({});
  EXPECT_TRUE(has(seen, "CUDA_INJECTION64_PATH=" + tool_ + "/libcorun_cuda.so")) << seen;
  EXPECT_TRUE(has(seen, "LD_PRELOAD=" + tool_ + "/libcorun_gl.so")) << seen;
  EXPECT_TRUE(has(seen, "XDG_DATA_DIRS=" + tool_ + "/share:/usr/local/share:/usr/share")) << seen;
  EXPECT_TRUE(has(seen, "CORUN_TRACE_VULKAN=1")) << seen;
  EXPECT_TRUE(has(seen, "CORUN_TRACE_DIR=" + (folder_ / "x.corun.parts"))) << seen;
  EXPECT_NE(seen.find("\nCORUN_TRACE_ONLY_PID="), std::string::npos) << seen;
}

TEST_F(Placing, TheLibrariesOfAnInstallationAreFoundToo) {
  put("../lib/corun/libcorun_cuda.so");
  EXPECT_TRUE(has(environment({}), "CUDA_INJECTION64_PATH=" + (folder_ / "lib/corun/libcorun_cuda.so")));
}

TEST_F(Placing, WhatStoodThereBeforeIsKept) {
  put_all();
  const std::string seen =
      environment({}, {{"LD_PRELOAD", "libm.so.6"}, {"XDG_DATA_DIRS", "/opt/share"}, {"OWN", "1"}});
  EXPECT_TRUE(has(seen, "LD_PRELOAD=libm.so.6:" + tool_ + "/libcorun_gl.so")) << seen;
  EXPECT_TRUE(has(seen, "XDG_DATA_DIRS=" + tool_ + "/share:/opt/share")) << seen;
  EXPECT_TRUE(has(seen, "OWN=1"));
}

TEST_F(Placing, WhatIsSwitchedOffLeavesNoTrace) {
  put_all();
  const std::string seen = environment({"--cuda", "off", "--gl", "off", "--vulkan", "off", "--follow-children"});
  EXPECT_EQ(seen.find("CUDA_INJECTION64_PATH"), std::string::npos);
  EXPECT_EQ(seen.find("LD_PRELOAD"), std::string::npos);
  EXPECT_EQ(seen.find("XDG_DATA_DIRS"), std::string::npos);
  EXPECT_EQ(seen.find("CORUN_TRACE_VULKAN=1"), std::string::npos);
  EXPECT_EQ(seen.find("CORUN_TRACE_ONLY_PID"), std::string::npos);
}

TEST_F(Placing, AMissingLibraryIsANoteOrAnErrorWhereItWasInsistedOn) {
  environment({});
  EXPECT_EQ(code_, 0);
  EXPECT_NE(err_.find("cuda is left out"), std::string::npos) << err_;
  for (const char* option : {"--cuda", "--gl", "--vulkan"}) {
    EXPECT_EQ(environment({option, "on"}), "\n") << "the program does not run";
    EXPECT_EQ(code_, 3) << option;
    EXPECT_FALSE(exists("x.corun.parts"));
  }
}

TEST_F(Placing, AnotherProfilerKeepsItsPlace) {
  put_all();
  const std::string seen = environment({}, {{"CUDA_INJECTION64_PATH", "/opt/other.so"}});
  EXPECT_TRUE(has(seen, "CUDA_INJECTION64_PATH=/opt/other.so")) << seen;
  EXPECT_NE(err_.find("another profiler"), std::string::npos) << err_;
  environment({"--cuda", "on"}, {{"CUDA_INJECTION64_PATH", "/opt/other.so"}});
  EXPECT_EQ(code_, 3);
}

class PlacingWithABlank : public Placing {
 protected:
  PlacingWithABlank() : Placing("my tools") {}
};

TEST_F(PlacingWithABlank, APathThatAListCannotHoldIsLeftOut) {
  put_all();
  const std::string seen = environment({});
  EXPECT_EQ(seen.find("LD_PRELOAD"), std::string::npos) << seen;
  EXPECT_TRUE(has(seen, "CUDA_INJECTION64_PATH=" + tool_ + "/libcorun_cuda.so")) << seen;
  EXPECT_NE(err_.find("blank"), std::string::npos) << err_;
}

TEST_F(Placing, OptionsReachTheLibraries) {
  put_all();
  const std::string seen = environment(
      {"--max-size", "5MB", "--redact", "names", "--frames", "3..9", "--detail", "kernels", "--delay", "1ms"},
      {{"CORUN_TRACE_UNTIL_NS", "17"}});
  EXPECT_TRUE(has(seen, "CORUN_TRACE_MAX_BYTES=5000000")) << seen;
  EXPECT_TRUE(has(seen, "CORUN_TRACE_REDACT=names"));
  EXPECT_TRUE(has(seen, "CORUN_TRACE_FRAMES=3..9"));
  EXPECT_TRUE(has(seen, "CORUN_TRACE_CUDA=kernels"));
  EXPECT_NE(seen.find("\nCORUN_TRACE_FROM_NS="), std::string::npos);
  EXPECT_EQ(seen.find("CORUN_TRACE_UNTIL_NS"), std::string::npos) << "what an outer recording left is gone";
}

TEST_F(Placing, TheDoctorSaysWhatIsMissingAndFailsOnlyWhereNothingCanBeCaptured) {
  Running empty({tool_ + "/simtrace", "doctor"}, folder_.path());
  EXPECT_EQ(empty.wait(), 3);
  EXPECT_NE(empty.out().find("missing  for CUDA"), std::string::npos) << empty.out();
  EXPECT_NE(empty.out().find("can be captured here: nothing"), std::string::npos) << empty.out();
  Running json({tool_ + "/simtrace", "doctor", "--json"}, folder_.path(),
               {{"LD_PRELOAD", "libm.so.6"}, {"ASAN_OPTIONS", "verify_asan_link_order=0"}});
  EXPECT_EQ(json.wait(), 3);
  EXPECT_TRUE(json.out().starts_with("{\"schema_version\":1,\"cuda\":false,\"gl\":false,\"vulkan\":false,\"facts\":["));
  EXPECT_NE(json.out().find("libm.so.6"), std::string::npos) << "a preload that is in use is told";
}

}  // namespace
}  // namespace corun
