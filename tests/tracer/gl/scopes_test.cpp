#include <gtest/gtest.h>

#include "tests/tracer/gl/traced_run.h"

namespace corun {
namespace {

std::string in_build(const std::string& name) { return (build_folder() / name).string(); }

/// A program that opens plug-ins, each of which links a GL that no other has.
class GlPlugin : public testing::Test {
 protected:
  void expect_unnoticed(const std::string& command, const std::string& settings = "") {
    const Ended bare = corun::run(command);
    EXPECT_EQ(bare.code, 9) << bare.output;
    EXPECT_NE(bare.output.find("one gl"), std::string::npos) << bare.output;
    EXPECT_EQ(TracedRun().run(command, settings), bare);
  }

  const std::string host_ = in_build("gl_host");
  const std::string one_ = in_build("libgl_plugin_one.so"), other_ = in_build("libgl_plugin_other.so");
};

TEST_F(GlPlugin, GetsTheFunctionsOfTheGlThatItLinks) {
  expect_unnoticed(host_ + " draw " + one_);
  expect_unnoticed(host_ + " draw " + one_, "CORUN_TRACE_GL=off");
}

TEST_F(GlPlugin, GetsItsOwnWhereAnotherPlugInLinksAnother) {
  expect_unnoticed(host_ + " draw " + one_ + " " + other_ + " " + one_);
}

TEST_F(GlPlugin, GetsThemWhereAFunctionEndsWithTheCall) { expect_unnoticed(host_ + " flush " + one_); }

TEST_F(GlPlugin, KeepsItsErrnoWhereTheFileCannotBeMade) {
  expect_unnoticed(host_ + " draw " + one_, "CORUN_TRACE_DIR=/no/such/folder");
}

}  // namespace
}  // namespace corun
