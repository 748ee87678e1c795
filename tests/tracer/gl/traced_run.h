#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "traces/parts/part_reader.h"

namespace corun {

/// What a command printed and how it ended.
struct Ended {
  std::string output;
  int code = -1;

  friend bool operator==(const Ended&, const Ended&) = default;
};

/// The folder of the test program, where the build also puts libraries and other programs.
inline std::filesystem::path build_folder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

inline bool is_installed(const std::string& program) {
  return std::system(("command -v " + program + " > /dev/null 2>&1").c_str()) == 0;
}

inline Ended run(const std::string& command) {
  Ended ended;
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> bytes{};
  while (pipe != nullptr && std::fgets(bytes.data(), bytes.size(), pipe) != nullptr) ended.output += bytes.data();
  const int status = pipe == nullptr ? -1 : pclose(pipe);
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ended;
}

/// Runs commands with the GL library before them, and reads what it wrote. The folder goes with the object.
class TracedRun {
 public:
  TracedRun() {
    std::string pattern = (std::filesystem::temp_directory_path() / "corun-gl-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~TracedRun() { std::filesystem::remove_all(folder_); }
  TracedRun(const TracedRun&) = delete;
  TracedRun& operator=(const TracedRun&) = delete;

  /// `settings` are assignments as env takes them; `around` comes before them (xvfb-run).
  Ended run(const std::string& command, const std::string& settings = "", const std::string& around = "") const {
    const std::string library = (build_folder() / "libcorun_gl.so").string();
    return corun::run(around + " env CORUN_TRACE_DIR=" + folder_.string() + " LD_PRELOAD=" + library + " " + settings +
                      " " + command);
  }

  std::vector<PartContent> parts() const {
    std::vector<PartContent> parts;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      std::ifstream file(entry.path(), std::ios::binary);
      std::ostringstream bytes;
      bytes << file.rdbuf();
      parts.push_back(read_part(bytes.str(), entry.path().filename()));
    }
    return parts;
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace corun
