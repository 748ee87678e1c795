#include "tracer/guest/settings.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace corun::guest {
namespace {

// The environment of one test.
class Environment {
 public:
  void set(const char* name, const std::string& value) {
    setenv(name, value.c_str(), 1);
    names_.push_back(name);
  }
  ~Environment() {
    for (const std::string& name : names_) unsetenv(name.c_str());
  }

 private:
  std::vector<std::string> names_;
};

TEST(Settings, WithoutAFolderNothingIsRecorded) { EXPECT_STREQ(read_settings().directory, ""); }

TEST(Settings, ARelativeFolderIsNoFolder) {
  Environment environment;
  environment.set("CORUN_TRACE_DIR", "here");
  EXPECT_STREQ(read_settings().directory, "");
}

TEST(Settings, OnlyTheProcessAskedForRecords) {
  Environment environment;
  environment.set("CORUN_TRACE_DIR", "/somewhere");
  environment.set("CORUN_TRACE_ONLY_PID", std::to_string(getpid()));
  EXPECT_STREQ(read_settings().directory, "/somewhere");
  environment.set("CORUN_TRACE_ONLY_PID", std::to_string(getppid()));
  EXPECT_STREQ(read_settings().directory, "");
}

TEST(Settings, EveryVariableIsRead) {
  Environment environment;
  environment.set("CORUN_TRACE_FROM_NS", "5");
  environment.set("CORUN_TRACE_UNTIL_NS", "70");
  environment.set("CORUN_TRACE_FRAMES", "10..25");
  environment.set("CORUN_TRACE_MAX_BYTES", "4096");
  environment.set("CORUN_TRACE_REDACT", "names");
  environment.set("CORUN_TRACE_CUDA", "kernels");
  environment.set("CORUN_TRACE_GL", "off");
  environment.set("CORUN_TRACE_CUPTI", "/lib/libcupti.so.13");
  const Settings settings = read_settings();
  EXPECT_EQ(settings.from_ns, 5);
  EXPECT_EQ(settings.until_ns, 70);
  EXPECT_EQ(settings.first_frame, 10u);
  EXPECT_EQ(settings.last_frame, 25u);
  EXPECT_EQ(settings.max_bytes, 4096u);
  EXPECT_TRUE(settings.redact_names);
  EXPECT_TRUE(settings.cuda);
  EXPECT_EQ(settings.cuda_detail, part::Detail::kKernels);
  EXPECT_FALSE(settings.gl);
  EXPECT_TRUE(settings.vulkan);
  EXPECT_STREQ(settings.cupti_path, "/lib/libcupti.so.13");
}

TEST(Settings, WhatIsNotUnderstoodIsTheDefault) {
  Environment environment;
  for (const char* name : {"CORUN_TRACE_FROM_NS", "CORUN_TRACE_UNTIL_NS", "CORUN_TRACE_FRAMES", "CORUN_TRACE_MAX_BYTES",
                           "CORUN_TRACE_CUDA"}) {
    environment.set(name, "-3 apples");
  }
  const Settings settings = read_settings();
  EXPECT_EQ(settings.from_ns, 0);
  EXPECT_EQ(settings.until_ns, INT64_MAX);
  EXPECT_EQ(settings.first_frame, 1u);
  EXPECT_EQ(settings.last_frame, UINT64_MAX);
  EXPECT_EQ(settings.max_bytes, std::uint64_t{4} << 30);
  EXPECT_EQ(settings.cuda_detail, part::Detail::kCalls);
}

TEST(Settings, LaunchersAndShellsAreDenied) {
  EXPECT_TRUE(is_denied_program("steam"));
  EXPECT_TRUE(is_denied_program("steamwebhelper"));
  EXPECT_TRUE(is_denied_program("sh"));
  EXPECT_FALSE(is_denied_program("ioquake3"));
  EXPECT_FALSE(is_denied_program("python3.11"));
  EXPECT_FALSE(is_denied_program(""));
}

TEST(Settings, TheProgramIsItsBaseName) {
  char name[64];
  program_name(name, sizeof(name));
  EXPECT_STREQ(name, "guest_test");
  program_name(name, 6);
  EXPECT_STREQ(name, "guest");
}

}  // namespace
}  // namespace corun::guest
