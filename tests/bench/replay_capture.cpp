#include "tests/bench/replay_capture.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>

namespace corun::bench {

namespace {

constexpr std::uint32_t kNames = 40, kShapes = 20;

/// Durations that kernels of an iteration have; iterations repeat them, as training does.
std::vector<std::int64_t> draw_durations(std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<std::int64_t> durations(kKernelsPerIteration);
  for (std::int64_t& duration : durations)
    duration = std::clamp<std::int64_t>(std::llround(3'000 * std::exp(0.6 * normal(random))), 1'000, 20'000);
  return durations;
}

/// As the device began them. A capture of 100 million kernels need not be sorted afterwards, which takes as much memory
/// again as its rows.
void add_by_start(TimelineBuilder& capture, std::vector<OpRecord>& ops) {
  std::ranges::stable_sort(ops, {}, &OpRecord::start_ns);
  for (const OpRecord& op : ops) capture.add(op);
  ops.clear();
}

}  // namespace

Timeline make_capture(std::size_t iterations, std::uint32_t streams) {
  std::mt19937_64 random(1);
  TimelineBuilder capture;
  capture.fidelity().has_calls = true;
  std::vector<std::uint32_t> queues, names, shapes;
  std::vector<std::int64_t> free_at(streams);
  for (std::uint32_t s = 0; s < streams; ++s)
    queues.push_back(capture.queue({.device = 0, .context = 1, .stream = 7 + s, .process = 1}));
  const std::uint32_t thread = capture.thread({.process = 1, .thread = 1});
  std::vector<StringId> texts;
  for (std::uint32_t n = 0; n < kNames; ++n) texts.push_back(capture.intern("kernel_" + std::to_string(n)));
  for (std::uint32_t s = 0; s < kShapes; ++s)
    shapes.push_back(capture.shape({.grid_x = 16u << (s % 5),
                                    .grid_y = 1,
                                    .grid_z = 1,
                                    .block_x = 64u << (s / 5),
                                    .block_y = 1,
                                    .block_z = 1,
                                    .registers_per_thread = 32}));
  const std::vector<std::int64_t> durations = draw_durations(random);
  std::vector<OpRecord> ops;
  std::int64_t host = 0;
  for (std::size_t i = 0; i < iterations; ++i) {
    std::int64_t all_done = host;
    for (std::uint32_t k = 0; k < kKernelsPerIteration; ++k) {
      const std::uint32_t stream = k % streams;
      const std::uint32_t call =
          capture.add(CallRecord{.start_ns = host, .duration_ns = 1'500, .thread = thread, .queue = queues[stream]});
      const std::int64_t start = std::max(host + 4'000, free_at[stream] + 1'000);
      free_at[stream] = start + durations[k] + static_cast<std::int64_t>(random() % 256);
      ops.push_back(OpRecord{.start_ns = start,
                             .duration_ns = free_at[stream] - start,
                             .name = texts[k % kNames],
                             .queue = queues[stream],
                             .call = call,
                             .shape = shapes[k % kShapes]});
      all_done = std::max(all_done, free_at[stream]);
      host += 2'000 + static_cast<std::int64_t>(random() % 8'000);
    }
    add_by_start(capture, ops);
    const std::int64_t wait = std::max<std::int64_t>(0, all_done - host) + 2'000;
    capture.add(
        CallRecord{.start_ns = host, .duration_ns = wait, .kind = CallKind::kSynchronizeDevice, .thread = thread});
    host += wait + 10'000'000 + static_cast<std::int64_t>(random() % 30'000'000);
  }
  return std::move(capture).seal();
}

std::vector<yardstick::StreamColumns> floor_columns(const Timeline& capture, std::uint32_t clients) {
  const std::size_t streams = capture.queues().size();
  std::vector<yardstick::StreamColumns> columns(streams * clients);
  std::vector<std::int64_t> before(streams);
  for (const OpRecord& op : capture.ops()) {
    const auto gap = static_cast<std::uint32_t>(op.start_ns - std::exchange(before[op.queue], op.start_ns));
    for (std::size_t c = 0; c < clients; ++c) {
      yardstick::StreamColumns& stream = columns[c * streams + op.queue];
      stream.gap_ns.push_back(gap + static_cast<std::uint32_t>(c));  // no two clients in step
      stream.duration_ns.push_back(static_cast<std::uint32_t>(op.duration_ns));
    }
  }
  return columns;
}

}  // namespace corun::bench
