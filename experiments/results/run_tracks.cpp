#include "experiments/results/run_tracks.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "experiments/results/cells.h"
#include "experiments/results/file.h"
#include "traces/base/error.h"
#include "traces/text/kernel_name.h"

namespace corun {

namespace {

constexpr std::size_t kMostNamed = 12;  // in an error

std::uint64_t not_negative(const SQLite::Column& column) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, column.getInt64()));
}

/// The rows of a run in a table, or none where the file has no such table.
template <class Add>
void for_each(SQLite::Database& results, const RunName& run, const std::string& table, const char* query, Add add) {
  if (columns_of(results, table).empty()) return;
  SQLite::Statement row(results, query);
  row.bind(1, run.id);
  while (row.executeStep()) add(row);
}

}  // namespace

std::string RunName::text() const { return fmt::format("{}.{}.{}", scenario, policy, seed); }

RunName find_run(SQLite::Database& results, const std::string& path, const std::string& wanted) {
  std::vector<std::string> names;
  std::vector<RunName> runs;
  SQLite::Statement row(results, "SELECT id, scenario, policy, seed FROM runs WHERE error IS NULL ORDER BY rowid");
  while (row.executeStep()) {
    RunName run{row.getColumn(0), row.getColumn(1), row.getColumn(2), row.getColumn(3).getInt64()};
    const std::string in_scenario = run.scenario + "." + run.policy;
    const bool is_meant = wanted == run.policy || wanted == in_scenario || wanted == run.text();
    if (is_meant || (wanted.size() >= 4 && run.id.starts_with(wanted))) return run;
    names.push_back(run.text());
    runs.push_back(std::move(run));
  }
  if (runs.empty()) throw_input({path}, "there is no run that went well");
  if (wanted.empty() && runs.size() == 1) return runs.front();
  const std::size_t more = names.size() - std::min(names.size(), kMostNamed);
  names.resize(std::min(names.size(), kMostNamed));
  throw Error(
      ErrorKind::kInput, {path},
      wanted.empty() ? fmt::format("there are {} runs", runs.size()) : fmt::format("no run is named `{}`", wanted),
      fmt::format("choose one with --run: {}{}; without a seed, the first one is taken", fmt::join(names, ", "),
                  more > 0 ? fmt::format(" and {} more", more) : ""));
}

RunTracks::RunTracks(SQLite::Database& results, const RunName& run) {
  add_frames(results, run);
  add_operations(results, run);
  add_holds(results, run);
  add_end_of_holds(results, run);
  add_decisions(results, run);
  add_losses(results, run);
}

std::uint64_t RunTracks::process_of(const std::string& client) {
  const auto [found, is_new] = process_of_.try_emplace(client, process_of_.size() + 1);
  if (is_new) process_names_[found->second] = client;
  return found->second;
}

Track& RunTracks::track(const std::string& client, const std::string& name) {
  const auto [found, is_new] = track_of_.try_emplace({client, name}, tracks_.size());
  if (is_new) tracks_.push_back({process_of(client), name});
  return tracks_[found->second];
}

void RunTracks::add_frames(SQLite::Database& results, const RunName& run) {
  std::map<std::string, std::int64_t> last_present;
  for_each(results, run, "frames",
           "SELECT client, number, start_ns, submit_ns, gpu_begin_ns, gpu_end_ns, present_ns, gpu_busy_ns, "
           "quality_level, missed FROM frames WHERE run = ? ORDER BY present_ns, client",
           [&](SQLite::Statement& row) {
             const std::string client = row.getColumn(0);
             const auto at = [&](int column) { return instant_at(row, column); };
             const auto [last, is_first] = last_present.try_emplace(client, at(2));
             const std::uint64_t name = names_.number(fmt::format("frame {}", at(1)));
             const std::uint64_t flow = flow_count_++;
             std::vector<Detail> details = {number("quality level", not_negative(row.getColumn(8))),
                                            number("device time of its own, ns", not_negative(row.getColumn(7))),
                                            text("missed", at(9) != 0 ? "yes" : "no")};
             add_slice(track(client, "frames, present to present"), std::min(last->second, at(6)), at(6),
                       {name, Category::kFrame, add_details(std::move(details)), {flow}});
             if (at(5) >= at(4))
               add_slice(track(client, "device, begin to end of each frame"), at(4), at(5),
                         {name, Category::kRender, 0, {flow}});
             last->second = at(6);
           });
}

