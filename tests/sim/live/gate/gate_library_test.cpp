#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "tests/tracer/gl/traced_run.h"
#include "tracer/gate/driver/driver_calls.h"

namespace corun {
namespace {

TEST(GateLibrary, ExportsWhatItStandsBeforeAndNothingElse) {
  if (!is_installed("nm")) GTEST_SKIP() << "needs nm";
  std::set<std::string> expected = {"InitializeInjection", "dlsym"};
#define CORUN_NAME(name, ...) expected.insert(#name);
  CORUN_DRIVER_CALLS(CORUN_NAME)
#undef CORUN_NAME
  std::istringstream listed(run("nm -D --defined-only -P " CORUN_GATE_LIBRARY " | cut -d' ' -f1").output);
  std::set<std::string> exported;
  for (std::string name; listed >> name;) exported.insert(name);
  EXPECT_EQ(exported, expected);
}

TEST(GateLibrary, NeedsTheCLibraryOnly) {
  if (!is_installed("readelf")) GTEST_SKIP() << "needs readelf";
  EXPECT_EQ(run("readelf -dW " CORUN_GATE_LIBRARY " | grep NEEDED | grep -v -e libc.so.6 -e ld-linux").output, "");
  EXPECT_EQ(run("nm -D --undefined-only " CORUN_GATE_LIBRARY " | grep -e tls_get_addr -e GLIBCXX").output, "");
}

}  // namespace
}  // namespace corun
