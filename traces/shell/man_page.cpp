#include "traces/shell/man_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace corun {

namespace {

/// Text as it is: no character of it is an instruction to the formatter.
std::string plain(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    const bool begins_line = escaped.empty() || escaped.back() == '\n';
    if (begins_line && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else {
      escaped += c == '-' ? "\\-" : std::string(1, c);
    }
  }
  return escaped;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string words_of(const ShellCommand& command) { return fmt::format("{}", fmt::join(command.path, " ")); }

std::string option_entry(const ShellOption& option) {
  std::string names;
  for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + ("\\fB" + plain(name) + "\\fR");
  const std::string value = option.value.empty() || option.is_positional ? "" : " \\fI" + plain(option.value) + "\\fR";
  const std::string words = option.words.empty() ? "" : fmt::format(" ({})", fmt::join(option.words, ", "));
  return fmt::format(".TP\n{}{}\n{}{}{}\n", names, value, plain(option.description), plain(words),
                     option.is_required ? " (required)" : "");
}

std::string entries(const ShellCommand& command) {
  std::string text;
  for (const ShellOption& option : command.options) text += option_entry(option);
  return text;
}

std::string section(const ShellCommand& command) {
  std::string text;
  if (command.commands.empty()) {
    text += fmt::format(".SS \"{}\"\n{}.\n{}", plain(words_of(command)), plain(command.description), entries(command));
    if (!command.footer.empty()) text += fmt::format(".PP\n{}\n", plain(command.footer));
  }
  for (const ShellCommand& below : command.commands) text += section(below);
  return text;
}

}  // namespace

std::string man_page(const ShellCommand& program, const std::string& version) {
  std::string text = fmt::format(".TH {} 1 \"\" \"Corun {}\" \"Corun\"\n.SH NAME\n{} \\- {}\n", upper(program.name()),
                                 version, program.name(), plain(program.description));
  text += fmt::format(
      ".SH SYNOPSIS\n\\fB{}\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH OPTIONS\n{}.SH COMMANDS\nEach has \\fB\\-h\\fR, "
      "too.\n",
      program.name(), entries(program));
  for (const ShellCommand& command : program.commands) text += section(command);
  if (!program.footer.empty()) text += fmt::format(".SH NOTES\n{}\n", plain(program.footer));
  return text;
}

}  // namespace corun
