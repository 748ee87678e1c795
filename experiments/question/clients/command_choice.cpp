#include "experiments/question/clients/command_choice.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace corun {

void read_command(const Node& node, ClientReading& out, ScalarReader& read) {
  constexpr std::string_view kExample = "[python3, train.py]";
  out.choice.command.words.clear();
  if (!read.expect(node, Node::Kind::kSequence, kExample)) return;
  for (const Node& item : node.items)
    if (const auto word = read.text(item)) out.choice.command.words.push_back(*word);
  if (node.items.empty()) read.wrong(node, "a command needs a program", fmt::format("for example `{}`", kExample));
}

void read_environment(const Node& node, ClientReading& out, ScalarReader& read) {
  out.choice.command.environment.clear();
  if (!read.expect(node, Node::Kind::kMapping, "{ CUDA_VISIBLE_DEVICES: \"0\" }")) return;
  for (const Node::Entry& entry : node.entries)
    if (const auto value = read.text(entry.value))
      out.choice.command.environment.push_back(fmt::format("{}={}", entry.key, *value));
}

void read_working_folder(const Node& node, ClientReading& out, ScalarReader& read) {
  if (const auto path = read.text(node)) out.choice.command.working_folder = in_folder(out.folder, *path);
}

bool is_runnable(const std::string& program, const std::string& working_folder) {
  namespace fs = std::filesystem;
  const auto is_there = [](const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
  };
  if (program.find('/') != std::string::npos) return is_there(fs::path(working_folder) / program);
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/bin:/usr/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (is_there(fs::path(folder) / program)) return true;
  return false;
}

}  // namespace corun
