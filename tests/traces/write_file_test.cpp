#include "traces/base/write_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/temporary_folder.h"
#include "traces/base/error.h"

namespace corun {
namespace {

namespace fs = std::filesystem;

std::string content_of(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream{path, std::ios::binary}.rdbuf();
  return out.str();
}

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator{folder}, fs::directory_iterator{}));
}

TEST(WriteFile, NewFileBelongsToItsOwnerAlone) {
  const testing::TemporaryFolder folder;
  write_file(folder / "a", "bytes", false);
  EXPECT_EQ(content_of(folder / "a"), "bytes");
  EXPECT_EQ(fs::status(folder / "a").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(WriteFile, AnExistingFileIsKeptUnlessOverwritingIsAllowed) {
  const testing::TemporaryFolder folder;
  write_file(folder / "a", "old", false);
  EXPECT_THROW(write_file(folder / "a", "new", false), Error);
  EXPECT_EQ(content_of(folder / "a"), "old");
  write_file(folder / "a", "new", true);
  EXPECT_EQ(content_of(folder / "a"), "new");
  EXPECT_EQ(files_in(folder.path()), 1u) << "nothing is left beside the file";
}

TEST(WriteFile, FailuresNameThePathAndLeaveNothing) {
  const testing::TemporaryFolder folder;
  try {
    write_file(folder / "no/such/folder", "x", false);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_EQ(error.where().file, folder / "no/such/folder");
  }
  EXPECT_THROW(write_file(folder.path().string(), "x", true), Error) << "a folder is not replaced";
  EXPECT_EQ(files_in(folder.path()), 0u);
}

TEST(WriteFile, ASymbolicLinkIsNeitherFollowedNorReplaced) {
  const testing::TemporaryFolder folder;
  write_file(folder / "target", "old", false);
  fs::create_symlink("target", folder / "link");
  fs::create_symlink("nowhere", folder / "dangling");
  for (const bool overwrite : {false, true}) {
    EXPECT_THROW(write_file(folder / "link", "new", overwrite), Error);
    EXPECT_THROW(write_file(folder / "dangling", "new", overwrite), Error);
  }
  EXPECT_EQ(content_of(folder / "target"), "old");
  EXPECT_EQ(files_in(folder.path()), 3u);
}

// Files of this process can grow to a few bytes only: to the writer, a full disk.
class SmallFilesOnly {
 public:
  explicit SmallFilesOnly(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallFilesOnly() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_;
};

TEST(WriteFile, AFullDiskIsTheMachinesFaultAndLeavesTheOldFile) {
  const testing::TemporaryFolder folder;
  write_file(folder / "a", "old", false);
  for (const bool overwrite : {false, true}) {
    const std::string path = folder / (overwrite ? "a" : "b");
    ErrorKind kind = ErrorKind::kInput;
    {
      const SmallFilesOnly limit{100};
      try {
        write_file(path, std::string(1000, 'x'), overwrite);
      } catch (const Error& error) {
        kind = error.kind();
      }
    }
    EXPECT_EQ(kind, ErrorKind::kDevice);
  }
  EXPECT_EQ(content_of(folder / "a"), "old");
  EXPECT_EQ(files_in(folder.path()), 1u);
}

}  // namespace
}  // namespace corun
