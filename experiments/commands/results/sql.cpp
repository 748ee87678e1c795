#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdio>

#include "experiments/commands/commands.h"
#include "experiments/results/file.h"
#include "experiments/results/row_writer.h"
#include "traces/base/streams.h"

namespace corun {

namespace {

struct SqlOptions {
  std::string file;
  std::optional<std::string> query;  ///< none = list the tables
  bool is_csv = false, is_markdown = false;
};

RowFormat format_of(const CommonOptions& common, const SqlOptions& options) {
  if (common.json) return RowFormat::kJson;
  if (options.is_csv) return RowFormat::kCsv;
  return options.is_markdown ? RowFormat::kMarkdown : RowFormat::kAligned;
}

constexpr char kCommandLine[] = "<command line>";

void to_stdout(std::string_view text) {
  put_out(text);
  if (std::ferror(stdout) != 0) throw Error(ErrorKind::kDevice, "standard output cannot be written");
}

/// The one statement of `query`, or an error at its place.
void check_statement(sqlite3* database, const std::string& query) {
  const auto refuse = [&](std::size_t at, const std::string& message) {
    Diagnostic diagnostic{"E0401", {kCommandLine, 1, 0, 0}, message};
    const std::size_t end = std::min(query.find('\n', at), query.size());
    const std::size_t begin = at == 0 ? 0 : query.rfind('\n', at - 1) + 1;
    diagnostic.where.line = static_cast<std::uint32_t>(std::count(query.begin(), query.begin() + begin, '\n') + 1);
    diagnostic.where.column = static_cast<std::uint32_t>(at - begin + 1);
    diagnostic.source_line = query.substr(begin, end - begin);
    diagnostic.help = "results are only read, one SELECT at a time; without -c the tables and columns are listed";
    throw InvalidInput({diagnostic});
  };
  sqlite3_stmt* statement = nullptr;
  const char* tail = nullptr;
  const int code = sqlite3_prepare_v2(database, query.c_str(), -1, &statement, &tail);
  const bool is_empty = statement == nullptr;
  const bool is_read_only = is_empty || sqlite3_stmt_readonly(statement) != 0;
  sqlite3_finalize(statement);
  if (code == SQLITE_AUTH || !is_read_only) refuse(0, "this would do more than read");
  if (code != SQLITE_OK)
    refuse(static_cast<std::size_t>(std::max(0, sqlite3_error_offset(database))), sqlite3_errmsg(database));
  if (is_empty) refuse(0, "there is no statement");
  const auto rest = static_cast<std::size_t>(tail - query.c_str());
  if (const std::size_t more = query.find_first_not_of(" \t\r\n;", rest); more != std::string::npos)
    refuse(more, "a second statement");
}

std::string identifier(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

void print_schema(SQLite::Database& results, RowFormat format, std::size_t width) {
  const auto writer = make_row_writer(format, {"table", "rows", "columns"}, to_stdout, width);
  SQLite::Statement table(results, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid");
  while (table.executeStep()) {
    const std::string name = table.getColumn(0);
    const std::int64_t rows = results.execAndGet("SELECT count(*) FROM " + identifier(name)).getInt64();
    writer->row({name, rows, fmt::format("{}", fmt::join(columns_of(results, name), ", "))});
  }
  writer->end();
}

int sql_command(const CommonOptions& common, const SqlOptions& options) {
  const RowFormat format = format_of(common, options);
  const auto results = open_results(options.file);
  unbound_steps(*results);
  if (options.query) check_statement(results->getHandle(), *options.query);
  try {
    if (options.query) {
      SQLite::Statement statement(*results, *options.query);
      write_rows(statement, format, to_stdout, common.out.table_width());
    } else {
      print_schema(*results, format, common.out.table_width());
    }
  } catch (const SQLite::Exception& failure) {
    throw_input({options.file}, "{}", reason(failure));
  }
  return 0;
}

}  // namespace

void add_sql(Commands& commands) {
  auto [command, options] = commands.add("sql", "Query a results file in SQL (read-only)", &sql_command);
  command.option("RESULTS", &options.file, "Results file (SQLite)").required();
  command.option("-c,--command", &options.query, "One SELECT; the tables and their columns are listed if not given")
      .shows_value("SQL");
  command.flag("--csv", &options.is_csv, "Print CSV");
  command.flag("--markdown", &options.is_markdown, "Print a Markdown table").excludes("--csv");
}

}  // namespace corun
