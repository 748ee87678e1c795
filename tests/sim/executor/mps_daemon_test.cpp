#include "sim/executor/host/mps_daemon.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "traces/base/error.h"

namespace corun::executor {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class MpsDaemonTest : public ::testing::Test {
 protected:
  /// A folder for temporary ones of its own: others count there too.
  MpsDaemonTest() : temporary_(fs::temp_directory_path() / fmt::format("mps-daemon-test-{}", getpid())) {
    fs::create_directory(temporary_);
    setenv("TMPDIR", temporary_.c_str(), 1);
  }
  ~MpsDaemonTest() override {
    unsetenv("FAKE_MPS");
    unsetenv("TMPDIR");
    fs::remove_all(temporary_);
  }

  static void tell_program(const char* words) { setenv("FAKE_MPS", words, 1); }

  static pid_t process_of(const MpsDaemon& daemon) {
    pid_t process = -1;
    std::ifstream(daemon.folder() / "pipe" / "control") >> process;
    return process;
  }
  static bool runs(pid_t process) { return process > 0 && kill(process, 0) == 0; }

  static std::string failure(ErrorKind kind, const std::string& control, Duration patience = 5s) {
    try {
      const MpsDaemon daemon(control, patience);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind);
      return error.what();
    }
    return "it went well";
  }

  static std::size_t folders() {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(fs::temp_directory_path()))
      count += entry.path().filename().string().starts_with("corun-mps-") ? 1 : 0;
    return count;
  }

  const fs::path temporary_;

  const std::string control_ = CORUN_FAKE_MPS;
};

TEST_F(MpsDaemonTest, AnswersInAFolderOfItsOwnAndIsGoneAfterwards) {
  fs::path folder;
  pid_t process = -1;
  {
    const MpsDaemon daemon(control_);
    folder = daemon.folder();
    process = process_of(daemon);
    EXPECT_TRUE(runs(process));
    struct stat status {};
    ASSERT_EQ(stat(folder.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
    ASSERT_EQ(daemon.environment().size(), 2u);
    EXPECT_EQ(daemon.environment()[0], "CUDA_MPS_PIPE_DIRECTORY=" + (folder / "pipe").string());
    EXPECT_EQ(daemon.environment()[1], "CUDA_MPS_LOG_DIRECTORY=" + (folder / "log").string());
  }
  EXPECT_FALSE(runs(process));
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(MpsDaemonTest, TwoDoNotMeet) {
  const MpsDaemon one(control_), other(control_);
  EXPECT_NE(one.folder(), other.folder());
  EXPECT_TRUE(runs(process_of(one)));
  EXPECT_TRUE(runs(process_of(other)));
}

TEST_F(MpsDaemonTest, OneThatDoesNotQuitIsKilled) {
  tell_program("stubborn");
  pid_t process = -1;
  {
    const MpsDaemon daemon(control_, 100ms);
    process = process_of(daemon);
  }
  EXPECT_GT(process, 0);
  EXPECT_FALSE(runs(process));
}

TEST_F(MpsDaemonTest, AMissingProgramIsNamed) {
  const std::size_t before = folders();
  const std::string text = failure(ErrorKind::kUnsupported, "no-such-mps-control");
  EXPECT_NE(text.find("no-such-mps-control"), std::string::npos) << text;
  EXPECT_EQ(folders(), before);
}

TEST_F(MpsDaemonTest, OneThatEndsAtOnceIsQuoted) {
  tell_program("broken");
  const std::size_t before = folders();
  const std::string text = failure(ErrorKind::kDevice, control_);
  EXPECT_NE(text.find("no device for this daemon"), std::string::npos) << text;
  EXPECT_EQ(folders(), before);
}

TEST_F(MpsDaemonTest, OneThatDoesNotAnswerIsGivenUp) {
  tell_program("deaf");
  const std::string text = failure(ErrorKind::kDevice, control_, 200ms);
  EXPECT_NE(text.find("does not answer"), std::string::npos) << text;
}

}  // namespace
}  // namespace corun::executor
