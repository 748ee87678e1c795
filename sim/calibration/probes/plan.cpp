#include "sim/calibration/probes/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/calibration/probes/work_kind.h"

namespace corun::calibration {

namespace {

constexpr std::int64_t kUs = 1'000, kMs = 1'000'000;
constexpr std::int64_t kStart = 900 * kMs;  // of a process with a context, with its own measurements

ProbeChoice spin(std::int64_t duration_ns, bool is_full = false) {
  return {"spin", {{"duration_ns", duration_ns}, {"full", is_full}}};
}

ProbeChoice load(WorkKind kind, std::int64_t length_ns, std::int64_t duration_ns, std::int64_t waves = 1,
                 std::int64_t fill_percent = 100) {
  return {"load",
          {{"kind", static_cast<std::int64_t>(kind)},
           {"length_ns", length_ns},
           {"duration_ns", duration_ns},
           {"waves", waves},
           {"fill_percent", fill_percent}}};
}

ProbeChoice shorts(std::int64_t length_ns, std::int64_t period_ns, std::int64_t duration_ns, std::int64_t blocks) {
  return {"short",
          {{"length_ns", length_ns}, {"period_ns", period_ns}, {"duration_ns", duration_ns}, {"blocks", blocks}}};
}

struct Frames {
  std::int64_t frame_ns, draws = 1, ahead = 1, finish = 0, period_ns = 0;
};

ProbeChoice draw(const Frames& frames, std::int64_t duration_ns) {
  return {"draw",
          {{"frame_ns", frames.frame_ns},
           {"draws", frames.draws},
           {"ahead", frames.ahead},
           {"finish", frames.finish},
           {"period_ns", frames.period_ns},
           {"duration_ns", duration_ns}}};
}

void add_slices(std::vector<Trial>& plan) {
  const std::int64_t length = 1'000 * kMs;
  plan.push_back({"slice", "slice_alone", {spin(300 * kMs)}});
  plan.push_back({"slice", "slice_two", {spin(length), spin(length)}, false, 2});
  plan.push_back({"slice", "slice_three", {spin(length), spin(length), spin(length)}});
  plan.push_back({"slice", "slice_full", {spin(length, true), spin(length, true)}});
  for (const WorkKind kind : {WorkKind::kCompute, WorkKind::kAdd, WorkKind::kCache}) {
    const ProbeChoice each = load(kind, 200 * kUs, length);
    plan.push_back({"slice", fmt::format("slice_work_{}", to_string(kind)), {each, each}});
  }
  for (const int percent : kSliceFills) {
    const ProbeChoice each = load(WorkKind::kCompute, 200 * kUs, length, 1, percent);
    plan.push_back({"slice", fmt::format("slice_fill_{}", percent), {each, each}});
  }
  const std::int64_t long_enough = 2'500 * kMs;
  plan.push_back({"idle", "idle_short", {spin(long_enough), shorts(20 * kUs, 7 * kMs, long_enough, 1)}});
  plan.push_back(
      {"idle", "idle_two", {spin(long_enough), spin(long_enough), shorts(20 * kUs, 12 * kMs, long_enough, 1)}});
  for (const std::int64_t kernel : {10 * kMs, 500 * kUs}) {
    const ProbeChoice queue = load(WorkKind::kCompute, kernel, long_enough);
    plan.push_back(
        {"idle", fmt::format("idle_queue_{}us", kernel / kUs), {queue, shorts(20 * kUs, 7 * kMs, long_enough, 1)}});
  }
  const ProbeChoice queue = load(WorkKind::kCompute, 10 * kMs, long_enough);
  plan.push_back({"idle", "idle_two_queues", {queue, queue, shorts(20 * kUs, 12 * kMs, long_enough, 1)}});
}

void add_single(std::vector<Trial>& plan) {
  plan.push_back({"copy", "copy_alone", {{"copy"}}});
  plan.push_back({"copy", "copy_beside", {{"copy", {{"repetitions", 15}}}, spin(500 * kMs)}});
  plan.push_back({"launch", "launch", {{"launch"}}});
  plan.push_back({"context", "context", {{"memory"}, {"context"}}, false, 2});
  plan.push_back({"clock", "clock", {{"clock"}}});
  plan.push_back({"priority", "priority", {{"priority"}}});
}

void add_graphics(std::vector<Trial>& plan) {
  const std::int64_t length = 800 * kMs;
  const auto add = [&](const std::string& name, int computing, const Frames& frames) {
    std::vector<ProbeChoice> probes = {draw(frames, length)};
    for (int i = 0; i < computing; ++i) probes.push_back(spin(length));
    plan.push_back({"graphics", name, probes});
  };
  add("draw_long", 1, {.frame_ns = 8 * kMs});
  for (const int computing : {0, 1, 2, 3}) {
    add(fmt::format("draw_1_ahead_1_beside_{}", computing), computing, {.frame_ns = 2'250 * kUs});
    if (computing == 0) continue;
    add(fmt::format("draw_1_finished_beside_{}", computing), computing, {.frame_ns = 2'250 * kUs, .finish = 1});
  }
  for (const int draws : {1, 2, 4})
    for (const int ahead : {1, 3}) {
      if (draws == 1 && ahead == 1) continue;
      add(fmt::format("draw_{}_ahead_{}_beside_1", draws, ahead), 1,
          {.frame_ns = 2'250 * kUs, .draws = draws, .ahead = ahead});
    }
  add("draw_4_ahead_1_beside_3", 3, {.frame_ns = 2'250 * kUs, .draws = 4});
  for (const int computing : {1, 3}) {
    add(fmt::format("draw_1_paced_beside_{}", computing), computing,
        {.frame_ns = 2'250 * kUs, .period_ns = 16'666'667});
    add(fmt::format("draw_1_paced_long_beside_{}", computing), computing,
        {.frame_ns = 8'850 * kUs, .period_ns = 16'666'667});
  }
}

void add_sm_rates(std::vector<Trial>& plan) {
  for (const int percent : {100, 75, 50, 33, 25, 12}) {
    ProbeChoice rates{"rates"};
    rates.thread_percent = percent;
    plan.push_back({"sm_rate", fmt::format("sm_rate_{}", percent), {rates}, true});
  }
  plan.push_back({"sm_rate", "sm_fill", {{"fills"}}});
}

/// Kernels of a few blocks, now and then and one after another, co-located with kernels that fill the device.
void add_small(std::vector<Trial>& plan) {
  const std::int64_t length = 600 * kMs;
  constexpr std::int64_t kBlocks = 66;
  const std::pair<std::string, ProbeChoice> fillers[] = {{"compute", load(WorkKind::kCompute, 200 * kUs, length, 4)},
                                                         {"add", load(WorkKind::kAdd, 200 * kUs, length)}};
  for (const auto& [filler, busy] : fillers)
    for (const WorkKind kind : {WorkKind::kCompute, WorkKind::kCache}) {
      ProbeChoice tiny = shorts(20 * kUs, 2 * kMs, length, kBlocks);
      tiny.settings.insert({{"kind", static_cast<std::int64_t>(kind)}, {"threads", 256}});
      plan.push_back({"mps", fmt::format("mps_tiny_{}_beside_{}", to_string(kind), filler), {tiny, busy}, true});
      ProbeChoice small = load(kind, 10 * kUs, length);
      small.settings["blocks"] = kBlocks;
      plan.push_back({"mps", fmt::format("mps_small_{}_beside_{}", to_string(kind), filler), {small, busy}, true});
    }
}

/// Two clients in turns, each with a working set of two places that fits in the cache or that leaves no room for the
/// other's.
void add_turns(std::vector<Trial>& plan) {
  struct Set {
    std::int64_t place_mib, passes;
  };
  for (const auto& [place_mib, passes] : {Set{2, 32}, Set{4, 16}, Set{8, 8}, Set{16, 4}}) {
    ProbeChoice each = load(WorkKind::kCache, 0, 400 * kMs);
    each.settings.insert({{"place_bytes", place_mib << 20}, {"passes", passes}});
    plan.push_back({"mps", fmt::format("mps_turns_{}mib_{}", 2 * place_mib, passes), {each, each}, true});
  }
}

void add_sharing(std::vector<Trial>& plan) {
  const std::int64_t length = 600 * kMs;
  const auto pair = [&](const std::string& name, const ProbeChoice& a, const ProbeChoice& b) {
    plan.push_back({"mps", name, {a, b}, true});
  };
  pair("mps_spin", spin(400 * kMs), spin(400 * kMs));
  struct Part {
    std::int64_t length_us, fill, waves = 1;
  };
  const auto whole = [&](const Part& part) {  // of its blocks, each has a multiprocessor to itself
    ProbeChoice choice = load(WorkKind::kCompute, part.length_us * kUs, length, part.waves, part.fill);
    choice.settings["whole"] = 1;
    return choice;
  };
  const std::pair<Part, Part> wholes[] = {
      {{1'000, 50}, {1'000, 50}}, {{1'000, 75}, {1'000, 75}}, {{2'000, 75}, {250, 50}}, {{1'000, 90}, {1'000, 25}}};
  for (const auto& [a, b] : wholes)
    pair(fmt::format("mps_part_whole_{}us_{}_{}us_{}", a.length_us, a.fill, b.length_us, b.fill), whole(a), whole(b));
  const std::pair<Part, Part> parts[] = {{{1'000, 50}, {1'000, 50}}, {{1'000, 75}, {1'000, 75}},
                                         {{2'000, 75}, {250, 50}},   {{1'000, 90}, {1'000, 25}},
                                         {{1'000, 100}, {300, 100}}, {{1'000, 100, 10}, {300, 100, 10}}};
  for (const auto& [a, b] : parts)
    pair(fmt::format("mps_part_{}us_{}x{}_{}us_{}x{}", a.length_us, a.fill, a.waves, b.length_us, b.fill, b.waves),
         load(WorkKind::kCompute, a.length_us * kUs, length, a.waves, a.fill),
         load(WorkKind::kCompute, b.length_us * kUs, length, b.waves, b.fill));
  const WorkKind kinds[] = {WorkKind::kAdd, WorkKind::kCache, WorkKind::kCompute};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = i; k < 3; ++k)
      pair(fmt::format("mps_loss_{}_{}", to_string(kinds[i]), to_string(kinds[k])),
           load(kinds[i], 200 * kUs, length, 4), load(kinds[k], 200 * kUs, length, 4));
  for (const std::int64_t waves : {1, 40})
    pair(fmt::format("mps_tiny_beside_{}_waves", waves), shorts(5 * kUs, 2 * kMs, length, 4),
         load(WorkKind::kCompute, 1'000 * kUs, length, waves));
  pair("mps_tiny_beside_traffic", shorts(5 * kUs, 2 * kMs, length, 4), load(WorkKind::kAdd, 200 * kUs, length));
  pair("mps_tiny_beside_half", shorts(5 * kUs, 2 * kMs, length, 4),
       load(WorkKind::kCompute, 1'000 * kUs, length, 1, 50));
}

}  // namespace

Duration Trial::expected() const {
  std::int64_t longest = 0;
  for (const ProbeChoice& choice : probes) {
    const auto found = choice.settings.find("duration_ns");
    longest = std::max(longest, found == choice.settings.end() ? 700 * kMs : found->second);
  }
  return Duration{repetitions * (longest + static_cast<std::int64_t>(probes.size()) * kStart)};
}

const std::vector<Trial>& calibration_plan() {
  static const std::vector<Trial> whole = [] {
    std::vector<Trial> plan = {{"device", "device", {{"properties"}}}};
    add_slices(plan);
    add_single(plan);
    add_graphics(plan);
    add_sm_rates(plan);
    add_sharing(plan);
    add_small(plan);
    add_turns(plan);
    return plan;
  }();
  return whole;
}

std::vector<std::string> calibration_groups() {
  std::vector<std::string> groups;
  for (const Trial& trial : calibration_plan())
    if (std::ranges::find(groups, trial.group) == groups.end()) groups.push_back(trial.group);
  return groups;
}

}  // namespace corun::calibration
