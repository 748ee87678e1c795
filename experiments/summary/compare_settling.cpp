#include "experiments/summary/compare_settling.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "experiments/results/cells.h"
#include "experiments/results/file.h"
#include "experiments/statistics/steady_state.h"

namespace corun {

namespace {

constexpr std::size_t kFramesOfAPercentile = 100;

/// The frames of one client under one policy, over the seeds.
struct Verdicts {
  std::int64_t horizon_ns = 0, warmup_ns = 0;
  std::size_t runs = 0, unsettled = 0;
  std::size_t least_frames = SIZE_MAX;  ///< in the measured time of a run
};
using Key = std::tuple<std::string, std::string, std::string>;  // scenario, policy, client

void add(Verdicts& verdicts, const std::vector<std::int64_t>& presents) {
  std::vector<double> times;
  for (std::size_t i = 1; i < presents.size(); ++i) times.push_back(static_cast<double>(presents[i] - presents[i - 1]));
  const WarmupCut cut = mser5(times);
  const bool is_late = cut.is_settled && presents[cut.count] > std::max(verdicts.warmup_ns, verdicts.horizon_ns / 4);
  const bool is_unsettled = (times.size() >= 10 && !cut.is_settled) || is_late;
  const auto measured = std::ranges::count_if(presents, [&](std::int64_t at) { return at >= verdicts.warmup_ns; });
  ++verdicts.runs;
  verdicts.unsettled += is_unsettled ? 1 : 0;
  verdicts.least_frames = std::min(verdicts.least_frames, static_cast<std::size_t>(measured));
}

void add_sentences(const Key& key, const Verdicts& verdicts, std::vector<std::string>& out) {
  const auto& [scenario, policy, client] = key;
  const std::string place = fmt::format("{}, {}, {}", scenario, policy, client);
  const double horizon = static_cast<double>(verdicts.horizon_ns) * 1e-9;
  const double warmup = static_cast<double>(verdicts.warmup_ns) * 1e-9;
  if (2 * verdicts.unsettled > verdicts.runs)
    out.push_back(
        fmt::format("{}: in {} of {} runs the frame times had not settled after the warm-up of {:g} s (MSER-5): try a "
                    "horizon of {:g} s",
                    place, verdicts.unsettled, verdicts.runs, warmup, 4 * horizon));
  if (verdicts.least_frames >= kFramesOfAPercentile) return;
  const auto frames = static_cast<double>(std::max<std::size_t>(verdicts.least_frames, 1));
  const double longer = static_cast<double>(kFramesOfAPercentile) * (horizon - warmup) / frames + warmup;
  out.push_back(
      fmt::format("{}: {} frames are too few for a 99th percentile or a 1 % low, which are then the slowest frame: try "
                  "a horizon of "
                  "{:.2g} s",
                  place, verdicts.least_frames, longer));
}

/// Of clients that, alone, end few jobs within the measured time.
void add_few_jobs(SQLite::Database& results, std::vector<std::string>& out) {
  SQLite::Statement row(results,
                        "SELECT scenario, client, min(value), warmup_ns, horizon_ns FROM metrics AS m "
                        "JOIN runs ON id = run WHERE error IS NULL AND backend = 'simulation' "
                        "AND metric = 'solo_throughput_per_s' AND NOT EXISTS (SELECT 1 FROM metrics AS f "
                        "WHERE f.run = m.run AND f.client = m.client AND f.metric = 'fps_mean') "
                        "GROUP BY scenario, client, warmup_ns, horizon_ns");
  while (row.executeStep()) {
    const double warmup_s = static_cast<double>(row.getColumn(3).getInt64()) * 1e-9;
    const double horizon_s = static_cast<double>(row.getColumn(4).getInt64()) * 1e-9;
    const double jobs = row.getColumn(2).getDouble() * (horizon_s - warmup_s);
    if (!(jobs < kFewestJobs)) continue;
    const double longer_s = kFewestJobs * (horizon_s - warmup_s) / std::max(jobs, 1.0) + warmup_s;
    out.push_back(fmt::format(
        "{}, {}: alone it ends {:.0f} job{} in the measured time, too few for a rate: try a horizon of {:.2g} s",
        row.getColumn(0).getString(), row.getColumn(1).getString(), jobs, std::lround(jobs) == 1 ? "" : "s", longer_s));
  }
}

}  // namespace

std::vector<std::string> horizon_warnings(SQLite::Database& results) {
  const std::vector<std::string> columns = columns_of(results, "runs");
  const bool has_warmup = std::ranges::find(columns, "warmup_ns") != columns.end();
  if (!has_warmup) return {};
  std::vector<std::string> out;
  if (!columns_of(results, "metrics").empty()) add_few_jobs(results, out);
  if (columns_of(results, "frames").empty()) return out;
  SQLite::Statement row(results,
                        "SELECT scenario, policy, client, warmup_ns, horizon_ns, run, present_ns FROM frames "
                        "JOIN runs ON runs.id = run WHERE error IS NULL ORDER BY run, client, present_ns");
  std::map<Key, Verdicts> groups;
  std::vector<std::int64_t> presents;
  std::string run, client;
  Verdicts* at = nullptr;
  while (row.executeStep()) {
    const bool is_next = at == nullptr || row.getColumn(5).getString() != run || row.getColumn(2).getString() != client;
    if (is_next && at != nullptr) add(*at, presents);
    if (is_next) {
      run = row.getColumn(5).getString(), client = row.getColumn(2).getString();
      at = &groups[{row.getColumn(0), row.getColumn(1), client}];
      at->warmup_ns = instant_at(row, 3), at->horizon_ns = instant_at(row, 4);
      presents.clear();
    }
    presents.push_back(instant_at(row, 6));
  }
  if (at != nullptr) add(*at, presents);
  for (const auto& [key, verdicts] : groups) add_sentences(key, verdicts, out);
  return out;
}

}  // namespace corun
