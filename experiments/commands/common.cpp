#include <fmt/format.h>

#include "experiments/commands/commands.h"
#include "experiments/yaml.h"
#include "policies/builtin.h"

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

int report_error(const CommonOptions& common, const Error& error) {
  std::vector<Diagnostic> diagnostics = {to_diagnostic(error)};
  std::size_t suppressed = 0;
  if (const auto* invalid = dynamic_cast<const InvalidInput*>(&error)) {
    diagnostics = invalid->diagnostics();
    suppressed = invalid->suppressed();
  }
  const bool is_full = common.diagnostics == DiagnosticStyle::kFull;
  for (Diagnostic& diagnostic : diagnostics) {
    add_source_line(diagnostic);
    fmt::print(stderr, "{}{}", render(diagnostic, common.diagnostics, common.err.has_color), is_full ? "\n" : "");
  }
  if (suppressed > 0) fmt::print(stderr, "{} more errors are not shown\n", suppressed);
  return static_cast<int>(error.kind());
}

PolicyRegistry builtin_policies() {
  PolicyRegistry policies;
  add_builtin_policies(policies);
  return policies;
}

}  // namespace corun
