#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace corun {

/// An option of a command, as completions and pages need it.
struct ShellOption {
  std::vector<std::string> names;  ///< "-o", "--output"; of a positional argument "FILE"
  std::string value;               ///< what stands for its value in --help; "" = it takes none
  std::vector<std::string> words;  ///< the values to choose from; empty = any
  std::string description;
  bool is_positional = false;
  bool is_required = false;
};

/// A command, or the program itself, with the commands below it.
struct ShellCommand {
  std::vector<std::string> path;  ///< "simcli", "policy", "list"
  std::string description;
  std::string footer;
  std::vector<ShellOption> options;
  std::vector<ShellCommand> commands;

  const std::string& name() const { return path.back(); }
};

/// The commands and options of a program, in the order of its --help; options that print help, and a footer that all
/// commands have, are those of the program alone.
ShellCommand command_tree(const CLI::App& app);

}  // namespace corun
