#include "experiments/base/diagnostic.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "experiments/base/terminal.h"

namespace corun {

namespace {

constexpr std::string_view kRed = "\033[1;31m", kBlue = "\033[1;34m", kBold = "\033[1m", kPlain = "\033[0m";

std::string paint(std::string_view color, std::string_view text, bool with_color) {
  return with_color ? fmt::format("{}{}{}", color, text, kPlain) : std::string(text);
}

std::string_view code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInput:
      return "E0400";
    case ErrorKind::kUnsupported:
      return "E0500";
    case ErrorKind::kDevice:
      return "E0600";
    case ErrorKind::kPolicy:
      return "E0700";
  }
  return "E0000";
}

constexpr std::size_t kMostText = 2000;  // bytes of a message, or of another text
constexpr std::size_t kWidest = 160;     // characters of a source line
constexpr std::size_t kBefore = 60;      // of these, before the place, where the line is longer
constexpr std::string_view kCut = "[...]";

std::string shown(std::string_view text) {
  if (text.size() <= kMostText) return printable(text);
  return printable(text.substr(0, begin_of_character(text, kMostText))) + std::string(kCut);
}

struct Window {
  std::string line;
  std::size_t before, underlined;  ///< characters
};

/// The part of a source line that is around the place.
Window window_of(const Diagnostic& diagnostic) {
  const std::string_view line = diagnostic.source_line;
  const std::size_t before = std::max(diagnostic.where.column, 1U) - 1, length = std::max(diagnostic.where.length, 1U);
  std::size_t first = before + std::min(length, kWidest - kBefore) <= kWidest ? 0 : before - std::min(before, kBefore);
  const std::size_t begin = byte_of_character(line, first);
  const std::size_t end = begin + byte_of_character(line.substr(begin), kWidest);
  Window window{printable(line.substr(begin, end - begin)), before - first, 0};
  if (first > 0) {
    window.line = std::string(kCut) + window.line;
    window.before += kCut.size();
  }
  if (end < line.size()) window.line += kCut;
  window.underlined = std::min(length, kWidest + kCut.size() - std::min(window.before, kWidest));
  return window;
}

/// The three lines around the source line, its place underlined.
std::string excerpt(const Diagnostic& diagnostic, const std::string& margin, bool with_color) {
  const Window window = window_of(diagnostic);
  const std::string bar = paint(kBlue, "|", with_color);
  const std::string underline(window.before, ' ');
  std::string carets(window.underlined, '^');
  if (!diagnostic.label.empty()) carets += " " + shown(diagnostic.label);
  std::string text = fmt::format("{} {}\n", margin, bar);
  text += fmt::format("{:>{}} {} {}\n", diagnostic.where.line, margin.size(), bar, window.line);
  text += fmt::format("{} {} {}{}\n", margin, bar, underline, paint(kRed, carets, with_color));
  return text;
}

}  // namespace

std::string render(const Diagnostic& diagnostic, DiagnosticStyle style, bool with_color) {
  const std::string where = printable(diagnostic.where.to_string());
  const std::string message = shown(diagnostic.message);
  if (style == DiagnosticStyle::kShort) {
    const std::string label = diagnostic.label.empty() ? "" : " (" + shown(diagnostic.label) + ")";
    return fmt::format("{}{}error[{}]: {}{}\n", where, where.empty() ? "" : ": ", diagnostic.code, message, label);
  }
  const std::string margin(std::max<std::size_t>(2, fmt::formatted_size("{}", diagnostic.where.line)), ' ');
  std::string text = paint(kRed, fmt::format("error[{}]", diagnostic.code), with_color);
  text += paint(kBold, ": " + message, with_color) + "\n";
  if (!where.empty()) text += fmt::format("{}{} {}\n", margin, paint(kBlue, "-->", with_color), where);
  const bool has_excerpt = !diagnostic.source_line.empty() && diagnostic.where.column > 0;
  if (has_excerpt) text += excerpt(diagnostic, margin, with_color);
  if (!has_excerpt && !diagnostic.label.empty())
    text += fmt::format("{} = help: {}\n", margin, shown(diagnostic.label));
  for (const std::string& note : diagnostic.notes) text += fmt::format("{} = note: {}\n", margin, shown(note));
  if (!diagnostic.help.empty()) text += fmt::format("{} = help: {}\n", margin, shown(diagnostic.help));
  return text;
}

Diagnostic to_diagnostic(const Error& error) {
  return {std::string(code_of(error.kind())), error.where(), error.message(), "", {}, error.help()};
}

InvalidInput::InvalidInput(std::vector<Diagnostic> diagnostics, std::size_t suppressed, ErrorKind kind)
    : Error(kind, diagnostics.at(0).where, diagnostics.at(0).message, diagnostics.at(0).help),
      diagnostics_(std::move(diagnostics)),
      suppressed_(suppressed) {}

void Diagnostics::add_source(const std::string& file, std::string_view text) {
  if (lines_.contains(file)) return;
  files_.push_back(file);
  std::vector<std::string>& lines = lines_[file];
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string Diagnostics::line_of(const SourceLocation& where) const {
  const auto file = lines_.find(where.file);
  if (file == lines_.end() || where.line == 0 || where.line > file->second.size()) return "";
  return file->second[where.line - 1];
}

void Diagnostics::add(Diagnostic diagnostic) {
  kind_ = ErrorKind::kInput;
  keep(std::move(diagnostic));
}

// What several scenarios share is read once for each of them, and reported once.
void Diagnostics::keep(Diagnostic diagnostic) {
  const std::string place = diagnostic.where.to_string() + '\0';
  if (!known_.insert(std::hash<std::string>{}(place + diagnostic.message)).second) return;
  found_.push_back(std::move(diagnostic));
  if (found_.size() < kMostKept) return;
  sort_found();
  found_.resize(kMaxShown);
}

void Diagnostics::add(const Error& error, const SourceLocation& where) {
  Diagnostic diagnostic = to_diagnostic(error);
  const bool has_place = !diagnostic.where.file.empty();
  if (!has_place) diagnostic.where = where;
  kind_ = !kind_ || *kind_ == error.kind() ? error.kind() : ErrorKind::kInput;
  keep(std::move(diagnostic));
}

void Diagnostics::sort_found() {
  const auto place = [&](const Diagnostic& d) {
    const auto file = std::ranges::find(files_, d.where.file) - files_.begin();
    return std::tuple(file, d.where.line, d.where.column);
  };
  std::ranges::stable_sort(found_, {}, place);
}

void Diagnostics::throw_if_any() {
  if (empty()) return;
  sort_found();
  std::vector<Diagnostic> first(found_.begin(), found_.begin() + std::min(found_.size(), kMaxShown));
  for (Diagnostic& diagnostic : first)
    if (diagnostic.source_line.empty()) diagnostic.source_line = line_of(diagnostic.where);
  const std::size_t suppressed = count() - first.size();
  throw InvalidInput(std::move(first), suppressed, *kind_);
}

}  // namespace corun