void RunTracks::add_operations(SQLite::Database& results, const RunName& run) {
  for_each(results, run, "operations",
           "SELECT client, stream, kind, name, job, submit_ns, launch_ns, begin_ns, end_ns FROM operations "
           "WHERE run = ? ORDER BY begin_ns, client, number",
           [&](SQLite::Statement& row) {
             const auto at = [&](int column) { return instant_at(row, column); };
             const std::string full = row.getColumn(3), kind = row.getColumn(2);
             std::vector<Detail> details = {number("job", not_negative(row.getColumn(4))),
                                            number("at the gate, ns", static_cast<std::uint64_t>(at(6) - at(5))),
                                            number("launched to begun, ns", static_cast<std::uint64_t>(at(7) - at(6)))};
             const std::string name = full.empty() ? kind : short_kernel_name(full);
             if (name != full && !full.empty()) details.push_back(text("full name", full));
             const Category category = kind == "kernel"   ? Category::kKernel
                                       : kind == "render" ? Category::kRender
                                                          : Category::kMemory;
             add_slice(track(row.getColumn(0), fmt::format("stream {}", at(1))), at(7), at(8),
                       {names_.number(name), category, add_details(std::move(details)), {}});
           });
}

void RunTracks::add_holds(SQLite::Database& results, const RunName& run) {
  for_each(results, run, "holds",
           "SELECT client, begin_ns, end_ns, rule, needed, available, unit FROM holds WHERE run = ? ORDER BY begin_ns",
           [&](SQLite::Statement& row) {
             const std::string unit = row.getColumn(6);
             const auto with_unit = [&](int column) {
               return fmt::format("{:g} {}", row.getColumn(column).getDouble(), unit);
             };
             std::vector<Detail> details = {text("needed", with_unit(4)), text("available", with_unit(5))};
             add_slice(
                 track(row.getColumn(0), "held at its gate"), instant_at(row, 1), instant_at(row, 2),
                 {names_.number(row.getColumn(3).getString()), Category::kWait, add_details(std::move(details)), {}});
           });
}

/// So that an empty track is not taken for a gate that was open.
void RunTracks::add_end_of_holds(SQLite::Database& results, const RunName& run) {
  const std::vector<std::string> columns = columns_of(results, "runs");
  if (std::ranges::find(columns, "holds_until_ns") == columns.end()) return;
  for_each(results, run, "holds",
           "SELECT DISTINCT client, holds_until_ns, horizon_ns FROM holds JOIN runs ON id = run WHERE run = ? AND "
           "holds_until_ns IS NOT NULL ORDER BY client",
           [&](SQLite::Statement& row) {
             add_slice(track(row.getColumn(0), "held at its gate"), row.getColumn(1), row.getColumn(2),
                       {names_.number("not recorded from here on; record: { decisions: all } keeps every one"),
                        Category::kNote,
                        0,
                        {}});
           });
}

void RunTracks::add_decisions(SQLite::Database& results, const RunName& run) {
  for_each(
      results, run, "decisions",
      "SELECT client, time_ns, action, count, duration_ns, level, fraction FROM decisions WHERE run = ? ORDER BY seq",
      [&](SQLite::Statement& row) {
        const std::int64_t at = instant_at(row, 1);
        std::vector<Detail> details;
        for (const char* column : {"count", "duration_ns"})
          if (row.getColumn(column).getInt64() > 0)
            details.push_back(number(column, not_negative(row.getColumn(column))));
        for (const char* column : {"level", "fraction"})
          if (row.getColumn(column).getDouble() != 0)
            details.push_back(text(column, fmt::format("{:g}", row.getColumn(column).getDouble())));
        add_slice(
            track(row.getColumn(0), "decisions"), at, at,
            {names_.number(row.getColumn(2).getString()), Category::kDecision, add_details(std::move(details)), {}});
      });
}

void RunTracks::add_losses(SQLite::Database& results, const RunName& run) {
  for_each(results, run, "kills", "SELECT client, time_ns, lost_ns FROM kills WHERE run = ? ORDER BY time_ns",
           [&](SQLite::Statement& row) {
             const std::int64_t at = instant_at(row, 1);
             add_slice(track(row.getColumn(0), "kills and refusals"), at, at,
                       {names_.number("killed"),
                        Category::kNote,
                        add_details({number("lost device time, ns", not_negative(row.getColumn(2)))}),
                        {}});
           });
  for_each(results, run, "refusals", "SELECT client, time_ns, rule FROM refusals WHERE run = ? ORDER BY time_ns",
           [&](SQLite::Statement& row) {
             const std::int64_t at = instant_at(row, 1);
             add_slice(track(row.getColumn(0), "kills and refusals"), at, at,
                       {names_.number("refused: " + row.getColumn(2).getString()), Category::kNote, 0, {}});
           });
}

}  // namespace corun
