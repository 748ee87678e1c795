#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/calibration/fits/fit.h"
#include "sim/calibration/fits/prediction.h"
#include "sim/calibration/fits/together.h"
#include "sim/calibration/probes/plan.h"
#include "sim/calibration/probes/work_kind.h"
#include "sim/device/occupancy.h"

namespace corun::calibration {

namespace {

constexpr auto kOpenDriverSliceNs = static_cast<double>(to_ns(kOpenDriverSlice));

struct Absences {
  std::vector<double> gaps;  ///< how long a context was away
  std::vector<double> runs;  ///< how long it ran between two absences
};

/// Those of a spinner in a window in which its partners spin too.
void add_absences(const Sample& spinner, Window window, Absences& absences) {
  const Series& begins = spinner.of("gap_begin_ns");
  const Series& lengths = spinner.of("gap_length_ns");
  for (std::size_t i = 0; i < begins.size(); ++i) {
    if (begins[i] < window.from || begins[i] + lengths[i] > window.to) continue;
    absences.gaps.push_back(as_double(lengths[i]));
    if (i > 0 && begins[i - 1] >= window.from)
      absences.runs.push_back(as_double(begins[i] - begins[i - 1] - lengths[i - 1]));
  }
}

Absences absences_of(const Samples& samples, const std::string& trial) {
  Absences absences;
  for (const Together& spinners : together(samples, trial)) {
    const Window window = window_of_spinners(spinners);
    for (const Sample* spinner : spinners) add_absences(*spinner, window, absences);
  }
  return absences;
}

DeviceSpec with(DeviceSpec device, double slice_ns, double switch_ns) {
  device.time_slice = Duration{static_cast<std::int64_t>(slice_ns)};
  device.switch_cost = Duration{static_cast<std::int64_t>(switch_ns)};
  return device;
}

Finding slice_finding(const Absences& two) {
  Finding slice{.key = "time_slice", .title = "time slice", .value = spread_of(two.runs)};
  slice.method =
      fmt::format("{} stretches that one of two spinning contexts ran between two absences", two.runs.size());
  return slice;
}

/// Three spinners are predicted from what two showed.
void compare_absences(const Absences& absences, double others, double slice_ns, double switch_ns, double length_ns,
                      Finding& finding) {
  if (absences.gaps.empty()) return;
  Comparison c{fmt::format("absence with {:.0f} spinning", others), median(absences.gaps)};
  const auto away = [&](double slice, double cost) { return others * slice + (others + 1) * cost; };
  c.model = away(slice_ns, switch_ns);
  c.nulls = {{"no slices (run to completion)", others * length_ns},
             {"open driver's slice of 1.024 ms", away(kOpenDriverSliceNs, switch_ns)},
             {"switching for nothing", away(slice_ns, 0)}};
  finding.comparisons.push_back(std::move(c));
}

/// Mean of the steps from one instant to the next; steps of which one in between was not seen are left out.
double mean_step(const std::vector<double>& instants) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < instants.size(); ++i) steps.push_back(instants[i] - instants[i - 1]);
  if (steps.empty()) return 0;
  const double usual = median(steps);
  std::erase_if(steps, [&](double step) { return std::abs(step / usual - 1) > 0.3; });
  return steps.empty() ? 0 : std::accumulate(steps.begin(), steps.end(), 0.0) / static_cast<double>(steps.size());
}

/// A program of equal kernels that others keep away from the device now and then.
struct Turns {
  double undisturbed_ns = 0;        ///< from one kernel's end to the next one's
  std::vector<double> absences_at;  ///< end of the kernel that an absence delayed
};

/// The pace between absences is that of the program alone, its host and the gaps between kernels included: what two
/// programs lose in addition is lost to switches.
Turns turns_of(const Sample& load, Window window, double slice_ns) {
  Turns turns;
  std::vector<double> steps, at;
  const Series& ends = load.of("end_ns");
  for (std::size_t i = 1; i < ends.size(); ++i) {
    if (ends[i - 1] < window.from || ends[i] > window.to) continue;
    steps.push_back(as_double(ends[i] - ends[i - 1]));
    at.push_back(as_double(ends[i]));
  }
  if (steps.empty()) return turns;
  turns.undisturbed_ns = median(steps);
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i] > turns.undisturbed_ns + slice_ns / 2) turns.absences_at.push_back(at[i]);
  return turns;
}

