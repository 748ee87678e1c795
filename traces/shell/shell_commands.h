#pragma once

#include <string>

namespace CLI {
class App;
}

namespace corun {

/// Throws CLI::ParseError, which names the nearest, where `word` is none of the app's commands; an option passes.
void check_command(const CLI::App& app, const std::string& word);

/// A line for people after a parse that failed: "did you mean `--output`?" where the first word that was not expected
/// is the begin of an option of the command, goes on behind one, or is near one; else "".
std::string meant_option(const CLI::App& app);

/// Adds what a program of Corun has besides its own commands: `help [COMMAND...]`, `completion SHELL` and `man`, and
/// the flags `-V,--version`. `version` is "simcli 0.1.0". To be called once all commands of `app` have been added.
/// `answer` must outlive the app; after app.parse() it holds what is to be printed on stdout where one of these
/// commands was asked for, else nothing.
///
/// A word that is no command or no shell ends the parsing by CLI::ParseError.
void add_shell_commands(CLI::App& app, const std::string& version, std::string& answer);

}  // namespace corun
