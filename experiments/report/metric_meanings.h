#pragma once

#include <map>
#include <string>
#include <string_view>

namespace corun::report {

/// What each metric means, from the table of docs/metrics.md, whose text is built in.
std::map<std::string, std::string> metric_meanings();
/// The same of another text: rows "| `a`, `b` | unit | of | meaning |".
std::map<std::string, std::string> read_metric_meanings(std::string_view markdown);

}  // namespace corun::report
