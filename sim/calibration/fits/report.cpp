#include "sim/calibration/fits/report.h"

#include <fmt/format.h>

#include <algorithm>

namespace corun::calibration {

namespace {

std::string row(const std::vector<std::string>& cells) { return fmt::format("| {} |\n", fmt::join(cells, " | ")); }

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::string text = row(rows.front()) + row(std::vector<std::string>(rows.front().size(), "---"));
  for (std::size_t i = 1; i < rows.size(); ++i) text += row(rows[i]);
  return text + "\n";
}

std::string percent(double ratio) { return fmt::format("{:+.1f} %", 100 * ratio); }

std::string values(const std::vector<Finding>& findings) {
  std::vector<std::vector<std::string>> rows = {{"what", "value", "spread", "samples", "key of the device file"}};
  for (const Finding& f : findings)
    rows.push_back({f.title, value_text(f), spread_text(f), f.value.count > 0 ? std::to_string(f.value.count) : "",
                    f.key.empty() ? "" : "`" + f.key + "`"});
  return table(rows);
}

std::string comparisons(const Finding& finding) {
  if (finding.comparisons.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"situation", "measured", "model", "residual"}};
  for (const auto& [name, prediction] : finding.comparisons.front().nulls) rows.front().push_back(name);
  for (const Comparison& c : finding.comparisons) {
    std::vector<std::string>& cells = rows.emplace_back();
    cells = {c.situation, text_of(c.measured, finding.compared_in), text_of(c.model, finding.compared_in),
             percent(Comparison::error(c.model, c.measured))};
    for (const auto& [name, prediction] : c.nulls) cells.push_back(percent(Comparison::error(prediction, c.measured)));
  }
  std::string text = table(rows);
  for (const ModelError& error : model_errors(finding.comparisons))
    text += fmt::format("{}: mean {:.1f} %, worst {:.1f} %  \n", error.model, 100 * error.mean, 100 * error.worst);
  return text + "\n";
}

std::string section(const Finding& finding) {
  std::string text = fmt::format("## {}\n\n{}", finding.title, value_text(finding));
  if (const std::string spread = spread_text(finding); !spread.empty()) text += fmt::format(" ({})", spread);
  text += fmt::format(": {}.\n\n", finding.method);
  for (const std::string& note : finding.notes) text += fmt::format("* {}\n", note);
  return text + (finding.notes.empty() ? "" : "\n") + comparisons(finding);
}

bool is_plain(const Finding& finding) { return finding.comparisons.empty() && finding.notes.empty(); }

}  // namespace

std::string fit_report(const Calibration& calibration) {
  std::string text = fmt::format("# Calibration of {}\n\n", calibration.device.name);
  if (!calibration.findings.empty()) text += values(calibration.findings);
  for (const Finding& finding : calibration.findings)
    if (!is_plain(finding)) text += section(finding);
  if (!calibration.failures.empty()) text += "## What was not measured\n\n";
  for (const std::string& failure : calibration.failures) text += fmt::format("* {}\n", failure);
  return text;
}

}  // namespace corun::calibration
