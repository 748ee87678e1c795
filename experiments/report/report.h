#pragma once

#include <string>
#include <vector>

namespace corun {

struct ReportChoice {
  std::string baseline;  ///< policy that all others are compared with; "" = the first of the results
  std::string command;   ///< how the report was asked for, shown in it
};

/// One HTML file that says what results files found: verdicts, tables with intervals, figures, single late frames, and
/// where it all comes from (docs/report.md). Several files are read as one; a run that two of them hold counts once.
///
/// The page is complete in itself: its policy for content (CSP) allows its own script and style and no request at all.
/// Every text of the files is data to it and never markup. The same files give the same bytes.
///
/// Throws Error(kInput) for what is no results file, holds no run, or has no policy of the baseline's name.
std::string make_report(const std::vector<std::string>& files, const ReportChoice& choice);

/// The text as JSON inside of a script element: no `<` and no line separator that JavaScript would take for an end.
std::string as_json_island(const std::string& json);

}  // namespace corun
