#include "experiments/report/late_frames.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <optional>

#include "experiments/report/frame_figures.h"

namespace corun::report {

namespace {

constexpr std::size_t kMostFrames = 3;  // of each kind

struct LateFrame {
  std::string client;
  ShownFrame frame;
  std::int64_t begin() const { return frame.present_ns - frame.interval_ns; }
  bool overlaps(const LateFrame& other) const {
    return begin() < other.frame.present_ns && other.begin() < frame.present_ns;
  }
};

/// The latest frames, of what happened at one time only one, and then those before `recorded_until`.
std::vector<LateFrame> latest(const Run& run, const FramesOfRun& frames) {
  std::vector<LateFrame> all, chosen;
  for (const auto& [client, its] : frames)
    for (const ShownFrame& frame : its)
      if (frame.interval_ns > 0 && frame.present_ns - frame.interval_ns >= run.warmup_ns)
        all.push_back({client, frame});
  std::ranges::stable_sort(all, std::greater{}, [](const LateFrame& late) { return late.frame.interval_ns; });
  const auto take = [&](std::int64_t before, std::size_t most) {
    for (const LateFrame& late : all) {
      if (chosen.size() >= most) return;
      const bool is_apart = std::ranges::none_of(chosen, [&](const LateFrame& c) { return c.overlaps(late); });
      if (late.frame.present_ns <= before && is_apart) chosen.push_back(late);
    }
  };
  take(run.horizon_ns, kMostFrames);
  if (run.recorded_until_ns) take(*run.recorded_until_ns, chosen.size() + kMostFrames);
  return chosen;
}

/// The rule that held the client longest before the frame came to the device.
std::optional<std::pair<std::string, std::int64_t>> longest_hold(SQLite::Database& results, const Run& run,
                                                                 const LateFrame& late) {
  if (!has_table(results, "holds")) return std::nullopt;
  SQLite::Statement row(results,
                        "SELECT rule, sum(min(end_ns, ?4) - max(begin_ns, ?3)) AS held FROM holds WHERE run = ?1 AND "
                        "client = ?2 AND begin_ns < ?4 AND end_ns > ?3 GROUP BY rule ORDER BY held DESC");
  row.bind(1, run.id), row.bind(2, late.client);
  row.bind(3, late.begin()), row.bind(4, std::max(late.begin(), late.frame.gpu_end_ns));
  if (!row.executeStep()) return std::nullopt;
  return std::pair(row.getColumn(0).getString(), row.getColumn(1).getInt64());
}

void add_frame(SQLite::Database& results, const Run& run, const LateFrame& late, Json& json) {
  const FrameParts parts = parts_of(late.frame);
  std::vector<std::int64_t> in_us;
  for (const std::int64_t part : parts) in_us.push_back(part / kNsPerUs);
  json.object().field("client", late.client).field("number", late.frame.number);
  json.field("present_us", late.frame.present_ns / kNsPerUs).field("us", late.frame.interval_ns / kNsPerUs);
  json.field("parts", packed(in_us));
  if (const auto hold = longest_hold(results, run, late))
    json.field("rule", hold->first).field("held_us", hold->second / kNsPerUs);
  const bool is_recorded = !run.recorded_until_ns || late.frame.present_ns <= *run.recorded_until_ns;
  json.field("is_recorded", is_recorded);
  json.end();
}

}  // namespace

void add_late_frames(SQLite::Database& results, const Run& run, std::size_t setting, const FramesOfRun& frames,
                     Json& json) {
  json.object().field("setting", setting).field("seed", run.seed).field("run", run.id).key("frames").array();
  for (const LateFrame& late : latest(run, frames)) add_frame(results, run, late, json);
  json.end().end();
}

}  // namespace corun::report
