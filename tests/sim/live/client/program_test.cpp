// The command of a client: what it is started with, how it ends, what is left of it.
#include "sim/live/program.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "sim/executor/host/wall_clock.h"
#include "tests/support/temporary_folder.h"
#include "traces/base/error.h"

namespace corun {
namespace {

using namespace std::chrono_literals;

class ProgramTest : public ::testing::Test {
 protected:
  void start(const std::string& line) { program_.start("a", command(line), variables_, guests_); }
  LiveCommand command(const std::string& line) const {
    return {{"sh", "-c", line}, environment_, folder_.path().string()};
  }
  bool is_gone_within(Duration patience) {
    const executor::WallClock clock;
    while (!program_.is_gone() && clock.elapsed() < patience) std::this_thread::sleep_for(1ms);
    return program_.is_gone();
  }
  /// How a command ended that does so at once.
  std::string ending_of(const std::string& line) {
    live::Program program;
    program.start("a", command(line), variables_, guests_);
    const executor::WallClock clock;
    while (!program.is_gone() && clock.elapsed() < 10s) std::this_thread::sleep_for(1ms);
    return program.ending();
  }
  /// What a command has written into the file "out" of its folder.
  std::string said_by(const std::string& line) {
    EXPECT_EQ(ending_of("(" + line + ") >out"), "");
    return written();
  }
  std::string written() const {
    std::ifstream file(folder_ / "out");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool has_written(const std::string& text) const {
    const executor::WallClock clock;
    while (written() != text && clock.elapsed() < 10s) std::this_thread::sleep_for(1ms);
    return written() == text;
  }

  testing::TemporaryFolder folder_;
  std::vector<std::string> environment_, variables_;
  live::Guests guests_;
  live::Program program_;
};

TEST_F(ProgramTest, SaysHowItsCommandEnded) {
  EXPECT_EQ(ending_of("exit 0"), "");
  EXPECT_EQ(ending_of("exit 1"), "exit code 1");
  EXPECT_EQ(ending_of("exit 77"), "exit code 77");
  EXPECT_EQ(ending_of("kill -9 $$"), "signal 9");
}

TEST_F(ProgramTest, IsGoneWhenTheLastThatItHasStartedHasEnded) {
  EXPECT_TRUE(program_.is_gone()) << "before it is started";
  start("(while [ ! -e end ]; do sleep 0.01; done) & exit 3");
  EXPECT_FALSE(is_gone_within(300ms));
  EXPECT_EQ(program_.ending(), "exit code 3") << "the command itself";
  std::ofstream(folder_ / "end") << "now";
  EXPECT_TRUE(is_gone_within(10s));
  EXPECT_EQ(program_.ending(), "exit code 3");
}

TEST_F(ProgramTest, TheLastAssignmentOfANameCounts) {
  setenv("CORUN_A", "ours", 1);
  setenv("CORUN_B", "ours", 1);
  setenv("CORUN_C", "ours", 1);
  environment_ = {"CORUN_A=theirs", "CORUN_B=theirs"};
  variables_ = {"CORUN_A=a=b"};
  EXPECT_EQ(said_by("echo $CORUN_A $CORUN_B $CORUN_C"), "a=b theirs ours\n");
  for (const char* name : {"CORUN_A", "CORUN_B", "CORUN_C"}) unsetenv(name);
}

TEST_F(ProgramTest, LibrariesAreLoadedBehindItsOwn) {
  environment_ = {"LD_PRELOAD="};
  guests_.preloads = {"/nonexistent/one.so"};
  EXPECT_EQ(said_by("echo $LD_PRELOAD"), "/nonexistent/one.so\n");
  environment_ = {"LD_PRELOAD=/nonexistent/theirs.so"};
  guests_.preloads = {"/nonexistent/one.so", "/nonexistent/two.so"};
  EXPECT_EQ(said_by("echo $LD_PRELOAD"), "/nonexistent/theirs.so:/nonexistent/one.so:/nonexistent/two.so\n");
}

TEST_F(ProgramTest, WithoutGuestsItsEnvironmentIsItsOwn) {
  environment_ = {"LD_PRELOAD=", "XDG_DATA_DIRS=/a"};
  EXPECT_EQ(said_by("echo $LD_PRELOAD$CUDA_INJECTION64_PATH$CORUN_TRACE_VULKAN$XDG_DATA_DIRS"), "/a\n");
}

TEST_F(ProgramTest, ItsDriverLoadsWhatItNamesItself) {
  guests_.injection = "/nonexistent/ours.so";
  EXPECT_EQ(said_by("echo $CUDA_INJECTION64_PATH"), "/nonexistent/ours.so\n");
  environment_ = {"CUDA_INJECTION64_PATH=/nonexistent/theirs.so"};
  EXPECT_EQ(said_by("echo $CUDA_INJECTION64_PATH"), "/nonexistent/theirs.so\n");
}

TEST_F(ProgramTest, AFolderOfLayersComesBeforeItsDataFolders) {
  guests_.layer_data = "/layers";
  environment_ = {"XDG_DATA_DIRS="};
  EXPECT_EQ(said_by("echo $XDG_DATA_DIRS $CORUN_TRACE_VULKAN"), "/layers:/usr/local/share:/usr/share 1\n");
  environment_ = {"XDG_DATA_DIRS=/a:/b"};
  EXPECT_EQ(said_by("echo $XDG_DATA_DIRS"), "/layers:/a:/b\n");
}

TEST_F(ProgramTest, HasNoInputAndAGroupOfItsOwnInTheFolderThatIsNamed) {
  EXPECT_EQ(said_by("cat; pwd -P"), std::filesystem::canonical(folder_.path()).string() + "\n");
  EXPECT_EQ(said_by("set -- $(cat /proc/$$/stat); [ $5 = $$ ] && echo leads"), "leads\n");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(ending_of("echo said"), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "said\n") << "its output is on our standard error";
}

TEST_F(ProgramTest, IsAskedToEndByASignalThatItHears) {
  signal(SIGTERM, SIG_IGN);
  start("exec sleep 30");
  signal(SIGTERM, SIG_DFL);
  program_.terminate();
  EXPECT_TRUE(is_gone_within(10s)) << "what we ignore it does not";
  EXPECT_EQ(program_.ending(), "signal 15");
}

TEST_F(ProgramTest, AllOfItAreAskedAndAllAreKilled) {
  start(
      "(trap 'echo asked >>out; exit' TERM; echo ready >out; while :; do sleep 0.01; done) & trap '' TERM; "
      "while [ ! -s out ]; do sleep 0.01; done; echo set >>out; while :; do sleep 0.01; done");
  ASSERT_TRUE(has_written("ready\nset\n"));
  program_.terminate();
  EXPECT_TRUE(has_written("ready\nset\nasked\n"));
  EXPECT_FALSE(is_gone_within(100ms)) << "one does not do what it is asked";
  program_.kill();
  EXPECT_TRUE(is_gone_within(10s));
  EXPECT_EQ(program_.ending(), "signal 9");
}

TEST_F(ProgramTest, WhatIsLeftOfItIsKilledWithTheObject) {
  {
    live::Program program;
    program.start("a", command("sh -c 'echo $$ >out; exec sleep 30' & exec sleep 30"), {}, {});
    const executor::WallClock clock;
    while (written().empty() && clock.elapsed() < 10s) std::this_thread::sleep_for(1ms);
  }
  const pid_t child = std::stoi(written());
  const executor::WallClock clock;
  std::string state;
  do {
    std::ifstream status("/proc/" + std::to_string(child) + "/stat");
    std::string id, name;
    state = "gone";
    status >> id >> name >> state;
  } while (state != "gone" && state != "Z" && clock.elapsed() < 10s);
  EXPECT_TRUE(state == "gone" || state == "Z") << state;
}

TEST_F(ProgramTest, WhatCannotBeStartedIsGone) {
  try {
    program_.start("a", {{"/nonexistent/program"}, {}, ""}, {}, {});
    FAIL() << "it ran";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_EQ(std::string(error.what()).find("client 'a': cannot start `/nonexistent/program`: "), 0u) << error.what();
  }
  EXPECT_TRUE(program_.is_gone());
  program_.terminate();
  program_.kill();
}

}  // namespace
}  // namespace corun
