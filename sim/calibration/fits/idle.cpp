#include <fmt/format.h>

#include <algorithm>

#include "sim/calibration/fits/fit.h"
#include "sim/calibration/fits/prediction.h"
#include "sim/calibration/fits/together.h"

namespace corun::calibration {

namespace {

/// Visits of short kernels to a device that others keep busy: by spinning, or by kernels one after another.
struct Visits {
  std::size_t spinning = 0;
  Duration queued{};                    ///< length of a busy one's kernels; 0 = it spins
  std::int64_t kernel_ns = 0;           ///< one of them alone
  std::vector<Duration> submitted;      ///< since they began
  std::vector<double> waits;            ///< submission to begin
  std::vector<double> lingers, visits;  ///< see fit_idle; with one spinner
  Duration length{};                    ///< while they were busy
};

/// The visit of a short kernel is the spinner's absence that holds it.
void add_absence(const Sample& spinner, std::int64_t begin, std::int64_t end, Visits& found) {
  constexpr std::int64_t kClockError = 20'000;
  const Series &gaps = spinner.of("gap_begin_ns"), &lengths = spinner.of("gap_length_ns");
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    const std::int64_t back = gaps[i] + lengths[i];
    if (gaps[i] > begin + kClockError || back < end - kClockError) continue;
    found.visits.push_back(as_double(lengths[i]));
    found.lingers.push_back(as_double((back - end) - (begin - gaps[i])));
    return;
  }
}

Window window_of(std::span<const Sample* const> busy) {
  return busy.front()->probe == "load" ? window_of_loads(busy, 2) : window_of_spinners(busy);
}

Visits visits_of(const Samples& samples, const std::string& trial) {
  Visits found;
  for (const Together& all : together(samples, trial)) {
    if (all.size() < 2) continue;
    const Sample &spinner = *all.front(), &shorts = *all.back();
    found.spinning = all.size() - 1;
    const auto [from, to] = window_of(std::span(all).first(found.spinning));
    if (spinner.probe == "load") found.queued = Duration{spinner.first("alone_period_ns", spinner.first("alone_ns"))};
    found.kernel_ns = std::max<std::int64_t>(1, shorts.first("alone_ns", 1));
    found.length = Duration{to - from};
    const Series &submits = shorts.of("submit_ns"), &begins = shorts.of("begin_ns"), &ends = shorts.of("end_ns");
    for (std::size_t i = 0; i < begins.size(); ++i) {
      if (submits[i] < from || begins[i] < from || ends[i] > to) continue;
      found.submitted.push_back(Duration{submits[i] - from});
      found.waits.push_back(as_double(begins[i] - submits[i]));
      if (found.spinning == 1) add_absence(spinner, begins[i], ends[i], found);
    }
  }
  return found;
}

/// Their waits on the model of a device.
std::vector<double> rehearse(const Visits& visits, const DeviceSpec& device) {
  Program busy{.ops = {2 * visits.length}, .shape = kOneThread};
  if (visits.queued > Duration{}) busy = {.ops = {visits.queued}, .ahead = 3};
  std::vector<Program> programs(visits.spinning, busy);
  programs.push_back({.ops = {Duration{visits.kernel_ns}}, .at = visits.submitted});
  return predict(device, programs, visits.length).back().waits_ns;
}

/// One way in which a device could be.
struct Reading {
  std::string name;
  DeviceSpec device;
};

DeviceSpec with(DeviceSpec device, LoneSlice rule) {
  device.lone_slice = rule;
  return device;
}

DeviceSpec with(DeviceSpec device, TurnOrder order) {
  device.turn_order = order;
  return device;
}

std::string situation_of(const Visits& visits) {
  if (visits.queued == Duration{}) return fmt::format("with {} spinning", visits.spinning);
  return fmt::format("with {} of {} kernels", visits.spinning == 1 ? "a queue" : "two queues",
                     text_of(as_double(to_ns(visits.queued)), Unit::kNs));
}

void compare(const Visits& visits, const std::vector<Reading>& readings,
             std::vector<std::vector<Comparison>>& compared) {
  std::vector<std::vector<double>> waits;
  for (const Reading& reading : readings) waits.push_back(rehearse(visits, reading.device));
  if (std::ranges::any_of(waits, [](const std::vector<double>& each) { return each.empty(); })) return;
  const DeviceSpec& device = readings.front().device;
  for (std::size_t i = 0; i < readings.size(); ++i)
    for (const double q : {0.1, 0.5, 0.9}) {
      Comparison c{fmt::format("quantile {:.1f} of the wait {}", q, situation_of(visits)), quantile(visits.waits, q),
                   quantile(waits[i], q)};
      for (std::size_t k = 0; k < readings.size(); ++k)
        if (k != i) c.nulls.push_back({readings[k].name, quantile(waits[k], q)});
      c.nulls.push_back({"a whole slice", as_double(to_ns(device.time_slice + device.switch_cost))});
      compared[i].push_back(c);
    }
}

/// Takes the reading that misses quantiles of the waits least, in all situations together; of equals the first.
void choose(const std::vector<Visits>& situations, const std::vector<Reading>& readings, Finding& finding,
            DeviceSpec& device) {
  std::vector<std::vector<Comparison>> compared(readings.size());
  for (const Visits& visits : situations) {
    compare(visits, readings, compared);
    finding.notes.push_back(fmt::format("{}, {} short kernels waited {} ({})", situation_of(visits),
                                        visits.waits.size(), text_of(median(visits.waits), Unit::kNs),
                                        spread_text({.value = spread_of(visits.waits)})));
  }
  if (compared.front().empty()) return;
  const auto best = std::ranges::min_element(
      compared, {}, [](const std::vector<Comparison>& comparisons) { return model_errors(comparisons)[0].mean; });
  const Reading& reading = readings[static_cast<std::size_t>(best - compared.begin())];
  finding.choice = reading.name;
  finding.comparisons = *best;
  device = reading.device;
}

std::size_t kernels_in(const std::vector<Visits>& situations) {
  std::size_t count = 0;
  for (const Visits& visits : situations) count += visits.waits.size();
  return count;
}

Finding lone_slice(const std::vector<Visits>& situations, DeviceSpec& device) {
  Finding finding{.key = "lone_slice", .title = "slice of a context that is alone", .unit = Unit::kChoice};
  finding.method =
      fmt::format("{} short kernels at all phases of a lone busy context: submission to begin", kernels_in(situations));
  choose(situations,
         {{"used_up", with(device, LoneSlice::kUsedUp)},
          {"rolls", with(device, LoneSlice::kRolls)},
          {"rolls_while_queued", with(device, LoneSlice::kRollsWhileQueued)}},
         finding, device);
  finding.notes.push_back(
      "`rolls`: the running slice ends first, whatever is left of it; `used_up`: it was over long ago; "
      "`rolls_while_queued`: the former while more is queued behind the running kernel, else the latter");
  return finding;
}

Finding turn_order(const std::vector<Visits>& situations, DeviceSpec& device) {
  Finding finding{.key = "turn_order", .title = "whose turn is next with two busy contexts", .unit = Unit::kChoice};
  finding.method =
      fmt::format("{} short kernels at all phases of two busy contexts: submission to begin", kernels_in(situations));
  choose(situations, {{"as_woken", with(device, TurnOrder::kAsWoken)}, {"fixed", with(device, TurnOrder::kFixed)}},
         finding, device);
  finding.notes.push_back(
      "`as_woken`: the rest of the running slice and the other's go first; `fixed`: contexts have places, and with "
      "kernels with nothing queued behind them the next one is settled when a slice begins");
  return finding;
}

Finding linger_of(const Visits& visits) {
  Finding linger{.title = "linger of a context that ran dry", .value = spread_of(visits.lingers)};
  linger.method = fmt::format(
      "{} visits: time from its kernel's end to the busy context's return, less the time that going there took",
      visits.lingers.size());
  linger.notes = {fmt::format("such a visit keeps the busy context away for {}, of which the kernel is a small part",
                              text_of(median(visits.visits), Unit::kNs)),
                  "device models leave a context at once when it runs dry"};
  return linger;
}

}  // namespace

std::vector<Finding> fit_idle(const Samples& samples, DeviceSpec& device) {
  std::vector<Finding> findings;
  std::vector<Visits> alone, ring;
  for (const char* trial : {"idle_short", "idle_queue_10000us", "idle_queue_500us", "idle_two", "idle_two_queues"}) {
    Visits visits = visits_of(samples, trial);
    if (!visits.lingers.empty()) findings.push_back(linger_of(visits));
    if (!visits.waits.empty()) (visits.spinning == 1 ? alone : ring).push_back(std::move(visits));
  }
  if (!alone.empty()) findings.push_back(lone_slice(alone, device));
  if (!ring.empty()) findings.push_back(turn_order(ring, device));
  std::erase_if(findings, [](const Finding& finding) { return finding.choice.empty() && finding.value.count == 0; });
  return findings;
}

}  // namespace corun::calibration
