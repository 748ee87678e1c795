#include "traces/shell/completions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace corun {

namespace {

void each_command(const ShellCommand& command, const auto& visit) {
  visit(command);
  for (const ShellCommand& below : command.commands) each_command(below, visit);
}

/// " policy list" of "simcli policy list"; "" of the program.
std::string below_program(const ShellCommand& command) {
  std::string text;
  for (std::size_t i = 1; i < command.path.size(); ++i) text += " " + command.path[i];
  return text;
}

std::string candidates(const ShellCommand& command) {
  std::vector<std::string> words;
  for (const ShellCommand& below : command.commands) words.push_back(below.name());
  for (const ShellOption& option : command.options) {
    if (option.is_positional) words.insert(words.end(), option.words.begin(), option.words.end());
    if (!option.is_positional) words.push_back(option.names.back());
  }
  return fmt::format("{}", fmt::join(words, " "));
}

/// Patterns of a `case` on the command and the word before: those after which a value stands.
std::string value_cases(const ShellCommand& program) {
  std::string text;
  each_command(program, [&](const ShellCommand& command) {
    for (const ShellOption& option : command.options) {
      if (option.value.empty() || option.is_positional) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names)
        patterns.push_back(fmt::format("'{} {}'", below_program(command), name));
      text +=
          fmt::format("    {}) words='{}' is_value=yes ;;\n", fmt::join(patterns, "|"), fmt::join(option.words, " "));
    }
  });
  return text;
}

std::string path_cases(const ShellCommand& program) {
  std::string text;
  each_command(program, [&](const ShellCommand& command) {
    if (const std::string path = below_program(command); !path.empty())
      text += fmt::format("      '{0}') path='{0}' ;;\n", path);
  });
  return text;
}

std::string word_cases(const ShellCommand& program) {
  std::string text;
  each_command(program, [&](const ShellCommand& command) {
    text += fmt::format("    '{}') words='{}' ;;\n", below_program(command), candidates(command));
  });
  return text;
}

std::string for_bash(const ShellCommand& program) {
  return fmt::format(R"(# Completion of {0} for bash: `source <({0} completion bash)`, or a file in
# ~/.local/share/bash-completion/completions.
_{0}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} path='' words='' is_value='' word
  for word in "${{COMP_WORDS[@]:1:$((COMP_CWORD-1))}}"; do
    case "$path $word" in
{1}    esac
  done
  case "$path $before" in
{2}  esac
  [ -n "$is_value" ] || case "$path" in
{3}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _{0} {0}
)",
                     program.name(), path_cases(program), value_cases(program), word_cases(program));
}

std::string for_zsh(const ShellCommand& program) {
  return fmt::format(
      "#compdef {0}\n# Completion of {0} for zsh: `source <({0} completion zsh)` behind compinit, by way of bash's.\n"
      "autoload -U +X bashcompinit && bashcompinit\n{1}",
      program.name(), for_bash(program));
}

std::string fish_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? ' ' : c;
  }
  return quoted + "'";
}

/// Holds where exactly these commands were written.
std::string fish_condition(const ShellCommand& command) {
  std::vector<std::string> parts;
  for (std::size_t i = 1; i < command.path.size(); ++i)
    parts.push_back("__fish_seen_subcommand_from " + command.path[i]);
  std::vector<std::string> below;
  for (const ShellCommand& one : command.commands) below.push_back(one.name());
  if (!below.empty()) parts.push_back(fmt::format("not __fish_seen_subcommand_from {}", fmt::join(below, " ")));
  return fmt::format("{}", fmt::join(parts, "; and "));
}

std::string fish_option(const ShellCommand& command, const ShellOption& option) {
  std::string line = fmt::format("complete -c {} -n '{}'", command.path.front(), fish_condition(command));
  for (const std::string& name : option.names) {
    if (!option.is_positional) line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.words.empty()) line += fmt::format(" -xa '{}'", fmt::join(option.words, " "));
  if (option.words.empty() && !option.value.empty()) line += " -r";
  return line + " -d " + fish_quoted(option.description) + "\n";
}

std::string for_fish(const ShellCommand& program) {
  std::string text = fmt::format(
      "# Completion of {0} for fish: `{0} completion fish > ~/.config/fish/completions/{0}.fish`.\n", program.name());
  each_command(program, [&](const ShellCommand& command) {
    for (const ShellCommand& below : command.commands)
      text += fmt::format("complete -c {} -n '{}' -fa {} -d {}\n", program.name(), fish_condition(command),
                          below.name(), fish_quoted(below.description));
    for (const ShellOption& option : command.options)
      if (!option.is_positional || !option.words.empty()) text += fish_option(command, option);
  });
  return text;
}

}  // namespace

std::string completion_script(const ShellCommand& program, std::string_view shell) {
  if (shell == "fish") return for_fish(program);
  return shell == "zsh" ? for_zsh(program) : for_bash(program);
}

}  // namespace corun
