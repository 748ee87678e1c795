#include "sim/executor/host/spawn.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace corun::executor {
namespace {

/// Exit code of a shell that carries this out and inherits `descriptors`.
int exit_code(const std::string& script, std::vector<int> descriptors, bool ends_with_us) {
  const pid_t process =
      spawn({.words = {"sh", "-c", script}, .descriptors = std::move(descriptors), .ends_with_us = ends_with_us});
  int status = -1;
  EXPECT_TRUE(process > 0 && await_end(process, std::chrono::seconds{20}, &status));
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Spawn, AProgramInheritsWhatItIsGivenAndNothingElse) {
  const int memory = memfd_create("given", MFD_CLOEXEC);
  const std::string is_there = "[ -e /proc/self/fd/" + std::to_string(memory) + " ]";
  for (const bool ends_with_us : {false, true}) {
    EXPECT_EQ(exit_code(is_there, {memory}, ends_with_us), 0) << ends_with_us;
    EXPECT_EQ(exit_code(is_there, {}, ends_with_us), 1) << ends_with_us;
  }
  close(memory);
}

TEST(Spawn, AMissingProgramIsAnErrorAndNoProcess) {
  for (const bool ends_with_us : {false, true}) {
    EXPECT_EQ(spawn({.words = {"no-such-program"}, .ends_with_us = ends_with_us}), -1);
    EXPECT_EQ(errno, ENOENT);
  }
}

}  // namespace
}  // namespace corun::executor
