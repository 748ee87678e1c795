#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "experiments/base/built_in_files.h"
#include "experiments/results/chrome_trace.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/python_script.h"
#include "experiments/base/json.h"
#include "experiments/results/file.h"
#include "experiments/results/run_tracks.h"
#include "traces/base/write_file.h"
#include "traces/exporters/perfetto.h"
#include "traces/reader.h"

namespace corun {

namespace {

constexpr char kPyarrow[] =
    "`pip install pyarrow` (extra `arrow` of corun) and name that Python with --python, or "
    "write .csv or .jsonl, which need none";

std::string ending_of(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending;
}

[[noreturn]] void refuse_ending(const std::string& path, const char* expected) {
  throw Error(ErrorKind::kInput, {path}, fmt::format("`{}` names no format", ending_of(path)), expected);
}

std::string encode(const Tracks& tracks, const std::string& output) {
  if (ending_of(output) == ".json") return encode_chrome(tracks);
  if (ending_of(output) == ".pftrace" || ending_of(output) == ".perfetto-trace") return encode_perfetto(tracks);
  refuse_ending(output, "timelines are written as .pftrace (Perfetto) or .json (Chrome); tables need --table");
}

/// The rows of a table, of one run or of all; what belongs to a run says first which run that is.
std::string query_of(SQLite::Database& results, const ExportOptions& options) {
  const std::vector<std::string> columns = columns_of(results, options.table);
  if (columns.empty()) {
    std::string tables;
    SQLite::Statement table(results, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid");
    while (table.executeStep()) tables += (tables.empty() ? "" : ", ") + table.getColumn(0).getString();
    throw Error(ErrorKind::kInput, {options.file}, fmt::format("there is no table `{}`", options.table),
                "there are: " + tables);
  }
  const std::string quoted = "\"" + options.table + "\"";
  const bool has_run = std::ranges::find(columns, "run") != columns.end();
  if (!has_run) {
    if (!options.run.empty() && options.table != "runs")
      throw_input({options.file}, "table `{}` does not belong to runs: leave --run out", options.table);
    return fmt::format("SELECT * FROM {}{} ORDER BY rowid", quoted, options.run.empty() ? "" : " WHERE id = ?1");
  }
  return fmt::format(
      "SELECT runs.scenario AS run_scenario, runs.policy AS run_policy, runs.seed AS run_seed, {0}.* FROM {0} LEFT "
      "JOIN "
      "runs ON runs.id = {0}.run{1} ORDER BY {0}.rowid",
      quoted, options.run.empty() ? "" : fmt::format(" WHERE {}.run = ?1", quoted));
}

std::string rows(SQLite::Database& results, const std::string& query, const std::string& run, RowFormat format) {
  SQLite::Statement statement(results, query);
  if (!run.empty()) statement.bind(1, run);
  std::string text;
  write_rows(statement, format, [&](std::string_view part) { text += part; });
  return text;
}

void write_parquet(const ExportOptions& options, const std::string& query, const std::string& run) {
  write_file_by(options.output, options.overwrite, [&](const std::string& part) {
    const int code = run_python(options.python, parquet_script(), {options.file, query, run, part}, "", kPyarrow);
    if (code == static_cast<int>(ErrorKind::kUnsupported))
      throw Error(ErrorKind::kUnsupported, SourceLocation{}, "Parquet is written by pyarrow, which is missing",
                  kPyarrow);
    if (code != 0)
      throw Error(ErrorKind::kDevice, {options.output}, fmt::format("writing Parquet failed (exit code {})", code));
  });
}

void export_table(const ExportOptions& options) {
  const auto results = open_results(options.file);
  const std::string query = query_of(*results, options);
  const std::string run = options.run.empty() ? "" : find_run(*results, options.file, options.run).id;
  const std::string ending = ending_of(options.output);
  if (ending == ".parquet") return write_parquet(options, query, run);
  constexpr std::array<std::pair<std::string_view, RowFormat>, 4> kFormats = {{{".csv", RowFormat::kCsv},
                                                                               {".jsonl", RowFormat::kJsonLines},
                                                                               {".json", RowFormat::kJson},
                                                                               {".md", RowFormat::kMarkdown}}};
  const auto format = std::ranges::find(kFormats, ending, &std::pair<std::string_view, RowFormat>::first);
  if (format == kFormats.end())
    refuse_ending(options.output, "tables are written as .parquet, .csv, .jsonl, .json or .md");
  write_file(options.output, rows(*results, query, run, format->second), options.overwrite);
}

}  // namespace

std::string encode_timeline(const std::string& file, const std::string& run, const std::string& output) {
  const bool is_of_results = !run.empty() || holds_results(file);
  if (!is_of_results) return encode(TimelineTracks(load_timeline(file)), output);
  const auto results = open_results(file);
  return encode(RunTracks(*results, find_run(*results, file, run)), output);
}

int export_command(const CommonOptions& common, const ExportOptions& options) {
  if (options.table.empty()) {
    write_file(options.output, encode_timeline(options.file, options.run, options.output), options.overwrite);
  } else {
    export_table(options);
  }
  const auto bytes = std::filesystem::file_size(options.output);
  if (common.json) {
    Json json;
    json.object().field("schema_version", 1).field("output", options.output).field("bytes", bytes).end();
    fmt::print("{}\n", json.text());
  } else {
    fmt::print("written to   {} ({} bytes){}\n", printable(options.output), bytes,
               options.table.empty() ? "; open it at https://ui.perfetto.dev" : "");
  }
  return 0;
}

}  // namespace corun
