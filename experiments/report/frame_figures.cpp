#include "experiments/report/frame_figures.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "experiments/report/frames.h"
#include "experiments/report/late_frames.h"
#include "experiments/report/timeline.h"
#include "experiments/results/cells.h"

namespace corun::report {

namespace {

constexpr std::size_t kMostPoints = 1200;  // of a course

/// One client's frames under one setting, over all seeds, behind the warm-up.
struct Pool {
  std::vector<std::int64_t> intervals_ns;
  std::vector<std::pair<std::int64_t, FrameParts>> parts;  ///< by interval
};

/// The run with the longest wait for a frame, and when that ended; the first one where none showed a frame.
struct Chosen {
  const Run* run = nullptr;
  FramesOfRun frames;
  std::int64_t longest_ns = -1, at_ns = 0;
};

struct Frames {
  std::map<std::string, Pool> pools;  ///< by client
  Chosen chosen;
};

Frames read(const Measured& measured, const Setting& setting) {
  Frames out;
  for (const Run& run : setting.runs) {
    FramesOfRun frames = read_frames(*measured.databases[run.file], run.id);
    std::int64_t longest = -1, at = 0;
    for (const auto& [client, its] : frames)
      for (const ShownFrame& frame : its) {
        const bool counts = frame.interval_ns >= 0 && frame.present_ns - frame.interval_ns >= run.warmup_ns;
        if (!counts || frame.present_ns >= run.horizon_ns) continue;
        Pool& pool = out.pools[client];
        pool.intervals_ns.push_back(frame.interval_ns);
        pool.parts.emplace_back(frame.interval_ns, parts_of(frame));
        if (frame.interval_ns > longest) longest = frame.interval_ns, at = frame.present_ns;
      }
    const bool is_longer = !frames.empty() && longest > out.chosen.longest_ns;
    if (is_longer || out.chosen.run == nullptr) out.chosen = {&run, std::move(frames), longest, at};
  }
  for (auto& [client, pool] : out.pools) std::ranges::sort(pool.intervals_ns);
  return out;
}

void add_distribution(const Pool& pool, const std::string& client, std::size_t setting, Json& json) {
  std::vector<std::int64_t> quantiles;
  const auto count = static_cast<double>(pool.intervals_ns.size());
  for (const double p : probabilities()) {
    const auto rank = static_cast<std::size_t>(std::max(1.0, std::ceil(p * count - 1e-9)));
    quantiles.push_back(pool.intervals_ns[rank - 1] / kNsPerUs);
  }
  json.object().field("setting", setting).field("client", client).field("frames", pool.intervals_ns.size());
  json.field("us", packed(quantiles)).end();
}

/// Mean of the parts of the `count` slowest frames, in microseconds.
std::string mean_parts(const std::vector<std::pair<std::int64_t, FrameParts>>& slowest_first, std::size_t count) {
  std::array<double, kFrameParts> sums{};
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t part = 0; part < kFrameParts; ++part)
      sums[part] += static_cast<double>(slowest_first[i].second[part]);
  std::vector<std::int64_t> means;
  for (const double sum : sums) means.push_back(std::llround(sum / static_cast<double>(count) / kNsPerUs));
  return packed(means);
}

void add_parts(Pool pool, const std::string& client, std::size_t setting, Json& json) {
  std::ranges::stable_sort(pool.parts, std::greater{}, &std::pair<std::int64_t, FrameParts>::first);
  const std::size_t slow = std::max<std::size_t>(1, pool.parts.size() / 100);
  json.object().field("setting", setting).field("client", client);
  json.field("all", mean_parts(pool.parts, pool.parts.size())).field("slow", mean_parts(pool.parts, slow)).end();
}

/// Of every stretch the longest frame, where there are more than can be drawn.
void add_course(const std::vector<ShownFrame>& frames, const std::string& client, std::size_t setting, const Run& run,
                Json& json) {
  std::vector<std::int64_t> at, interval, missed;
  const std::size_t bucket = (frames.size() + kMostPoints - 1) / kMostPoints;
  for (std::size_t begin = 0; begin < frames.size(); begin += bucket) {
    const auto first = frames.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = frames.begin() + static_cast<std::ptrdiff_t>(std::min(begin + bucket, frames.size()));
    const auto longest = std::ranges::max_element(first, last, {}, &ShownFrame::interval_ns);
    if (longest->interval_ns < 0) continue;
    if (longest->is_missed) missed.push_back(static_cast<std::int64_t>(at.size()));
    at.push_back(longest->present_ns / kNsPerUs);
    interval.push_back(longest->interval_ns / kNsPerUs);
  }
  json.object().field("setting", setting).field("client", client).field("seed", run.seed).field("run", run.id);
  json.field("at_us", packed(at)).field("us", packed(interval)).field("missed", packed(missed)).end();
}

std::size_t timeline_count(const Measured& measured) {
  std::size_t count = 0;
  for (const Scenario& scenario : measured.scenarios) count += std::min(scenario.settings.size(), kMostDetailed);
  return std::max<std::size_t>(count, 1);
}

void add_chosen_runs(const Measured& measured, const std::vector<Frames>& frames, Json& json) {
  const std::size_t most_rows = std::max(kTimelineRows / timeline_count(measured), kFewestTimelineRows);
  const auto for_each_run = [&](const auto& add) {
    for (std::size_t i = 0; i < frames.size(); ++i)
      if (const Run* run = frames[i].chosen.run) add(*measured.databases[run->file], *run, i, frames[i].chosen);
  };
  json.key("late").array();
  for_each_run([&](SQLite::Database& results, const Run& run, std::size_t setting, const Chosen& chosen) {
    if (!chosen.frames.empty()) add_late_frames(results, run, setting, chosen.frames, json);
  });
  json.end().key("timelines").array();
  for_each_run([&](SQLite::Database& results, const Run& run, std::size_t setting, const Chosen& chosen) {
    add_timeline(results, run, setting, chosen.frames, chosen.at_ns, most_rows, json);
  });
  json.end();
}

}  // namespace

