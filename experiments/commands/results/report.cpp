#include "experiments/report/report.h"

#include "experiments/commands/commands.h"
#include "experiments/commands/output_file.h"

namespace corun {

namespace {

struct ReportOptions {
  std::vector<std::string> files;
  std::string baseline;  ///< policy; "" = the first of the results
  std::string output;
  bool overwrite = false;
};

int report_command(const CommonOptions& common, const ReportOptions& options) {
  const std::string page = make_report(options.files, {options.baseline, "simcli " + quoted(common.arguments)});
  write_output(common, options.output, page, options.overwrite, "; any browser opens it, offline");
  return 0;
}

}  // namespace

void add_report(Commands& commands) {
  auto [command, options] =
      commands.add("report", "Write a report on results as one HTML file with figures", &report_command);
  command.option("RESULTS", &options.files, "Results files (SQLite)").required();
  command.option("-o,--output", &options.output, "Where to write: r.html; - is standard output").required();
  command.option("--baseline", &options.baseline, "Policy to compare with; the first one if not given");
  command.flag("-f,--force", &options.overwrite, "Replace an existing file");
}

}  // namespace corun
