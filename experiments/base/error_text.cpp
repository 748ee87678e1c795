#include "experiments/base/error_text.h"

#include "experiments/base/yaml.h"

namespace corun {

namespace {

/// Errors found after reading know their place and not the text there.
void add_source_line(Diagnostic& diagnostic) {
  if (!diagnostic.source_line.empty() || diagnostic.where.line == 0 || diagnostic.where.column == 0) return;
  try {
    Diagnostics lines;
    lines.add_source(diagnostic.where.file, read_text_file(diagnostic.where.file));
    diagnostic.source_line = lines.line_of(diagnostic.where);
  } catch (const Error&) {
    // The file is not there any more, or is no text: the place alone has to do.
  }
}

}  // namespace

std::vector<Diagnostic> diagnostics_of(const Error& error) {
  const auto* invalid = dynamic_cast<const InvalidInput*>(&error);
  std::vector<Diagnostic> diagnostics = invalid ? invalid->diagnostics() : std::vector{to_diagnostic(error)};
  for (Diagnostic& diagnostic : diagnostics) add_source_line(diagnostic);
  return diagnostics;
}

std::string render(const Error& error, const std::vector<Diagnostic>& diagnostics, DiagnosticStyle style,
                   bool with_color) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics)
    text += render(diagnostic, style, with_color) + (style == DiagnosticStyle::kFull ? "\n" : "");
  const auto* invalid = dynamic_cast<const InvalidInput*>(&error);
  const std::size_t suppressed = invalid ? invalid->suppressed() : 0;
  if (suppressed > 0) text += fmt::format("{} more errors are not shown\n", suppressed);
  return text;
}

}  // namespace corun
