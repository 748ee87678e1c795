#include "tracer/guest/part_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <sstream>
#include <thread>
#include <vector>

#include "traces/parts/part_reader.h"

namespace corun::guest {
namespace {

namespace fs = std::filesystem;

class PartFileTest : public testing::Test {
 protected:
  PartFileTest() {
    std::string pattern = fs::temp_directory_path() / "corun-test-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    strcpy(settings_.directory, folder_.c_str());
  }
  ~PartFileTest() override { fs::remove_all(folder_); }

  bool open() { return part_.open(settings_, part::Source::kCuda, part::Detail::kCalls, 130000); }

  bool add_call(std::uint32_t correlation) {
    return part_.add(part::RecordType::kCall,
                     part::CallRecord{{}, correlation, correlation + 5, 1, correlation, part::CallRole::kLaunch, 0, 0});
  }

  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.push_back(entry.path());
    return found;
  }

  PartContent content() const {
    std::ifstream file(files().at(0), std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return read_part(bytes.str(), "part");
  }

  // Runs `work` in a child; returns what waitpid says of it.
  template <class Work>
  static int in_child(Work work) {
    const pid_t child = fork();
    if (child == 0) {
      work();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }

  std::string folder_;
  Settings settings_{};
  PartFile part_;
};

TEST_F(PartFileTest, WhatGoesInComesOutInOrder) {
  ASSERT_TRUE(open());
  for (std::uint32_t i = 1; i <= 50'000; ++i) ASSERT_TRUE(add_call(i));
  part_.close(part::EndReason::kExit);
  const PartContent content = this->content();
  EXPECT_EQ(content.process.process, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(content.texts.at(content.process.program), "guest_test");
  ASSERT_EQ(content.calls.size(), 50'000u);
  for (std::uint32_t i = 0; i < 50'000; ++i) ASSERT_EQ(content.calls[i].correlation, i + 1);
  ASSERT_TRUE(content.end.has_value());
  EXPECT_EQ(content.end->reason, part::EndReason::kExit);
  EXPECT_EQ(content.damage, "");
  EXPECT_TRUE(content.lost.empty());
}

TEST_F(PartFileTest, TheFileIsItsOwnersOnly) {
  const mode_t before = umask(0);
  ASSERT_TRUE(open());
  umask(before);
  struct stat status {};
  ASSERT_EQ(stat(files().at(0).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
  part_.close(part::EndReason::kExit);
}

TEST_F(PartFileTest, ManyThreadsLoseNothing) {
  ASSERT_TRUE(open());
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (std::uint32_t i = 0; i < 5'000; ++i) add_call(t * 5'000 + i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  part_.close(part::EndReason::kExit);
  std::uint64_t sum = 0;
  const PartContent content = this->content();
  for (const part::CallRecord& call : content.calls) sum += call.correlation;
  EXPECT_EQ(content.calls.size(), 20'000u);
  EXPECT_EQ(sum, 20'000ull * 19'999 / 2);
}

TEST_F(PartFileTest, WhatDoesNotFitIsCountedExactly) {
  ASSERT_TRUE(open());
  std::uint64_t refused = 0;
  constexpr std::uint32_t kCalls = 1'500'000;  // 60 MB, faster than any disk
  for (std::uint32_t i = 0; i < kCalls; ++i) refused += add_call(i) ? 0 : 1;
  part_.close(part::EndReason::kExit);
  const PartContent content = this->content();
  const auto lost = content.lost.count(part::LossReason::kRingFull) ? content.lost.at(part::LossReason::kRingFull) : 0;
  EXPECT_EQ(lost, refused);
  EXPECT_EQ(content.calls.size() + refused, kCalls);
}

TEST_F(PartFileTest, ATextIsWrittenOnceAndBeforeItsUse) {
  ASSERT_TRUE(open());
  const std::uint32_t first = part_.text("volta_sgemm");
  EXPECT_EQ(part_.text("volta_sgemm"), first);
  EXPECT_NE(part_.text("other"), first);
  EXPECT_EQ(part_.text(std::string(10'000, 'x').c_str()), part_.text(std::string(20'000, 'x').c_str()))
      << "texts are cut";
  part_.close(part::EndReason::kExit, 0, "because");
  const PartContent content = this->content();
  EXPECT_EQ(content.texts.at(first), "volta_sgemm");
  EXPECT_EQ(content.texts.at(content.end->text), "because");
}

TEST_F(PartFileTest, RedactedNamesAreNowhereInTheFile) {
  settings_.redact_names = true;
  ASSERT_TRUE(open());
  const std::uint32_t name = part_.kernel_name("secret_attention");
  EXPECT_EQ(part_.kernel_name("secret_attention"), name);
  EXPECT_NE(part_.kernel_name("secret_mlp"), name);
  part_.close(part::EndReason::kExit);
  EXPECT_EQ(content().texts.at(name), "kernel_" + std::to_string(getpid()) + "_1")
      << "kernels of two processes must not become one";
  std::ifstream file(files().at(0), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(bytes.find("secret"), std::string::npos);
}

TEST_F(PartFileTest, AKilledProcessLosesAtMostTheLastSecond) {
  const int status = in_child([this] {
    open();
    for (std::uint32_t i = 1; i <= 10'000; ++i) add_call(i);
    usleep(2'500'000);  // much longer than the second after which buffers are written
    for (std::uint32_t i = 1; i <= 10; ++i) add_call(i);
    raise(SIGKILL);
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  const PartContent content = this->content();
  EXPECT_GE(content.calls.size(), 10'000u);
  EXPECT_FALSE(content.end.has_value());
  EXPECT_EQ(content.damage, "");
}

TEST_F(PartFileTest, WhatIsPushedNeedsNoSecond) {
  const int status = in_child([this] {
    open();
    for (std::uint32_t i = 1; i <= 10; ++i) add_call(i);
    part_.push();
    for (int i = 0; i < 90 && fs::file_size(files().at(0)) < 400; ++i) usleep(10'000);
    raise(SIGKILL);
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(content().calls.size(), 10u);
}

TEST_F(PartFileTest, TheSizeLimitEndsTheRecordingAndSaysSo) {
  settings_.max_bytes = 300'000;
  ASSERT_TRUE(open());
  for (std::uint32_t i = 0; i < 50'000; ++i) add_call(i);
  for (int i = 0; i < 1000 && part_.is_open(); ++i) usleep(10'000);
  EXPECT_FALSE(part_.is_open()) << "whoever asks may stop its own work";
  part_.close(part::EndReason::kExit);
  EXPECT_LE(fs::file_size(files().at(0)), 301'000u);
  const PartContent content = this->content();
  ASSERT_TRUE(content.end.has_value());
  EXPECT_EQ(content.end->reason, part::EndReason::kMaxSize);
  EXPECT_GT(content.lost.at(part::LossReason::kTooLarge), 0u);
  EXPECT_GT(content.calls.size(), 4'000u);
}

TEST_F(PartFileTest, AFullDiskEndsTheRecordingNotTheProgram) {
  const int status = in_child([this] {
    const rlimit limit{200'000, 200'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    open();
    for (std::uint32_t i = 0; i < 20'000; ++i) add_call(i);
    part_.close(part::EndReason::kExit);
  });
  EXPECT_EQ(status, 0) << "SIGXFSZ must not reach the program";
  const PartContent content = this->content();
  EXPECT_EQ(content.damage, "") << "the chunk that did not fit is cut off";
  ASSERT_TRUE(content.end.has_value());
  EXPECT_EQ(content.end->reason, part::EndReason::kWriteFailed);
  EXPECT_EQ(content.end->detail, static_cast<std::uint32_t>(EFBIG));
}

TEST_F(PartFileTest, TheChildOfAForkWritesNothing) {
  ASSERT_TRUE(open());
  add_call(1);
  const int status = in_child([this] {
    if (part_.is_open() || add_call(2)) _exit(1);
    part_.close(part::EndReason::kExit);
  });
  EXPECT_EQ(status, 0);
  add_call(3);
  part_.close(part::EndReason::kExit);
  EXPECT_EQ(content().calls.size(), 2u);
}

TEST_F(PartFileTest, AHostThatReusesItsDescriptorKeepsItsFile) {
  ASSERT_TRUE(open());
  usleep(2'000'000);
  int ours = -1;
  for (int descriptor = 3; descriptor < 1024 && ours < 0; ++descriptor) {
    struct stat one {
    }, other{};
    stat(files().at(0).c_str(), &one);
    if (fstat(descriptor, &other) == 0 && one.st_ino == other.st_ino) ours = descriptor;
  }
  ASSERT_GE(ours, 0);
  const std::string mine = folder_ + "/mine.txt";
  const int descriptor = ::open(mine.c_str(), O_CREAT | O_WRONLY, 0600);
  dup2(descriptor, ours);
  for (std::uint32_t i = 0; i < 5'000; ++i) add_call(i);
  part_.close(part::EndReason::kExit);
  EXPECT_EQ(fs::file_size(mine), 0u);
}

TEST_F(PartFileTest, NoFolderALinkOrAReadOnlyFolderMeansNoRecording) {
  const std::string link = folder_ + "/link";
  fs::create_directory_symlink(folder_, link);
  strcpy(settings_.directory, link.c_str());
  EXPECT_FALSE(open());
  strcpy(settings_.directory, (folder_ + "/absent").c_str());
  EXPECT_FALSE(open());
  settings_.directory[0] = '\0';
  EXPECT_FALSE(open());
  EXPECT_FALSE(add_call(1));
  EXPECT_EQ(part_.text("x"), 0u);
  part_.close(part::EndReason::kExit);
}

TEST_F(PartFileTest, AProgramThatReplacesItselfGetsASecondFile) {
  ASSERT_TRUE(open());
  PartFile again;
  ASSERT_TRUE(again.open(settings_, part::Source::kCuda, part::Detail::kCalls, 0));
  again.close(part::EndReason::kExit);
  part_.close(part::EndReason::kExit);
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(PartFileTest, AfterTheEndCallsDoNothing) {
  ASSERT_TRUE(open());
  part_.close(part::EndReason::kWindow);
  part_.close(part::EndReason::kExit);
  EXPECT_FALSE(add_call(1));
  EXPECT_EQ(content().end->reason, part::EndReason::kWindow);
}

}  // namespace
}  // namespace corun::guest
