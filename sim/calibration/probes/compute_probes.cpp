#include <unistd.h>

#include <algorithm>
#include <deque>

#include "sim/calibration/probes/probe_context.h"
#include "sim/executor/host/wall_clock.h"
#include "sim/executor/worker/device_context.h"

namespace corun::calibration {

namespace {

using executor::CudaHandle;
using executor::Stamp;
using executor::WallClock;

constexpr std::int64_t kUs = 1'000;

std::int64_t length_of(const Stamp& stamp) { return static_cast<std::int64_t>(stamp.end_ns - stamp.begin_ns); }

/// Lets the device reach the speed at which it then is measured.
void warm_up(ProbeContext& context) {
  const Work work{WorkKind::kCompute, context.resident_blocks(256), 256, 200'000};
  for (const std::int64_t begin = WallClock::monotonic_ns(); WallClock::monotonic_ns() - begin < 60'000 * kUs;)
    context.run(work);
}

Work work_asked_for(ProbeContext& context, const ProbeRequest& request) {
  warm_up(context);
  const auto kind = static_cast<WorkKind>(request.setting("kind", 0));
  if (const std::int64_t passes = request.setting("passes", 0); passes > 0)
    return context.passes_over(static_cast<std::uint64_t>(request.setting("place_bytes", 0)), passes);
  if (const std::int64_t blocks = request.setting("blocks", 0); blocks > 0)
    return context.small_work_of_length(kind, request.setting("length_ns", 100'000),
                                        static_cast<std::uint32_t>(blocks));
  if (request.setting("whole", 0) != 0)
    return context.whole_work_of_length(request.setting("length_ns", 100'000),
                                        static_cast<double>(request.setting("waves", 1)),
                                        static_cast<double>(request.setting("fill_percent", 100)) / 100.0);
  return context.work_of_length(kind, request.setting("length_ns", 100'000),
                                static_cast<double>(request.setting("waves", 1)),
                                static_cast<double>(request.setting("fill_percent", 100)) / 100.0,
                                static_cast<std::uint64_t>(request.setting("iterations", 16)));
}

void describe(ProbeContext& context, const Work& work, Sample& sample) {
  sample.series["alone_ns"] = {context.time_of(work)};
  sample.series["blocks"] = {work.blocks};
  sample.series["threads"] = {work.threads};
  sample.series["shared_bytes"] = {work.shared_bytes};
}

void add(Sample& sample, const char* name, std::int64_t number) { sample.series[name].push_back(number); }

void nap_until(std::int64_t instant_ns) {
  const std::int64_t left = instant_ns - WallClock::monotonic_ns();
  if (left > 100 * kUs) usleep(static_cast<useconds_t>((left - 80 * kUs) / kUs));
  while (WallClock::monotonic_ns() < instant_ns) executor::rest();
}

}  // namespace

/// `duration_ns`, `full` (1: fills the device), `least_gap_ns`.
Sample probe_spin(const ProbeRequest& request, const AwaitStart& await_start) {
  ProbeContext context(request);
  const bool is_full = request.setting("full", 0) != 0;
  const std::uint32_t threads = is_full ? 256 : 1, blocks = is_full ? context.resident_blocks(threads) : 1;
  Sample sample = context.sample();
  std::vector<std::uint64_t> gaps;
  context.spin(100 * kUs, 1'000'000, 1, 1, gaps);
  const std::int64_t start = await_start();
  const SpinReport report = context.spin(request.setting("duration_ns", 500'000 * kUs),
                                         request.setting("least_gap_ns", 5 * kUs), blocks, threads, gaps);
  sample.series["begin_ns"] = {context.to_host(report.begin_ns) - start};
  sample.series["end_ns"] = {context.to_host(report.end_ns) - start};
  sample.series["gaps"] = {static_cast<std::int64_t>(report.gaps)};
  sample.series["clock_step_ns"] = {static_cast<std::int64_t>(report.step_ns)};
  sample.series["gap_begin_ns"];
  sample.series["gap_length_ns"];
  for (std::size_t i = 0; i + 1 < gaps.size(); i += 2) {
    add(sample, "gap_begin_ns", context.to_host(gaps[i]) - start);
    add(sample, "gap_length_ns", static_cast<std::int64_t>(gaps[i + 1]));
  }
  return sample;
}

/// Launches work of `length_ns` every `period_ns` or so (the pauses differ, to hit every phase of what others do), each
/// after the one before has ended.
Sample probe_short(const ProbeRequest& request, const AwaitStart& await_start) {
  ProbeContext context(request);
  Work work{static_cast<WorkKind>(request.setting("kind", 0)), static_cast<std::uint32_t>(request.setting("blocks", 1)),
            static_cast<std::uint32_t>(request.setting("threads", 32)), 100};
  warm_up(context);
  const std::int64_t length = request.setting("length_ns", 20 * kUs);
  for (int step = 0; step < 6; ++step)
    work.iterations =
        std::max<std::uint64_t>(1, work.iterations * static_cast<std::uint64_t>(length) /
                                       static_cast<std::uint64_t>(std::max<std::int64_t>(1, context.time_of(work))));
  Sample sample = context.sample();
  describe(context, work, sample);
  const std::int64_t period = request.setting("period_ns", 5'000 * kUs);
  const std::int64_t start = await_start(), end = start + request.setting("duration_ns", 500'000 * kUs);
  for (std::int64_t i = 0, next = start; next < end; ++i) {
    nap_until(next);
    const std::int64_t submitted = WallClock::monotonic_ns();
    const Stamp stamp = context.run(work);
    add(sample, "submit_ns", submitted - start);
    add(sample, "begin_ns", context.to_host(stamp.begin_ns) - start);
    add(sample, "end_ns", context.to_host(stamp.end_ns) - start);
    const std::int64_t golden = (i + 1) * 618'034 % 1'000'000;  // spread evenly over [0, 1) of a period
    next = std::max(next, WallClock::monotonic_ns()) + period / 2 + period * golden / 1'000'000;
  }
  return sample;
}

/// Keeps `ahead` launches of the work it was asked for in the queue for `duration_ns`; with `pause_ns` it waits for
/// each one and that long in addition. Alone it does the same for a while: its pace has the gaps between kernels.
Sample probe_load(const ProbeRequest& request, const AwaitStart& await_start) {
  ProbeContext context(request);
  const Work work = work_asked_for(context, request);
  Sample sample = context.sample();
  describe(context, work, sample);
  const auto ahead = static_cast<std::size_t>(request.setting("ahead", 3));
  const std::int64_t pause = request.setting("pause_ns", 0);
  std::deque<std::uint64_t> queue;
  const auto work_until = [&](std::int64_t end, const auto& note) {
    while (WallClock::monotonic_ns() < end) {
      while (queue.size() < (pause > 0 ? 1 : ahead)) queue.push_back(context.launch(work, context.stream));
      note(context.await(queue.front()));
      queue.pop_front();
      if (pause > 0) nap_until(WallClock::monotonic_ns() + pause);
    }
    for (; !queue.empty(); queue.pop_front()) context.await(queue.front());
  };
  std::vector<std::uint64_t> ends;
  work_until(WallClock::monotonic_ns() + 60'000 * kUs, [&](const Stamp& stamp) { ends.push_back(stamp.end_ns); });
  if (ends.size() > 1)
    sample.series["alone_period_ns"] = {static_cast<std::int64_t>((ends.back() - ends.front()) / (ends.size() - 1))};
  const std::int64_t start = await_start();
  work_until(start + request.setting("duration_ns", 500'000 * kUs), [&](const Stamp& stamp) {
    add(sample, "begin_ns", context.to_host(stamp.begin_ns) - start);
    add(sample, "end_ns", context.to_host(stamp.end_ns) - start);
  });
  return sample;
}

/// A fixed amount of work of every kind, over and over: what a context with part of the multiprocessors makes of it.
Sample probe_rates(const ProbeRequest& request, const AwaitStart& await_start) {
  const Work works[] = {{WorkKind::kCompute, 16'384, 256, 8'000},
                        {WorkKind::kAdd, 16'384, 256, 16},
                        {WorkKind::kCopy, 16'384, 256, 16},
                        {WorkKind::kCache, 16'384, 256, 16}};
  ProbeContext context(request);
  Sample sample = context.sample();
  sample.series["sm_count"] = {context.attribute(executor::kSmCount)};
  warm_up(context);
  for (const Work& work : works) context.run(work);
  await_start();
  for (std::int64_t i = 0; i < request.setting("repetitions", 25); ++i)
    for (const Work& work : works)
      sample.series[std::string(to_string(work.kind)) + "_ns"].push_back(length_of(context.run(work)));
  return sample;
}

/// A fixed amount of work of every kind, with a multiprocessor holding fewer and fewer of its blocks.
Sample probe_fills(const ProbeRequest& request, const AwaitStart& await_start) {
  ProbeContext context(request);
  Sample sample = context.sample();
  warm_up(context);
  std::vector<std::pair<std::string, Work>> works;
  for (const std::uint32_t held : {8U, 4U, 2U, 1U})
    for (const WorkKind kind : kWorkKinds) {
      const std::uint64_t iterations = kind == WorkKind::kCompute ? 8'000 : 16;
      const Work work = context.at_most_per_multiprocessor({kind, 16'384, 256, iterations}, held);
      works.emplace_back(std::string(to_string(kind)) + "_" + std::to_string(held) + "_ns", work);
    }
  for (const auto& [series, work] : works) context.run(work);
  await_start();
  for (std::int64_t i = 0; i < request.setting("repetitions", 25); ++i)
    for (const auto& [series, work] : works) sample.series[series].push_back(length_of(context.run(work)));
  return sample;
}

/// The clock of a multiprocessor: one thread on an idle device, then every multiprocessor at work.
Sample probe_clock(const ProbeRequest& request, const AwaitStart& await_start) {
  ProbeContext context(request);
  Sample sample = context.sample();
  sample.series["top_khz"] = {context.attribute(executor::kTopClockKhz)};
  const Work light{WorkKind::kCompute, 1, 32, 400'000};
  const Work heavy{WorkKind::kCompute, context.resident_blocks(256), 256, 400'000};
  const std::int64_t start = await_start();
  const std::int64_t light_end = start + request.setting("light_ns", 200'000 * kUs);
  const std::int64_t end = light_end + request.setting("duration_ns", 1'500'000 * kUs);
  while (WallClock::monotonic_ns() < end) {
    const bool is_light = WallClock::monotonic_ns() < light_end;
    std::uint64_t cycles = 0;
    const Stamp stamp = context.await(context.launch_cycles(is_light ? light : heavy, &cycles));
    const std::int64_t length = std::max<std::int64_t>(1, length_of(stamp));
    add(sample, is_light ? "light_khz" : "heavy_khz", static_cast<std::int64_t>(cycles) * 1'000'000 / length);
    add(sample, is_light ? "light_at_ns" : "heavy_at_ns", context.to_host(stamp.begin_ns) - start);
  }
  return sample;
}

/// Short work while a kernel of many blocks runs in another stream of the same process, of equal priority and urgent.
Sample probe_priority(const ProbeRequest& request, const AwaitStart& await_start) {
  ProbeContext context(request);
  warm_up(context);
  const Work background = context.work_of_length(WorkKind::kCompute, request.setting("length_ns", 4'000 * kUs),
                                                 static_cast<double>(request.setting("waves", 40)), 1.0);
  const Work brief{WorkKind::kCompute, 4, 256, 1'000};
  const CudaHandle ordinary = context.make_stream(), equal = context.make_stream(), urgent = context.make_stream(true);
  Sample sample = context.sample();
  sample.series["background_alone_ns"] = {context.time_of(background)};
  sample.series["brief_alone_ns"] = {context.time_of(brief)};
  await_start();
  for (std::int64_t i = 0; i < request.setting("repetitions", 30); ++i)
    for (const auto& [on, name] : {std::pair{equal, "equal"}, std::pair{urgent, "urgent"}}) {
      const std::uint64_t behind = context.launch(background, ordinary);
      nap_until(WallClock::monotonic_ns() + 500 * kUs);
      const std::int64_t submitted = WallClock::monotonic_ns();
      const Stamp stamp = context.await(context.launch(brief, on));
      add(sample, (std::string(name) + "_wait_ns").c_str(), context.to_host(stamp.begin_ns) - submitted);
      add(sample, (std::string(name) + "_background_ns").c_str(), length_of(context.await(behind)));
    }
  return sample;
}

}  // namespace corun::calibration
