#include "experiments/report/report.h"

#include <fmt/format.h>

#include "experiments/commands/commands.h"
#include "experiments/base/json.h"
#include "traces/base/write_file.h"

namespace corun {

int report_command(const CommonOptions& common, const ReportOptions& options) {
  const std::string page = make_report(options.files, {options.baseline, "simcli " + options.arguments});
  write_file(options.output, page, options.overwrite);
  if (common.json) {
    Json json;
    json.object().field("schema_version", 1).field("output", options.output).field("bytes", page.size()).end();
    fmt::print("{}\n", json.text());
  } else {
    fmt::print("written to   {} ({} bytes); any browser opens it, offline\n", printable(options.output), page.size());
  }
  return 0;
}

}  // namespace corun
