#include "experiments/report/frames.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <cmath>

#include "experiments/report/measured.h"
#include "experiments/results/cells.h"

namespace corun::report {

FramesOfRun read_frames(SQLite::Database& results, const std::string& run) {
  FramesOfRun frames;
  if (!has_table(results, "frames")) return frames;
  SQLite::Statement row(
      results,
      "SELECT client, number, start_ns, submit_ns, gpu_begin_ns, gpu_end_ns, present_ns, gpu_busy_ns, "
      "missed FROM frames WHERE run = ? ORDER BY client, present_ns, number");
  row.bind(1, run);
  while (row.executeStep()) {
    const auto at = [&](int column) { return instant_at(row, column); };
    std::vector<ShownFrame>& its = frames[row.getColumn(0)];
    ShownFrame frame{at(1), at(2), at(3), at(4), at(5), at(6), at(7), -1, at(8) != 0};
    if (!its.empty()) frame.interval_ns = frame.present_ns - its.back().present_ns;
    its.push_back(frame);
  }
  return frames;
}

FrameParts parts_of(const ShownFrame& frame) {
  const std::int64_t end = frame.present_ns;
  std::int64_t at = end - std::max<std::int64_t>(frame.interval_ns, 0);
  const auto until = [&](std::int64_t instant) {
    const std::int64_t before = at;
    at = std::clamp(instant, at, end);
    return at - before;
  };
  FrameParts parts{};
  parts[0] = until(frame.start_ns);
  parts[1] = until(frame.submit_ns);
  parts[2] = until(frame.gpu_begin_ns);
  const std::int64_t on_device = until(frame.gpu_end_ns);
  const std::int64_t span = frame.gpu_end_ns - frame.gpu_begin_ns;
  const double own =
      span <= 0 ? 1.0 : std::min(1.0, static_cast<double>(frame.gpu_busy_ns) / static_cast<double>(span));
  parts[3] = std::llround(static_cast<double>(on_device) * own);
  parts[4] = on_device - parts[3];
  parts[5] = until(end);
  return parts;
}

}  // namespace corun::report