std::string packed(const std::vector<std::int64_t>& numbers) { return fmt::format("{}", fmt::join(numbers, " ")); }

const std::vector<double>& probabilities() {
  static const std::vector<double> kAll = [] {
    std::vector<double> all;
    for (int i = 0; i < 100; ++i) all.push_back(i / 100.0);
    for (const double step : {1e-3, 1e-4})
      for (int i = 9; i > 0; --i) all.push_back(1 - i * step);
    all.push_back(1);
    return all;
  }();
  return kAll;
}

void add_frame_figures(const Measured& measured, const Scenario& scenario, Json& json) {
  std::vector<Frames> frames;
  for (std::size_t i = 0; i < std::min(scenario.settings.size(), kMostDetailed); ++i)
    frames.push_back(read(measured, scenario.settings[i]));
  const auto for_each_pool = [&](const auto& add) {
    for (std::size_t i = 0; i < frames.size(); ++i)
      for (const auto& [client, pool] : frames[i].pools)
        if (!pool.intervals_ns.empty()) add(pool, client, i, json);
  };
  json.key("distributions").array();
  for_each_pool(add_distribution);
  json.end().key("parts").array();
  for_each_pool(add_parts);
  json.end().key("courses").array();
  for (std::size_t i = 0; i < frames.size(); ++i)
    for (const auto& [client, its] : frames[i].chosen.frames) add_course(its, client, i, *frames[i].chosen.run, json);
  json.end();
  add_chosen_runs(measured, frames, json);
}

void add_decisions(const Measured& measured, const Scenario& scenario, Json& json) {
  json.key("decisions").array();
  for (std::size_t i = 0; i < std::min(scenario.settings.size(), kMostDetailed); ++i) {
    std::map<std::pair<std::string, std::string>, std::int64_t> counts;
    std::int64_t last_ns = 0;
    for (const Run& run : scenario.settings[i].runs) {
      SQLite::Database& results = *measured.databases[run.file];
      if (!has_table(results, "decisions")) continue;
      SQLite::Statement row(results,
                            "SELECT client, action, count(*), max(time_ns) FROM decisions WHERE run = ? GROUP BY 1, 2");
      row.bind(1, run.id);
      while (row.executeStep()) {
        counts[{row.getColumn(0), row.getColumn(1)}] += instant_at(row, 2);
        last_ns = std::max(last_ns, instant_at(row, 3));
      }
    }
    for (const auto& [key, count] : counts) {
      json.object().field("setting", i).field("client", key.first).field("action", key.second);
      json.field("count", count).field("until_ms", static_cast<double>(last_ns / kNsPerUs) / 1e3).end();
    }
  }
  json.end();
}

}  // namespace corun::report
