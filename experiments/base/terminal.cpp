#include "experiments/base/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "traces/base/writing_direction.h"

namespace corun {

namespace {

/// Length of the UTF-8 sequence at the front of `text`; 0 if it is not one.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(0) < 0x80   ? 1
                             : byte(0) < 0xC2 ? 0
                             : byte(0) < 0xE0 ? 2
                             : byte(0) < 0xF0 ? 3
                             : byte(0) < 0xF5 ? 4
                                              : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  return length;
}

bool is_control(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first < 0x20 || first == 0x7F;
  return (first == 0xC2 && static_cast<unsigned char>(sequence[1]) < 0xA0) || turns_direction(sequence);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(sequence_length(text), 1);
    const std::string_view sequence = text.substr(0, length);
    const bool is_valid = sequence_length(text) > 0;
    if (sequence == "\t") {
      safe += ' ';
    } else if (is_valid && !is_control(sequence)) {
      safe += sequence;
    } else {
      for (const char c : sequence) safe += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    text.remove_prefix(length);
  }
  return safe;
}

std::string fact_line(std::string_view label, std::string_view text) {
  return fmt::format("{:<{}} {}\n", label, kFactIndent - 1, printable(text));
}

std::string as_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    valid += length > 0 ? text.substr(0, length) : "\uFFFD";
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return valid;
}

std::string shell_quoted(const std::string& argument) {
  const bool is_plain =
      !argument.empty() && argument.find_first_of(" \t\n\"'\\$*?[]{}()<>|&;#~`!") == std::string::npos;
  if (is_plain) return argument;
  std::string text = "'";
  for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::size_t byte_of_character(std::string_view text, std::size_t characters) {
  std::size_t byte = 0;
  for (; characters > 0 && byte < text.size(); --characters)
    byte += std::max<std::size_t>(sequence_length(text.substr(byte)), 1);
  return byte;
}

std::size_t begin_of_character(std::string_view text, std::size_t byte) {
  const auto is_inside = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
  const std::size_t first = byte < 4 ? 0 : byte - 3;
  for (std::size_t at = byte; at > first && at < text.size(); --at)
    if (!is_inside(at)) return at;
  return byte;
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

Terminal inspect_terminal(int fd, const TerminalWishes& wishes) {
  Terminal terminal;
  terminal.is_interactive = isatty(fd) == 1;
  terminal.has_color = terminal.is_interactive && wishes.allows_color;
  winsize size{};
  if (terminal.is_interactive && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) terminal.width = size.ws_col;
  if (wishes.width > 0) terminal.width = wishes.width;
  return terminal;
}

}  // namespace corun