LaunchShape shape_of(const Sample& load) {
  return {.grid_x = static_cast<std::uint32_t>(load.first("blocks", 1)),
          .grid_y = 1,
          .grid_z = 1,
          .block_x = static_cast<std::uint32_t>(load.first("threads", 1)),
          .block_y = 1,
          .block_z = 1};
}

/// Two co-located programs of equal kernels.
struct WorkPair {
  double turn_ns = 0;   ///< from one absence of a program to its next, mean of both
  double kept = 0;      ///< of the work that they would get done without switches
  LaunchShape shape{};  ///< of the first one's kernels
  Duration undisturbed[2]{};
  Duration length{};
};

std::string work_trial(WorkKind kind) { return fmt::format("slice_work_{}", to_string(kind)); }

std::vector<WorkPair> work_pairs(const Samples& samples, const std::string& trial, double slice_ns) {
  std::vector<WorkPair> pairs;
  for (const Together& loads : together(samples, trial)) {
    const Window window = window_of_loads(loads, 3);
    if (window.to <= window.from || loads.size() != 2) continue;
    WorkPair pair{.shape = shape_of(*loads[0]), .length = Duration{window.to - window.from}};
    for (std::size_t i = 0; i < 2; ++i) {
      const Turns turns = turns_of(*loads[i], window, slice_ns);
      pair.undisturbed[i] = Duration{static_cast<std::int64_t>(turns.undisturbed_ns)};
      pair.turn_ns += mean_step(turns.absences_at) / 2;
      pair.kept += as_double(ended_in(window, *loads[i])) * turns.undisturbed_ns / as_double(to_ns(pair.length));
    }
    if (pair.turn_ns > slice_ns) pairs.push_back(pair);  // else they were not switched
  }
  return pairs;
}

struct SwitchCost {
  std::string between;
  double ns;
};

struct SwitchCosts {
  std::vector<SwitchCost> light;  ///< between contexts of one thread
  std::vector<SwitchCost> full;   ///< between contexts that fill the device
  /// A device file's: where nothing filled the device, that between threads.
  const std::vector<SwitchCost>& usual() const { return full.empty() ? light : full; }
};

/// What of two contexts neither gets, a switch: each is away for the other's slice and two switches.
SwitchCosts switch_costs(const Samples& samples, double slice_ns) {
  SwitchCosts costs;
  const auto add_spinners = [&](std::vector<SwitchCost>& to, const std::string& between, const std::string& trial) {
    const Absences absences = absences_of(samples, trial);
    if (absences.runs.empty()) return;
    const double cost_ns = (median(absences.gaps) - median(absences.runs)) / 2;
    if (cost_ns > 0) to.push_back({between, cost_ns});  // else they were away too seldom
  };
  add_spinners(costs.light, "two spinning threads", "slice_two");
  add_spinners(costs.full, "two spinning kernels that fill the device", "slice_full");
  for (const WorkKind kind : kWorkKinds)
    for (const WorkPair& pair : work_pairs(samples, work_trial(kind), slice_ns)) {
      const double cost_ns = slice_ns * (1 / pair.kept - 1);
      if (cost_ns <= 0) continue;  // what they lost is too little to be seen in their pace
      costs.full.push_back({fmt::format("two programs of `{}` kernels, {} of it from turn to turn", to_string(kind),
                                        text_of(pair.turn_ns / 2 - slice_ns, Unit::kNs)),
                            cost_ns});
    }
  return costs;
}

Finding switch_finding(const std::vector<SwitchCost>& costs) {
  std::vector<double> values;
  for (const SwitchCost& cost : costs) values.push_back(cost.ns);
  Finding finding{.key = "switch_cost", .title = "switch cost", .value = spread_of(values)};
  finding.method = fmt::format("median of {} pairs of contexts: what neither got, a switch", costs.size());
  for (const SwitchCost& cost : costs)
    finding.notes.push_back(fmt::format("{} between {}", text_of(cost.ns, Unit::kNs), cost.between));
  return finding;
}

/// What threads, which leave next to nothing to save, pay less than contexts that fill the device.
Finding state_finding(const SwitchCosts& costs) {
  const double light_ns = costs.light.front().ns;
  std::vector<double> parts;
  for (const SwitchCost& cost : costs.full) parts.push_back(std::clamp(1 - light_ns / cost.ns, 0.0, 1.0));
  Finding finding{.key = "switch_state",
                  .title = "part of the switch cost that goes with threads",
                  .unit = Unit::kRatio,
                  .value = spread_of(parts)};
  finding.method = fmt::format(
      "median of {} pairs of contexts that fill the device: what two spinning threads, {} a switch, lose less",
      parts.size(), text_of(light_ns, Unit::kNs));
  return finding;
}

