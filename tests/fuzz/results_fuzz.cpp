#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/ranges.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

#include "experiments/report/report.h"
#include "experiments/results/chrome_trace.h"
#include "experiments/results/file.h"
#include "experiments/results/run_tracks.h"
#include "experiments/results/schema.h"
#include "experiments/results/stored_runs.h"
#include "experiments/summary/compare.h"
#include "tests/fuzz/harness.h"
#include "traces/exporters/perfetto.h"

namespace corun::fuzz {
namespace {

/// A file with a path, in memory where there is a folder for such. Not of memfd_create: SQLite follows links, and those
/// of /proc lead nowhere.
class ShortLivedFile {
 public:
  explicit ShortLivedFile(std::string_view bytes) : path_(folder() / "corun-XXXXXX") {
    const int file = mkstemp(path_.data());
    promise(file >= 0 && write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
            "a file can be had");
    close(file);
  }
  ~ShortLivedFile() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  static std::filesystem::path folder() {
    const std::filesystem::path memory = "/dev/shm";
    return access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
  }

  std::string path_;
};

/// Words that rows need to belong to one another and to mean something.
constexpr std::array kWords{"a",         "b",          "game",      "load",      "device",    "passthrough",
                            "exclusive", "rate",       "fps_1low",  "fps",       "jobs/s",    "harvest_ratio",
                            "ratio",     "simulation", "frame_p99", "completed", "pilotfish", "ms",
                            "hardware",  "pair",       ""};

void bind(SQLite::Statement& row, int column, Numbers& numbers) {
  constexpr std::array kReals{0.0, -1.0, 0.5, 60.0, 1e-300, 1e300, 1.0 / 3.0};
  switch (const std::uint8_t kind = numbers.byte(); kind % 8) {
    case 0:
      return;  // NULL
    case 1:
      return row.bind(column, std::int64_t{static_cast<std::int32_t>(numbers.word())});
    case 2:
      return row.bind(column, std::int64_t{numbers.word()} << 31);
    case 3:
      return row.bind(column, kReals[numbers.byte() % kReals.size()]);
    case 4:
      return row.bind(column, std::string(numbers.take(numbers.byte() % 16)));
    default:
      return row.bind(column, std::string(kWords[kind / 8 % kWords.size()]));
  }
}

/// The tables of the schema without what they promise: any column may hold anything.
std::string loose_schema(std::vector<std::pair<std::string, int>>& tables) {
  SQLite::Database strict(":memory:", SQLite::OPEN_READWRITE);
  strict.exec(kResultsSchema);
  std::string script = fmt::format("PRAGMA page_size=512; PRAGMA application_id={}; PRAGMA user_version={};",
                                   kResultsApplicationId, kResultsVersion);
  SQLite::Statement table(strict, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid");
  while (table.executeStep()) {
    const std::vector<std::string> columns = columns_of(strict, table.getColumn(0));
    tables.emplace_back(table.getColumn(0).getString(), static_cast<int>(columns.size()));
    script += fmt::format("CREATE TABLE {}({});", tables.back().first, fmt::join(columns, ","));
  }
  return script;
}

/// In place of a table of ours something that is computed when it is read: for ever, out of itself, or otherwise.
void compute_one(SQLite::Database& database, const std::vector<std::pair<std::string, int>>& tables,
                 std::uint8_t kind) {
  const auto& [name, columns] = tables[kind / 4 % tables.size()];
  const std::vector<std::string> names = columns_of(database, name);
  database.exec(fmt::format("DROP TABLE {}", name));
  std::string of_x;
  for (const std::string& column : names) of_x += fmt::format("{}x AS {}", of_x.empty() ? "" : ", ", column);
  switch (kind % 4) {
    case 0:
      return database.exec(fmt::format("CREATE VIEW {} AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM "
                                       "n) SELECT {} FROM n",
                                       name, of_x)),
             void();
    case 1:
      return database.exec(fmt::format("CREATE VIEW {0} AS SELECT * FROM {0}", name)), void();
    case 2:
      return database.exec(fmt::format("CREATE TABLE {}(x, {} AS (hex(zeroblob(100000000))))", name,
                                       fmt::join(names, " AS (x), "))),
             void();
    default:
      return database.exec(fmt::format("CREATE VIEW {} AS SELECT {} FROM (SELECT 1 AS x)", name, of_x)), void();
  }
}

/// A database of the rows that the input describes: of each its table, and for each column a cell. `computed`: one
/// table, without rows, is computed.
std::string described(Numbers numbers, std::optional<std::uint8_t> computed = std::nullopt) {
  static std::vector<std::pair<std::string, int>> tables;
  static const std::string script = loose_schema(tables);
  SQLite::Database database(":memory:", SQLite::OPEN_READWRITE);
  database.exec(script);
  while (!numbers.is_empty()) {
    const auto& [name, columns] = tables[numbers.byte() % tables.size()];
    std::string places = "?";
    for (int i = 1; i < columns; ++i) places += ",?";
    SQLite::Statement row(database, fmt::format("INSERT INTO {} VALUES ({})", name, places));
    for (int column = 1; column <= columns; ++column) bind(row, column, numbers);
    row.exec();
  }
  if (computed) compute_one(database, tables, *computed);
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, decltype(&sqlite3_free)> bytes(
      sqlite3_serialize(database.getHandle(), "main", &size, 0), &sqlite3_free);
  return {reinterpret_cast<const char*>(bytes.get()), static_cast<std::size_t>(size)};
}

bool opens(const std::string& path) {
  return accepts([&] {
    const auto results = open_results(path);
    for (const char* table : {"runs", "metrics", "frames", "decisions", "holds"}) columns_of(*results, table);
  });
}

/// Of any run, as a timeline.
void export_run(const std::string& path) {
  const auto results = open_results(path);
  reading(path, [&] {
    const RunTracks tracks(*results, find_run(*results, path, ""));
    encode_chrome(tracks);
    encode_perfetto(tracks);
  });
}

/// A results file of any origin: refused, or compared, listed, reported, exported and hashed. Random bytes are
/// hardly ever a database, so an input that begins with 0xC5 describes rows instead, and one with 0xC6 a table that is
/// computed, too, which is refused.
void read(std::string_view input) {
  static const bool is_reached = opens(ShortLivedFile(described(Numbers({}))).path());
  promise(is_reached, "results without a row are opened");
  const auto first = static_cast<unsigned char>(input.empty() ? '\0' : input.front());
  const bool is_computed = first == 0xC6 && input.size() > 1;
  if (is_computed) {
    const auto kind = static_cast<std::uint8_t>(input[1]);
    const ShortLivedFile computed(described(Numbers(input.substr(2)), kind));
    return promise(!opens(computed.path()), "what is computed when it is read is refused");
  }
  const ShortLivedFile file(first == 0xC5 ? described(Numbers(input.substr(1))) : std::string(input));
  accepts([&] { compare({file.path()}, {}); });
  accepts([&] { make_report({file.path()}, {}); });
  accepts([&] { export_run(file.path()); });
  accepts([&] { results_hash(file.path()); });
  opens(file.path());
}

}  // namespace
}  // namespace corun::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  corun::fuzz::read(corun::fuzz::text_of(data, size));
  return 0;
}
