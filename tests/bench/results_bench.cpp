// How fast results are written. The yardstick is SQLite itself: the same rows of text and numbers in one transaction,
// bound without copies.

#include <benchmark/benchmark.h>
#include <sqlite3.h>

#include <filesystem>

#include "experiments/results/results.h"
#include "tests/experiments/question/experiment_text.h"

namespace corun {
namespace {

using testing::TemporaryFolder;

constexpr std::int64_t kRows = 100'000;

OperationRow row_of(std::int64_t number) {
  OperationRow row;
  row.fact.client = ClientId{0};
  row.fact.number = static_cast<std::uint64_t>(number);
  row.fact.job = static_cast<std::uint64_t>(number / 500);
  row.fact.submitted = row.fact.launched = time_from_ns(number * 10'000);
  row.fact.begin = row.fact.launched + Duration{4'000};
  row.fact.end = row.fact.begin + Duration{3'000};
  row.fact.device_time = Duration{3'000};
  row.name = "void gemm_128x64<float>(float const*, float const*, float*)";
  return row;
}

void BM_WriteOperations(benchmark::State& state) {
  const TemporaryFolder folder;
  const Experiment experiment = testing::read_text(testing::kTinyExperiment);
  const Plan plan = make_plan(experiment);
  RunOutcome outcome;
  for (std::int64_t i = 0; i < kRows; ++i) outcome.operations.push_back(row_of(i));
  for (auto _ : state) {
    ResultsWriter results(folder / "results.sqlite", true);
    results.write(experiment, plan.hashes, plan.runs.front(), outcome);
    results.close();
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}

void BM_WriteOperationsLimit(benchmark::State& state) {
  const TemporaryFolder folder;
  const std::string path = folder / "limit.sqlite", id = "0123456789abcdef", name = row_of(0).name;
  const auto text = [](sqlite3_stmt* statement, int column, const std::string& value) {
    sqlite3_bind_text(statement, column, value.data(), static_cast<int>(value.size()), SQLITE_STATIC);
  };
  for (auto _ : state) {
    std::filesystem::remove(path);
    sqlite3* database = nullptr;
    sqlite3_stmt* insert = nullptr;
    sqlite3_open(path.c_str(), &database);
    sqlite3_exec(database,
                 "CREATE TABLE operations (run TEXT, client TEXT, number INTEGER, job INTEGER, stream INTEGER,"
                 " kind TEXT, name TEXT, a INTEGER, b INTEGER, c INTEGER, d INTEGER, e INTEGER); BEGIN",
                 nullptr, nullptr, nullptr);
    sqlite3_prepare_v2(database, "INSERT INTO operations VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", -1, &insert, nullptr);
    const std::string client = "game", kind = "kernel";
    for (std::int64_t i = 0; i < kRows; ++i) {
      text(insert, 1, id);
      text(insert, 2, client);
      text(insert, 6, kind);
      text(insert, 7, name);
      for (const int column : {3, 4, 5, 8, 9, 10, 11, 12}) sqlite3_bind_int64(insert, column, i * column);
      sqlite3_step(insert);
      sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    sqlite3_exec(database, "COMMIT; CREATE INDEX operations_by_run ON operations(run)", nullptr, nullptr, nullptr);
    sqlite3_close(database);
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}

BENCHMARK(BM_WriteOperations)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_WriteOperationsLimit)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace corun

BENCHMARK_MAIN();
