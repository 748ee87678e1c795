#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "experiments/base/built_in_files.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/output_file.h"
#include "experiments/commands/results/python_script.h"
#include "experiments/commands/results/run_timeline.h"
#include "experiments/results/file.h"
#include "experiments/results/row_writer.h"
#include "experiments/results/run_tracks.h"
#include "traces/base/write_file.h"

namespace corun {

namespace {

struct ExportOptions {
  TimelineChoice timeline;  ///< of rows too, whose run is optional: none = the rows of all
  std::string table;        ///< of results; "" = a timeline
  std::string python = "python3";
  std::string output;
  std::string format;  ///< as an ending without its dot; "" = the ending of `output`
  bool overwrite = false;

  /// A name whose ending says the format.
  std::string named() const { return format.empty() ? output : "-." + format; }
};

constexpr char kPyarrow[] =
    "`pip install pyarrow` (extra `arrow` of corun) and name that Python with --python, or "
    "write .csv or .jsonl, which need none";

/// The rows of a table, of one run or of all; what belongs to a run says first which run that is.
std::string query_of(SQLite::Database& results, const ExportOptions& options) {
  const std::vector<std::string> columns = columns_of(results, options.table);
  if (columns.empty()) {
    std::string tables;
    SQLite::Statement table(results, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid");
    while (table.executeStep()) tables += (tables.empty() ? "" : ", ") + table.getColumn(0).getString();
    throw Error(ErrorKind::kInput, {options.timeline.file}, fmt::format("there is no table `{}`", options.table),
                "there are: " + tables);
  }
  const std::string quoted = "\"" + options.table + "\"";
  const bool has_run = std::ranges::find(columns, "run") != columns.end();
  if (!has_run) {
    if (!options.timeline.run.empty() && options.table != "runs")
      throw_input({options.timeline.file}, "table `{}` does not belong to runs: leave --run out", options.table);
    return fmt::format("SELECT * FROM {}{} ORDER BY rowid", quoted,
                       options.timeline.run.empty() ? "" : " WHERE id = ?1");
  }
  return fmt::format(
      "SELECT runs.scenario AS run_scenario, runs.policy AS run_policy, runs.seed AS run_seed, {0}.* FROM {0} LEFT "
      "JOIN "
      "runs ON runs.id = {0}.run{1} ORDER BY {0}.rowid",
      quoted, options.timeline.run.empty() ? "" : fmt::format(" WHERE {}.run = ?1", quoted));
}

std::string rows(SQLite::Database& results, const std::string& query, const std::string& run, RowFormat format) {
  SQLite::Statement statement(results, query);
  if (!run.empty()) statement.bind(1, run);
  std::string text;
  write_rows(statement, format, [&](std::string_view part) { text += part; });
  return text;
}

void write_parquet(const ExportOptions& options, const std::string& query, const std::string& run) {
  if (options.output == kStandardOutput)
    throw Error(ErrorKind::kInput, {options.output}, "Parquet is not written to standard output", "name a file");
  write_file_by(options.output, options.overwrite, [&](const std::string& part) {
    const int code =
        run_python(options.python, parquet_script(), {options.timeline.file, query, run, part}, "", kPyarrow);
    if (code == static_cast<int>(ErrorKind::kUnsupported))
      throw Error(ErrorKind::kUnsupported, SourceLocation{}, "Parquet is written by pyarrow, which is missing",
                  kPyarrow);
    if (code != 0)
      throw Error(ErrorKind::kDevice, {options.output}, fmt::format("writing Parquet failed (exit code {})", code));
  });
}

void export_table(const CommonOptions& common, const ExportOptions& options) {
  const auto results = open_results(options.timeline.file);
  const std::string query = query_of(*results, options);
  const std::string run =
      options.timeline.run.empty() ? "" : find_run(*results, options.timeline.file, options.timeline.run).id;
  const std::string ending = ending_of(options.named());
  if (ending == ".parquet") {
    write_parquet(options, query, run);
    return say_written(common, options.output, "");
  }
  constexpr std::array<std::pair<std::string_view, RowFormat>, 4> kFormats = {{{".csv", RowFormat::kCsv},
                                                                               {".jsonl", RowFormat::kJsonLines},
                                                                               {".json", RowFormat::kJson},
                                                                               {".md", RowFormat::kMarkdown}}};
  const auto format = std::ranges::find(kFormats, ending, &std::pair<std::string_view, RowFormat>::first);
  if (format == kFormats.end())
    refuse_ending(options.named(), "tables are written as .parquet, .csv, .jsonl, .json or .md");
  write_output(common, options.output, rows(*results, query, run, format->second), options.overwrite, "");
}

int export_command(const CommonOptions& common, const ExportOptions& options) {
  if (options.output == kStandardOutput && options.format.empty())
    throw Error(ErrorKind::kInput, {options.output}, "standard output has no ending that names a format",
                "state it: --format csv");
  if (options.table.empty()) {
    write_output(common, options.output, encode_timeline(options.timeline, options.named()), options.overwrite,
                 "; open it at https://ui.perfetto.dev");
  } else {
    reading(options.timeline.file, [&] { export_table(common, options); });
  }
  return 0;
}

}  // namespace

void add_export(Commands& commands) {
  auto [command, options] =
      commands.add("export", "Write a capture or a run as a timeline, or results as tables", &export_command);
  add_timeline_options(command, options.timeline);
  command
      .option("-o,--output", &options.output,
              "x.pftrace, x.json; tables: x.parquet, .csv, .jsonl, .json, .md; - is standard output")
      .required();
  command.option("--format", &options.format, "csv, json, ...: the format, where the name does not end in it");
  command.option("--table", &options.table, "Table of the results: frames, metrics, ... (simcli sql lists them)");
  command.option("--python", &options.python, "Python with pyarrow, which writes Parquet").shows_default("python3");
  command.flag("-f,--force", &options.overwrite, "Replace an existing file");
}

}  // namespace corun
