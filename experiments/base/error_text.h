#pragma once

#include <string>
#include <vector>

#include "experiments/base/diagnostic.h"

namespace corun {

/// Everything that an error says, each with the line of its file where that can be read.
std::vector<Diagnostic> diagnostics_of(const Error& error);
/// The text of an error that says `diagnostics`.
std::string render(const Error& error, const std::vector<Diagnostic>& diagnostics, DiagnosticStyle style,
                   bool with_color);

}  // namespace corun
