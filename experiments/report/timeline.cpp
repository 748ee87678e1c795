#include "experiments/report/timeline.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "experiments/report/frame_figures.h"
#include "experiments/results/cells.h"

namespace corun::report {

namespace {

constexpr std::int64_t kLeastStretchNs = 500'000'000;

/// What is kept of a client besides its frames.
enum Kind : std::uint8_t { kOperations, kHolds, kDecisions };
constexpr std::array<const char*, 3> kKinds = {"operations", "holds", "decisions"};
constexpr std::array<const char*, 3> kQueries = {
    "SELECT begin_ns, end_ns, client, name FROM operations WHERE run = ? ORDER BY begin_ns, rowid",
    "SELECT begin_ns, end_ns, client, rule FROM holds WHERE run = ? ORDER BY begin_ns, rowid",
    "SELECT time_ns, time_ns, client, action FROM decisions WHERE run = ? ORDER BY seq"};

struct Span {
  std::int64_t begin, end, longest;
  std::size_t count, name;
};

struct Lane {
  std::vector<ShownFrame> frames;
  std::array<std::vector<Span>, kKinds.size()> spans;
};

struct Stretch {
  std::int64_t begin, end;
  bool has(std::int64_t from, std::int64_t to) const { return to >= begin && from < end; }
};

class Timeline {
 public:
  Timeline(SQLite::Database& results, const Run& run, const FramesOfRun& frames) {
    for (const auto& [client, its] : frames) lanes_[client].frames = its;
    for (const Kind kind : {kOperations, kHolds, kDecisions})
      if (has_table(results, kKinds[kind])) read(results, run, kind);
  }

  bool is_empty() const { return lanes_.empty(); }

  std::size_t rows(const Stretch& stretch) const {
    std::size_t count = 0;
    for (const auto& [client, lane] : lanes_) {
      count += std::ranges::count_if(lane.frames, [&](const ShownFrame& f) { return is_in(f, stretch); });
      for (const auto& spans : lane.spans)
        count += std::ranges::count_if(spans, [&](const Span& s) { return stretch.has(s.begin, s.end); });
    }
    return count;
  }

  void write(const Stretch& stretch, Json& json) const {
    bool has_operations = false;
    for (const auto& [client, lane] : lanes_) has_operations = has_operations || !lane.spans[kOperations].empty();
    json.field("has_operations", has_operations).key("names").array();
    for (const std::string& name : names_) json.value(name);
    json.end().key("lanes").array();
    for (const auto& [client, lane] : lanes_) {
      json.object().field("client", client).field("frames", packed_frames(lane, stretch));
      for (const Kind kind : {kOperations, kHolds, kDecisions})
        json.field(kKinds[kind], packed_spans(lane.spans[kind], stretch));
      json.end();
    }
    json.end();
  }

 private:
  static bool is_in(const ShownFrame& frame, const Stretch& stretch) {
    return stretch.has(std::min(frame.start_ns, frame.gpu_begin_ns), frame.present_ns);
  }

  void read(SQLite::Database& results, const Run& run, Kind kind) {
    SQLite::Statement row(results, kQueries[kind]);
    row.bind(1, run.id);
    while (row.executeStep()) {
      const std::int64_t begin = instant_at(row, 0), end = instant_at(row, 1);
      add(lanes_[row.getColumn(2)].spans[kind], {begin, end, end - begin, 1, name_of(row.getColumn(3))},
          kind == kOperations);
    }
  }

  static void add(std::vector<Span>& spans, const Span& span, bool joins_names) {
    const bool is_one = !spans.empty() && span.begin - spans.back().end < kTimelineApartNs &&
                        (joins_names || spans.back().name == span.name);
    if (!is_one) return spans.push_back(span);
    Span& last = spans.back();
    if (span.longest > last.longest) last.name = span.name, last.longest = span.longest;
    last.end = std::max(last.end, span.end);
    ++last.count;
  }

  std::size_t name_of(const std::string& name) {
    const auto [found, is_new] = place_of_name_.try_emplace(name, names_.size());
    if (is_new) names_.push_back(name);
    return found->second;
  }

  static std::string packed_frames(const Lane& lane, const Stretch& stretch) {
    std::vector<std::int64_t> out;
    std::int64_t last = 0;
    for (const ShownFrame& f : lane.frames) {
      if (!is_in(f, stretch)) continue;
      const std::int64_t start = f.start_ns / kNsPerUs;
      out.insert(out.end(), {start - std::exchange(last, start), f.gpu_begin_ns / kNsPerUs - start,
                             f.gpu_end_ns / kNsPerUs - start, f.present_ns / kNsPerUs - start, f.number});
    }
    return packed(out);
  }

  static std::string packed_spans(const std::vector<Span>& spans, const Stretch& stretch) {
    std::vector<std::int64_t> out;
    std::int64_t last = 0;
    for (const Span& s : spans) {
      if (!stretch.has(s.begin, s.end)) continue;
      const std::int64_t begin = s.begin / kNsPerUs;
      out.insert(out.end(), {begin - std::exchange(last, begin), s.end / kNsPerUs - begin,
                             static_cast<std::int64_t>(s.count), static_cast<std::int64_t>(s.name)});
    }
    return packed(out);
  }

  std::map<std::string, Lane> lanes_;  // by client
  std::vector<std::string> names_;
  std::map<std::string, std::size_t> place_of_name_;
};

/// The whole run, or as much around `focus` as fits.
Stretch stretch_of(const Timeline& timeline, std::int64_t horizon, std::int64_t focus, std::size_t most_rows) {
  Stretch stretch{0, horizon};
  for (std::int64_t length = horizon; length > kLeastStretchNs && timeline.rows(stretch) > most_rows;) {
    length = std::max(length / 2, kLeastStretchNs);
    const std::int64_t begin = std::clamp<std::int64_t>(focus - length / 2, 0, horizon - length);
    stretch = {begin, begin + length};
  }
  return stretch;
}

}  // namespace

void add_timeline(SQLite::Database& results, const Run& run, std::size_t setting, const FramesOfRun& frames,
                  std::int64_t focus_ns, std::size_t most_rows, Json& json) {
  const Timeline timeline(results, run, frames);
  if (timeline.is_empty()) return;
  const Stretch stretch = stretch_of(timeline, run.horizon_ns, focus_ns, most_rows);
  json.object().field("setting", setting).field("seed", run.seed).field("horizon_us", run.horizon_ns / kNsPerUs);
  json.field("begin_us", stretch.begin / kNsPerUs).field("end_us", stretch.end / kNsPerUs);
  timeline.write(stretch, json);
  json.end();
}

}  // namespace corun::report