/// What programs lose that fill a part of the device is predicted from those that fill it.
void compare_fills(const Samples& samples, const DeviceSpec& device, Finding& finding) {
  const double slice = as_double(to_ns(device.time_slice)), cost = as_double(to_ns(device.switch_cost));
  for (const int percent : kSliceFills)
    for (const WorkPair& pair : work_pairs(samples, fmt::format("slice_fill_{}", percent), slice)) {
      const SmShare threads = resident_threads(device, OpKind::kKernel, pair.shape);
      const auto with_state = [&](SmShare state) {
        return cost * (1 - device.switch_state * (1 - as_double(state) / as_double(kAllSms)));
      };
      finding.comparisons.push_back({fmt::format("switch between programs that fill {} % of the device", percent),
                                     slice * (1 / pair.kept - 1),
                                     with_state(saved_state(threads)),
                                     {{"in proportion to their threads", with_state(threads)},
                                      {"as between threads", with_state(0)},
                                      {"as between full ones", cost}}});
    }
}

void compare_work(const Samples& samples, const DeviceSpec& device, Finding& finding) {
  const double slice = as_double(to_ns(device.time_slice)), cost = as_double(to_ns(device.switch_cost));
  for (const WorkKind kind : kWorkKinds)
    for (const WorkPair& pair : work_pairs(samples, work_trial(kind), slice)) {
      std::vector<Program> programs;
      for (const Duration undisturbed : pair.undisturbed) programs.push_back({.ops = {undisturbed}, .ahead = 3});
      const auto kept = [&](const DeviceSpec& spec) {
        double sum = 0;
        for (const Progress& its : predict(spec, programs, pair.length)) sum += its.device_share;
        return sum;
      };
      Comparison c{fmt::format("work kept by two programs of `{}` kernels", to_string(kind)), pair.kept};
      c.model = kept(device);
      c.nulls = {{"switching for nothing", 1.0},
                 {"open driver's slice of 1.024 ms", kept(with(device, kOpenDriverSliceNs, cost))},
                 {"twice the slice", kept(with(device, 2 * slice, cost))}};
      finding.comparisons.push_back(std::move(c));
    }
}

/// Of what the driver's tables say nothing: the share of the device that each of some spinners has.
void note_fairness(const Samples& samples, Finding& finding) {
  for (const char* trial : {"slice_two", "slice_three"})
    for (const Together& spinners : together(samples, trial)) {
      std::string shares;
      for (const Sample* spinner : spinners)
        shares += fmt::format("{}{:.1f} %", shares.empty() ? "" : ", ", 100 * share_of_spinner(*spinner));
      finding.notes.push_back(fmt::format("{}: the contexts ran {} of their time", trial, shares));
    }
}

}  // namespace

std::vector<Finding> fit_slices(const Samples& samples, DeviceSpec& device) {
  const Absences two = absences_of(samples, "slice_two"), three = absences_of(samples, "slice_three");
  const std::vector<Together> pairs = together(samples, "slice_two");
  if (pairs.empty()) return {};
  if (two.runs.empty()) {
    Finding none{.title = "time slice", .unit = Unit::kChoice, .choice = "none seen"};
    none.method = "two spinning contexts were never away while both ran";
    none.notes = {"kernels of two processes ran at once: an MPS daemon serves them, or the device runs to completion"};
    return {none};
  }
  Finding slice = slice_finding(two);
  const double slice_ns = slice.value.value;
  const SwitchCosts costs = switch_costs(samples, slice_ns);
  device.sharing = Sharing::kTimeSliced;
  device.time_slice = Duration{static_cast<std::int64_t>(slice_ns)};
  if (costs.light.empty()) return {slice};
  const double light_ns = costs.light.front().ns;
  Finding cost = switch_finding(costs.usual());
  device.switch_cost = Duration{static_cast<std::int64_t>(cost.value.value)};
  const double length = as_double(pairs.front().front()->first("end_ns") - pairs.front().front()->first("begin_ns"));
  compare_absences(two, 1, slice_ns, light_ns, length, slice);
  compare_absences(three, 2, slice_ns, light_ns, length, slice);
  note_fairness(samples, slice);
  cost.compared_in = Unit::kRatio;
  compare_work(samples, device, cost);
  if (costs.full.empty()) return {slice, cost};
  Finding state = state_finding(costs);
  device.switch_state = state.value.value;
  compare_fills(samples, device, state);
  return {slice, cost, state};
}

}  // namespace corun::calibration
