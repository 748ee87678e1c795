#include "tracer/record/host/terminal.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "traces/base/streams.h"
#include "traces/base/writing_direction.h"

namespace corun::record {

namespace {

constexpr std::string_view kRed = "\033[1;31m", kYellow = "\033[1;33m", kBold = "\033[1m", kPlain = "\033[0m";

std::string paint(std::string_view color, std::string_view text, bool with_color) {
  return with_color ? fmt::format("{}{}{}", color, text, kPlain) : std::string(text);
}

std::string_view code_of(ErrorKind kind) {
  if (kind == ErrorKind::kInput) return "E0400";
  return kind == ErrorKind::kUnsupported ? "E0500" : "E0600";
}

/// Bytes of the character that the text begins with; 0 where that is no printable one.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return byte(0) >= 0x20 && byte(0) != 0x7F ? 1 : 0;
  const std::size_t length = byte(0) < 0xC2 ? 0 : byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : byte(0) < 0xF5 ? 4 : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const bool is_control = byte(0) == 0xC2 && byte(1) < 0xA0;
  return is_control || turns_direction(text.substr(0, length)) ? 0 : length;
}

template <class Escape>
std::string escaped(std::string_view text, Escape escape) {
  std::string safe;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    safe += length > 0 ? std::string(text.substr(0, length)) : escape(static_cast<unsigned char>(text[0]));
    text.remove_prefix(length > 0 ? length : 1);
  }
  return safe;
}

}  // namespace

Terminal inspect_stderr() {
  const char* kind = std::getenv("TERM");
  const bool is_dumb = kind != nullptr && std::string_view(kind) == "dumb";
  Terminal terminal;
  terminal.is_interactive = ::isatty(STDERR_FILENO) == 1;
  const char* no_color = std::getenv("NO_COLOR");
  const bool is_plain = is_dumb || (no_color != nullptr && *no_color != '\0');
  terminal.has_color = terminal.is_interactive && !is_plain;
  return terminal;
}

std::string printable(std::string_view text) {
  return escaped(text, [](unsigned char byte) { return byte == '\t' ? " " : fmt::format("\\x{:02x}", byte); });
}

std::string render(const Error& error, bool with_color) {
  std::string text = paint(kRed, fmt::format("error[{}]", code_of(error.kind())), with_color);
  text += paint(kBold, ": " + printable(error.message()), with_color) + "\n";
  const std::string where = printable(error.where().to_string());
  if (!where.empty()) text += fmt::format("  --> {}\n", where);
  if (!error.help().empty()) text += fmt::format("   = help: {}\n", printable(error.help()));
  return text;
}

void warn(const Terminal& terminal, std::string_view sentence) {
  print_err("{}: {}\n", paint(kYellow, "warning", terminal.has_color), printable(sentence));
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"kB", "MB", "GB", "TB"};
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double number = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  for (; number >= 999.5 && unit + 1 < std::size(kUnits); ++unit) number /= 1000;
  return number < 9.95 ? fmt::format("{:.1f} {}", number, kUnits[unit])
                       : fmt::format("{:.0f} {}", number, kUnits[unit]);
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string json_text(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return '"' + escaped(quoted, [](unsigned char byte) { return fmt::format("\\u{:04x}", byte); }) + '"';
}

}  // namespace corun::record
