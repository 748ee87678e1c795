#include "experiments/base/diagnostic.h"

#include <algorithm>
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

/// The three lines around the source line, its place underlined.
std::string excerpt(const Diagnostic& diagnostic, const std::string& margin, bool with_color) {
  const SourceLocation& where = diagnostic.where;
  const std::string bar = paint(kBlue, "|", with_color);
  std::string underline(where.column == 0 ? 0 : where.column - 1, ' ');
  std::string carets(std::max<std::uint32_t>(where.length, 1), '^');
  if (!diagnostic.label.empty()) carets += " " + printable(diagnostic.label);
  std::string text = fmt::format("{} {}\n", margin, bar);
  text += fmt::format("{:>{}} {} {}\n", where.line, margin.size(), bar, printable(diagnostic.source_line));
  text += fmt::format("{} {} {}{}\n", margin, bar, underline, paint(kRed, carets, with_color));
  return text;
}

}  // namespace

std::string render(const Diagnostic& diagnostic, DiagnosticStyle style, bool with_color) {
  const std::string where = printable(diagnostic.where.to_string());
  const std::string message = printable(diagnostic.message);
  if (style == DiagnosticStyle::kShort) {
    const std::string label = diagnostic.label.empty() ? "" : " (" + printable(diagnostic.label) + ")";
    return fmt::format("{}{}error[{}]: {}{}\n", where, where.empty() ? "" : ": ", diagnostic.code, message, label);
  }
  const std::string margin(std::max<std::size_t>(2, fmt::formatted_size("{}", diagnostic.where.line)), ' ');
  std::string text = paint(kRed, fmt::format("error[{}]", diagnostic.code), with_color);
  text += paint(kBold, ": " + message, with_color) + "\n";
  if (!where.empty()) text += fmt::format("{}{} {}\n", margin, paint(kBlue, "-->", with_color), where);
  const bool has_excerpt = !diagnostic.source_line.empty() && diagnostic.where.column > 0;
  if (has_excerpt) text += excerpt(diagnostic, margin, with_color);
  if (!has_excerpt && !diagnostic.label.empty())
    text += fmt::format("{} = help: {}\n", margin, printable(diagnostic.label));
  for (const std::string& note : diagnostic.notes) text += fmt::format("{} = note: {}\n", margin, printable(note));
  if (!diagnostic.help.empty()) text += fmt::format("{} = help: {}\n", margin, printable(diagnostic.help));
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

void Diagnostics::keep(Diagnostic diagnostic) {
  const auto is_same = [&](const Diagnostic& known) {
    return known.message == diagnostic.message && known.where.to_string() == diagnostic.where.to_string();
  };
  // What several scenarios share is read once for each of them, and reported once.
  if (std::ranges::any_of(found_, is_same)) return;
  if (diagnostic.source_line.empty()) diagnostic.source_line = line_of(diagnostic.where);
  found_.push_back(std::move(diagnostic));
}

void Diagnostics::add(const Error& error, const SourceLocation& where) {
  Diagnostic diagnostic = to_diagnostic(error);
  const bool has_place = !diagnostic.where.file.empty();
  if (!has_place) diagnostic.where = where;
  kind_ = !kind_ || *kind_ == error.kind() ? error.kind() : ErrorKind::kInput;
  keep(std::move(diagnostic));
}

void Diagnostics::throw_if_any() const {
  if (found_.empty()) return;
  std::vector<Diagnostic> sorted = found_;
  const auto place = [&](const Diagnostic& d) {
    const auto file = std::ranges::find(files_, d.where.file) - files_.begin();
    return std::tuple(file, d.where.line, d.where.column);
  };
  std::ranges::stable_sort(sorted, {}, place);
  const std::size_t shown = std::min(sorted.size(), kMaxShown);
  const std::size_t suppressed = sorted.size() - shown;
  sorted.resize(shown);
  throw InvalidInput(std::move(sorted), suppressed, *kind_);
}

}  // namespace corun
