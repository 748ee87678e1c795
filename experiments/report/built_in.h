#pragma once

#include <string_view>

namespace corun::report {

/// Files of the repository that the program holds: the page's style and script, and docs/metrics.md.
std::string_view built_in_style();
std::string_view built_in_script();
std::string_view built_in_metrics();

}  // namespace corun::report
