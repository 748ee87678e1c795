#include "tracer/record/hints.h"

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tracer/guest/settings.h"
#include "traces/base/error.h"

namespace corun::record {

namespace {

namespace fs = std::filesystem;

std::string first_bytes(const std::string& path) {
  std::string bytes(64 * 1024, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

/// The program behind "#! /usr/bin/env NAME" or "#!/bin/NAME"; "" if this is no script.
std::string interpreter_of(const std::string& bytes) {
  if (!bytes.starts_with("#!")) return "";
  std::istringstream line(bytes.substr(2, bytes.find('\n')));
  std::string word;
  line >> word;
  if (fs::path(word).filename() == "env") line >> word;
  return fs::path(word).filename().string();
}

bool is_elf(const std::string& bytes) { return bytes.size() > EI_CLASS && bytes.starts_with(ELFMAG); }

bool has_interpreter(const std::string& bytes) {
  Elf64_Ehdr header{};
  if (bytes.size() < sizeof(header)) return true;
  std::memcpy(&header, bytes.data(), sizeof(header));
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    const std::size_t at = header.e_phoff + i * sizeof(segment);
    if (at > bytes.size() - sizeof(segment)) return true;  // too far away to know
    std::memcpy(&segment, bytes.data() + at, sizeof(segment));
    if (segment.p_type == PT_INTERP) return true;
  }
  return false;
}

bool raises_rights(const std::string& path) {
  struct stat status {};
  const bool is_set = ::stat(path.c_str(), &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)) != 0;
  return is_set || ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

std::string obstacle_in(const std::string& path) {
  const std::string bytes = first_bytes(path);
  if (raises_rights(path)) return "it runs with more rights than its user, and nothing is put into such programs";
  if (!is_elf(bytes)) return "";
  if (bytes[EI_CLASS] == ELFCLASS32) return "it is a 32-bit program, and the libraries that record are 64-bit";
  if (!has_interpreter(bytes)) return "it is statically linked: nothing can be put into it";
  return "";
}

bool only_starts_others(const std::string& path) {
  const std::string interpreter = interpreter_of(first_bytes(path));
  const std::string name = interpreter.empty() ? fs::path(path).filename().string() : interpreter;
  return guest::is_denied_program(name.c_str());
}

}  // namespace

std::string executable_of(const std::string& command) {
  if (command.find('/') != std::string::npos) return command;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/bin:/usr/bin" : path);
  std::error_code ignored;
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + command;
    if (::access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate, ignored)) return candidate;
  }
  return "";
}

std::vector<std::string> why_nothing_was_recorded(const RecordOptions& options) {
  std::vector<std::string> sentences;
  const std::string path = executable_of(options.command.at(0));
  if (const std::string obstacle = obstacle_in(path); !obstacle.empty()) return {obstacle};
  if (!options.follow_children && only_starts_others(path))
    sentences.push_back(
        "it is a launcher or a shell script, and what it starts is recorded only with --follow-children");
  std::string general = "it made no CUDA call and showed no frame through GL, EGL or Vulkan";
  if (options.delay || options.timed || !options.frames.is_whole()) general += " in the window asked for";
  sentences.push_back(general);
  if (!options.follow_children && sentences.size() == 1)
    sentences.push_back("what it started is recorded only with --follow-children");
  return sentences;
}

}  // namespace corun::record
