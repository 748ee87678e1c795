#include "traces/shell/command_tree.h"

#include <CLI/CLI.hpp>

namespace corun {

namespace {

/// "full", "short" of "TEXT:{full,short}", which is what CLI11 says of an option with a few words.
std::vector<std::string> words_of(const std::string& type) {
  const std::size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

ShellOption option_of(const CLI::Option& option) {
  ShellOption its;
  its.is_positional = option.get_positional();
  its.is_required = option.get_required();
  its.description = option.get_description();
  if (its.is_positional) {
    its.names.push_back(option.get_name(true));
  } else {
    for (const std::string& name : option.get_snames()) its.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) its.names.push_back("--" + name);
  }
  if (option.get_items_expected_max() == 0) return its;
  const std::string type = option.get_type_name();
  its.words = words_of(type);
  its.value = its.words.empty() ? type.substr(0, type.find(':')) : "WORD";
  return its;
}

/// Every command has these; the program's own say so.
bool is_help(const CLI::App& app, const CLI::Option& option) {
  return &option == app.get_help_ptr() || &option == app.get_help_all_ptr();
}

ShellCommand tree_of(const CLI::App& app, std::vector<std::string> path) {
  ShellCommand command;
  command.path = std::move(path);
  command.path.push_back(app.get_name());
  command.description = app.get_description();
  if (app.get_parent() == nullptr || app.get_footer() != app.get_parent()->get_footer())
    command.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options())
    if (app.get_parent() == nullptr || !is_help(app, *option)) command.options.push_back(option_of(*option));
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; }))
    command.commands.push_back(tree_of(*below, command.path));
  return command;
}

}  // namespace

ShellCommand command_tree(const CLI::App& app) { return tree_of(app, {}); }

}  // namespace corun
