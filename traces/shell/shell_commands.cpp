#include "traces/shell/shell_commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <vector>

#include "traces/base/command_name.h"
#include "traces/base/units.h"
#include "traces/shell/completions.h"
#include "traces/shell/man_page.h"

namespace corun {

namespace {

constexpr int kWrongUsage = 2;
constexpr std::size_t kShortest = 3;  ///< letters; a word of as many is near to too many

/// The help of the command that the words name, at least one.
std::string help_of(const CLI::App& program, const std::vector<std::string>& words) {
  const CLI::App* app = &program;
  std::string before;
  for (const std::string& word : words) {
    check_command(*app, word);
    const auto named = app->get_subcommands([&](const CLI::App* below) { return below->get_name() == word; });
    if (named.empty()) throw CLI::ParseError("There is no command `" + word + "`", kWrongUsage);
    before += (before.empty() ? "" : " ") + app->get_name();
    app = named.front();
  }
  return app->help(before);
}

}  // namespace

void check_command(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  if (const std::string unknown = unknown_command(word, names); !unknown.empty())
    throw CLI::ParseError(unknown, kWrongUsage);
}

std::string meant_option(const CLI::App& app) {
  const std::vector<std::string> unexpected = app.remaining(true);
  if (unexpected.empty() || unexpected.front().size() < 3 || !unexpected.front().starts_with("--")) return "";
  const std::string word = unexpected.front().substr(2, unexpected.front().find('=') - 2);
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  std::vector<std::string> names;
  for (const CLI::Option* option : command->get_options())
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  const auto begun = std::ranges::find_if(
      names, [&](const std::string& name) { return name.starts_with(word) || word.starts_with(name + "-"); });
  const std::string meant = begun != names.end() ? *begun : word.size() > kShortest ? nearest_name(word, names) : "";
  return meant.empty() ? "" : "did you mean `--" + meant + "`?\n";
}

void add_shell_commands(CLI::App& app, const std::string& version, std::string& answer) {
  app.set_version_flag("-V,--version", version, "Print the version");

  struct Asked {
    std::string own_help;  // App::help() of a program that has parsed is that of its command
    std::vector<std::string> command;
    std::string shell;
  };
  const auto asked = std::make_shared<Asked>();
  CLI::App* help = app.add_subcommand("help", "Print this, or the help of a command");
  help->add_option("COMMAND", asked->command, "Words of the command");
  help->callback(
      [&app, &answer, asked] { answer = asked->command.empty() ? asked->own_help : help_of(app, asked->command); });

  CLI::App* completion = app.add_subcommand("completion", "Print a script that completes commands and options");
  completion->add_option("SHELL", asked->shell, "Shell that is to source it")
      ->required()
      ->check(CLI::IsMember(std::vector<std::string>(kShells.begin(), kShells.end())));
  completion->callback([&app, &answer, asked] { answer = completion_script(command_tree(app), asked->shell); });

  app.add_subcommand("man", "Print the manual page, for `man -l -`")->callback([&app, &answer, version] {
    answer = man_page(command_tree(app), version.substr(version.find(' ') + 1));
  });
  asked->own_help = app.help();
}

}  // namespace corun
