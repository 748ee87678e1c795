#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "traces/native/native.h"

namespace corun::testing {

inline std::string content_of(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream{path, std::ios::binary}.rdbuf();
  return out.str();
}

/// Waits for what another process does; false after thirty seconds and more.
template <class Condition>
bool comes_true(Condition condition) {
  for (int i = 0; i < 3000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

/// A program that runs in a folder of its own with its output in files. It is killed where it was not waited for.
/// SIGINT and SIGQUIT end it, though a shell that runs the tests in the background has them ignored.
class Running {
 public:
  Running(std::vector<std::string> words, const std::string& folder,
          const std::map<std::string, std::string>& more = {})
      : out_(folder + "/stdout"), err_(folder + "/stderr") {
    std::map<std::string, std::string> all = more;
    all.try_emplace("PATH", "/usr/bin:/bin");
    std::vector<std::string> variables;
    for (const auto& [name, value] : all) variables.push_back(name + "=" + value);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addchdir_np(&files, folder.c_str());
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "stdout", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&files, 2, "stderr", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGINT);
    sigaddset(&defaults, SIGQUIT);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    EXPECT_EQ(::posix_spawn(&process_, words[0].c_str(), &files, &attributes, pointers(words).data(),
                            pointers(variables).data()),
              0);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
  }

  ~Running() {
    if (has_ended_ || process_ <= 0) return;
    send(SIGKILL);
    wait();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  pid_t process() const { return process_; }
  void send(int signal_number) const { ::kill(process_, signal_number); }
  std::string out() const { return content_of(out_); }
  std::string err() const { return content_of(err_); }

  /// Exit code, 128 + n for signal n.
  int wait() {
    int status = 0;
    ::waitpid(process_, &status, 0);
    has_ended_ = true;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  static std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
  }

  std::string out_, err_;
  pid_t process_ = -1;
  bool has_ended_ = false;
};

/// A folder in which simtrace and the stand-in run, with what they left.
class Recorder : public ::testing::Test {
 protected:
  struct Finished {
    int code = 0;
    std::string out, err;
  };

  static std::string simtrace_path() { return std::filesystem::absolute(CORUN_SIMTRACE); }
  static std::string stand_in_path() { return std::filesystem::absolute(CORUN_STAND_IN); }

  static std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }

  Running start(const std::vector<std::string>& words, const std::map<std::string, std::string>& more = {}) const {
    return Running(joined({simtrace_path()}, words), folder_.path(), more);
  }

  Finished simtrace(const std::vector<std::string>& words, const std::map<std::string, std::string>& more = {}) const {
    Running running = start(words, more);
    const int code = running.wait();
    return {code, running.out(), running.err()};
  }

  /// simtrace record -o x.corun OPTIONS -- stand_in WORDS
  std::vector<std::string> recording(const std::vector<std::string>& options,
                                     const std::vector<std::string>& words) const {
    return joined(joined(joined({"record", "-o", "x.corun"}, options), {"--", stand_in_path()}), words);
  }
  Finished record(const std::vector<std::string>& options, const std::vector<std::string>& words,
                  const std::map<std::string, std::string>& more = {}) const {
    return simtrace(recording(options, words), more);
  }

  bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }
  Timeline capture(const std::string& name = "x.corun") const { return read_native(content_of(folder_ / name), name); }

  std::vector<std::string> files(const std::string& name) const {
    std::vector<std::string> found;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / name, ignored))
      found.push_back(entry.path());
    return found;
  }

  const TemporaryFolder folder_;
};

}  // namespace corun::testing
