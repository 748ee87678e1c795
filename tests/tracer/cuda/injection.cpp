#include "tests/tracer/cuda/injection.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace corun {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

void redirect(int descriptor, const fs::path& path) {
  const int file = open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  dup2(file, descriptor);
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

bool Outcome::has_ended_as_without() const {
  return WIFEXITED(status) && WEXITSTATUS(status) == 7 && output.starts_with("launched ") && output.ends_with("\n");
}

const PartContent& Outcome::part() const {
  static const PartContent kNone;
  EXPECT_EQ(parts.size(), 1u);
  return parts.size() == 1 ? parts.front() : kNone;
}

std::uint64_t Outcome::lost(part::LossReason reason) const {
  const auto& all = part().lost;
  return all.contains(reason) ? all.at(reason) : 0;
}

std::string Outcome::last_words() const {
  const PartContent& only = part();
  const bool has_words = only.end.has_value() && only.texts.contains(only.end->text);
  return has_words ? only.texts.at(only.end->text) : "";
}

Injection::Injection() : cupti_(FAKE_CUPTI) {
  std::string pattern = (fs::temp_directory_path() / "corun-injection-XXXXXX").string();
  folder_ = mkdtemp(pattern.data());
  fs::create_directory(folder_ / "parts");
  fs::permissions(folder_ / "parts", fs::perms::owner_all);
  environment_["CORUN_TRACE_DIR"] = (folder_ / "parts").string();
  environment_["FAKE_CUPTI_SCRIPT"] = (folder_ / "script").string();
}

Injection::~Injection() { fs::remove_all(folder_); }

Injection& Injection::script(const std::string& lines) {
  std::ofstream(folder_ / "script") << lines << "\n";
  return *this;
}

Injection& Injection::mode(const std::string& mode) {
  mode_ = mode;
  return *this;
}

Injection& Injection::launches(std::uint32_t count) {
  launches_ = count;
  return *this;
}

Injection& Injection::set(const std::string& variable, const std::string& value) {
  environment_[variable] = value;
  return *this;
}

Injection& Injection::cupti(const std::string& path) {
  cupti_ = path;
  return *this;
}

Outcome Injection::run() {
  environment_.try_emplace("CORUN_TRACE_CUPTI", cupti_);
  std::vector<std::string> arguments = {FAKE_CUDA_APP, CORUN_CUDA, cupti_, mode_, std::to_string(launches_)};
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment_) variables.push_back(name + "=" + value);
  const std::vector<char*> argument_pointers = pointers_to(arguments);
  const std::vector<char*> variable_pointers = pointers_to(variables);
  const pid_t child = fork();
  if (child == 0) {
    redirect(STDOUT_FILENO, folder_ / "output");
    redirect(STDERR_FILENO, folder_ / "complaints");
    alarm(kMostSeconds);
    execve(FAKE_CUDA_APP, argument_pointers.data(), variable_pointers.data());
    _exit(127);
  }
  Outcome outcome;
  waitpid(child, &outcome.status, 0);
  outcome.output = contents(folder_ / "output");
  outcome.complaints = contents(folder_ / "complaints");
  for (const auto& entry : fs::directory_iterator(folder_ / "parts")) {
    const std::string bytes = contents(entry.path());
    if (bytes.empty()) ++outcome.empty_parts;
    if (!bytes.empty()) outcome.parts.push_back(read_part(bytes, entry.path().filename().string()));
  }
  return outcome;
}

}  // namespace corun
