#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "tests/tracer/gl/traced_run.h"
#include "tracer/gl/calls/hooked_calls.h"
#include "tracer/gl/calls/work_calls.h"

namespace corun {
namespace {

std::string library() { return (build_folder() / "libcorun_gl.so").string(); }

std::set<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::set<std::string> result;
  for (std::string word; in >> word;) result.insert(word);
  return result;
}

TEST(GlLibrary, ExportsWhatItStandsBeforeAndNothingElse) {
  if (!is_installed("nm")) GTEST_SKIP() << "needs nm";
  std::set<std::string> expected = {"dlsym"};
#define CORUN_NAME(name, ...) expected.insert(#name);
  CORUN_GL_WORK_CALLS(CORUN_NAME)
  CORUN_GL_PASS_CALLS(CORUN_NAME)
  CORUN_GL_HOOKED_CALLS(CORUN_NAME)
#undef CORUN_NAME
  EXPECT_EQ(words(run("nm -D --defined-only -P " + library() + " | cut -d' ' -f1").output), expected);
}

TEST(GlLibrary, NeedsTheCLibraryOnly) {
  if (!is_installed("readelf")) GTEST_SKIP() << "needs readelf";
  const std::string needed = "readelf -dW " + library() + " | grep NEEDED | grep -v -e libc.so.6 -e ld-linux";
  EXPECT_EQ(run(needed).output, "");
  EXPECT_EQ(run("nm -D --undefined-only " + library() + " | grep -e tls_get_addr -e GLIBCXX").output, "");
}

TEST(GlLibrary, LeavesAProgramWithoutGlAlone) {
  const TracedRun traced;
  EXPECT_EQ(traced.run("echo words"), (Ended{"words\n", 0}));
  EXPECT_EQ(traced.run("sh -c 'exit 7'").code, 7);
  EXPECT_TRUE(traced.parts().empty());
}

}  // namespace
}  // namespace corun
