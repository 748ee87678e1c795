#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/calibration/fits/fit.h"
#include "sim/calibration/fits/prediction.h"
#include "sim/calibration/fits/sm_curve.h"
#include "sim/calibration/fits/together.h"
#include "sim/calibration/probes/work_kind.h"

namespace corun::calibration {

namespace {

/// Kernels of one client in a pair.
struct Side {
  Program program;
  double got = 0;  ///< of its rate alone
};

Program program_of(const Sample& load) {
  Program program{.ops = {Duration{load.first("alone_period_ns", load.first("alone_ns"))}}, .ahead = 3};
  program.shape = {static_cast<std::uint32_t>(load.first("blocks")),
                   1,
                   1,
                   static_cast<std::uint32_t>(load.first("threads")),
                   1,
                   1,
                   0,
                   static_cast<std::uint32_t>(load.first("shared_bytes"))};
  return program;
}

/// Two loads in their common window; empty where they have none.
std::vector<Side> sides_of(const Together& loads) {
  const Window window = window_of_loads(loads, 5);
  if (window.to <= window.from) return {};
  std::vector<Side> sides;
  for (const Sample* load : loads) {
    Side& side = sides.emplace_back(program_of(*load));
    side.got =
        as_double(ended_in(window, *load)) * as_double(to_ns(side.program.ops[0])) / as_double(window.to - window.from);
  }
  return sides;
}

std::vector<double> predicted(const std::vector<Side>& sides, DeviceSpec device, Sharing sharing, SpatialRule rule) {
  device.sharing = sharing;
  device.spatial_rule = rule;
  std::vector<Program> programs;
  for (const Side& side : sides) programs.push_back(side.program);
  std::vector<double> rates;
  const std::vector<Progress> progress = predict(device, programs, std::chrono::seconds{1});
  for (std::size_t i = 0; i < sides.size(); ++i)
    rates.push_back(std::max(1e-3, progress[i].jobs_per_s * to_seconds(sides[i].program.ops[0])));
  return rates;
}

struct Predictions {
  std::vector<double> dispatch_order, max_min, serialised;
};

Predictions predictions_of(const std::vector<Side>& sides, const DeviceSpec& device) {
  return {predicted(sides, device, Sharing::kConcurrent, SpatialRule::kDispatchOrder),
          predicted(sides, device, Sharing::kConcurrent, SpatialRule::kMaxMin),
          predicted(sides, device, Sharing::kExclusive, SpatialRule::kDispatchOrder)};
}

/// Visits the two samples of each trial whose name begins so, with the rest of its name.
template <class Visit>
void for_each_pair(const Samples& samples, const std::string& prefix, Visit visit) {
  std::vector<std::string> trials;
  for (const Sample& sample : samples)
    if (sample.trial.starts_with(prefix) && (trials.empty() || trials.back() != sample.trial))
      trials.push_back(sample.trial);
  for (const std::string& trial : trials)
    for (const Together& loads : together(samples, trial))
      if (loads.size() == 2) visit(trial.substr(prefix.size()), loads);
}

/// What bounds arithmetic is its multiprocessors, regardless of the device's exponents for other kernels.
DeviceSpec with_exponents_of_compute(const Samples& samples, DeviceSpec device) {
  const Curve rate = curve_over_multiprocessors(samples, WorkKind::kCompute);
  const Curve fill = curve_over_blocks(samples, WorkKind::kCompute);
  device.sm_rate_exponent = rate.empty() ? 1.0 : rate.exponent();
  device.sm_fill_exponent = fill.empty() ? device.sm_rate_exponent : std::max(0.0, fill.exponent());
  return device;
}

/// Whether both clients' kernels own the multiprocessors that their blocks are on. Where they do not, the model of
/// space says too little: a quarter of the threads of every multiprocessor may use up its arithmetic.
bool owns_multiprocessors(const Together& loads) {
  return std::ranges::all_of(loads, [](const Sample* load) {
    return load->setting("whole") != 0 || load->setting("fill_percent", 100) >= 100;
  });
}

struct PairComparisons {
  std::vector<Comparison> dispatch_order, max_min;  ///< each with the other among its rivals
};

PairComparisons compare_pairs(const Samples& samples, const DeviceSpec& device, bool owned) {
  PairComparisons compared;
  const DeviceSpec of_arithmetic = with_exponents_of_compute(samples, device);
  for_each_pair(samples, "mps_part_", [&](const std::string& name, const Together& loads) {
    const std::vector<Side> sides = sides_of(loads);
    if (sides.empty() || owns_multiprocessors(loads) != owned) return;
    const Predictions found = predictions_of(sides, of_arithmetic);
    for (std::size_t i = 0; i < sides.size(); ++i) {
      Comparison c{fmt::format("rate of client {} of {}", i + 1, name), sides[i].got};
      c.model = found.dispatch_order[i];
      c.nulls = {{"max_min", found.max_min[i]}, {"equal share", 0.5}, {"serialised", found.serialised[i]}};
      compared.dispatch_order.push_back(c);
      std::swap(c.model, c.nulls.front().second);
      c.nulls.front().first = "dispatch_order";
      compared.max_min.push_back(c);
    }
  });
  return compared;
}

Finding fit_rule(const Samples& samples, DeviceSpec& device) {
  Finding rule{.key = "spatial", .title = "kernels of two clients under MPS", .unit = Unit::kChoice};
  rule.compared_in = Unit::kRatio;
  const PairComparisons compared = compare_pairs(samples, device, true);
  if (compared.dispatch_order.empty()) return rule;
  const bool is_fair = model_errors(compared.max_min)[0].mean < model_errors(compared.dispatch_order)[0].mean;
  rule.comparisons = is_fair ? compared.max_min : compared.dispatch_order;
  device.spatial_rule = is_fair ? SpatialRule::kMaxMin : SpatialRule::kDispatchOrder;
  rule.choice = is_fair ? "max_min" : "dispatch_order";
  rule.method = fmt::format("rates of {} kernels with another client's, which of the two rules misses them less",
                            rule.comparisons.size());
  return rule;
}

/// Both clients' blocks lie on every multiprocessor and share its arithmetic.
Finding fit_shared_multiprocessors(const Samples& samples, const DeviceSpec& device) {
  Finding finding{.title = "arithmetic of two clients on the same multiprocessors", .unit = Unit::kRatio};
  finding.compared_in = Unit::kRatio;
  finding.comparisons = compare_pairs(samples, device, false).dispatch_order;
  if (finding.comparisons.empty()) return finding;
  std::vector<double> sums;
  for (std::size_t i = 0; i + 1 < finding.comparisons.size(); i += 2)
    sums.push_back(finding.comparisons[i].measured + finding.comparisons[i + 1].measured);
  finding.value = spread_of(sums);
  finding.method = "pairs of kernels with room for both: sum of rates over those alone";
  finding.notes = {
      "each kernel's blocks lie on all multiprocessors, and a part of their threads uses up the arithmetic: they run "
      "at "
      "once, and each at about half its rate, or the one that began earlier keeps its own"};
  return finding;
}

/// What two clients get done together, of what their kernels' places on the device would give them.
Finding fit_together(const Samples& samples, const DeviceSpec& device, const std::string& prefix,
                     const std::string& title, const std::string& method) {
  Finding losses{.title = title, .unit = Unit::kRatio, .method = method, .compared_in = Unit::kRatio};
  std::vector<double> got;
  for_each_pair(samples, prefix, [&](const std::string& name, const Together& loads) {
    const std::vector<Side> sides = sides_of(loads);
    if (sides.empty()) return;
    const Predictions found = predictions_of(sides, device);
    const auto sum = [](const std::vector<double>& rates) { return rates[0] + rates[1]; };
    got.push_back(sides[0].got + sides[1].got);
    losses.comparisons.push_back({name,
                                  got.back(),
                                  sum(found.dispatch_order),
                                  {{"max_min", sum(found.max_min)}, {"serialised", sum(found.serialised)}}});
    losses.notes.push_back(fmt::format("{}: {:.3f} of its rate alone and {:.3f}", name, sides[0].got, sides[1].got));
  });
  if (!got.empty()) losses.value = spread_of(got);
  return losses;
}

/// Kernels of a few blocks one after another, co-located with those of a client that fills the device.
Finding fit_small(const Samples& samples, const DeviceSpec& device) {
  Finding small{.title = "small kernels one after another among kernels that fill the device", .unit = Unit::kRatio};
  small.compared_in = Unit::kRatio;
  small.method = "rate of the small ones, of that alone";
  std::vector<double> got;
  for_each_pair(samples, "mps_small_", [&](const std::string& name, const Together& loads) {
    const std::vector<Side> sides = sides_of(loads);
    if (sides.empty()) return;
    const Predictions found = predictions_of(sides, device);
    got.push_back(sides[0].got);
    small.comparisons.push_back({name,
                                 got.back(),
                                 found.dispatch_order[0],
                                 {{"max_min", found.max_min[0]}, {"serialised", found.serialised[0]}}});
    small.notes.push_back(fmt::format("{}: the others kept {:.3f} of their rate", name, sides[1].got));
  });
  if (!got.empty()) small.value = spread_of(got);
  return small;
}

/// Kernels of a few blocks co-located with those of a client that fills the device: submission to end.
std::vector<Finding> fit_tiny(const Samples& samples, DeviceSpec device) {
  device.sharing = Sharing::kConcurrent;
  std::vector<Finding> findings;
  for_each_pair(samples, "mps_tiny_", [&](const std::string& name, const Together& both) {
    const Sample &tiny = *both[0], &load = *both[1];
    const Series &submits = tiny.of("submit_ns"), &begins = tiny.of("begin_ns"), &ends = tiny.of("end_ns");
    if (begins.empty() || load.of("end_ns").size() < 2) return;
    Program brief{.ops = {Duration{tiny.first("alone_ns")}}};
    brief.shape = {static_cast<std::uint32_t>(tiny.first("blocks", 4)),   1, 1,
                   static_cast<std::uint32_t>(tiny.first("threads", 32)), 1, 1};
    std::vector<double> takes, lengths;
    for (std::size_t i = 0; i < begins.size(); ++i) {
      if (submits[i] < load.of("end_ns").front() || ends[i] > load.of("end_ns").back()) continue;
      brief.at.push_back(Duration{submits[i]});
      takes.push_back(as_double(ends[i] - submits[i]));
      lengths.push_back(as_double(ends[i] - begins[i]));
    }
    if (takes.empty()) return;
    Finding finding{.title = "tiny kernel " + name, .value = spread_of(takes)};
    finding.method = fmt::format("{} kernels of {} alone in {} blocks, from submission to end; the others take {}",
                                 takes.size(), text_of(as_double(tiny.first("alone_ns")), Unit::kNs),
                                 tiny.first("blocks", 4), text_of(as_double(load.first("alone_ns")), Unit::kNs));
    finding.notes = {fmt::format("it runs for {} there, {:.2f} times as long as alone",
                                 text_of(median(lengths), Unit::kNs),
                                 median(lengths) / as_double(std::max<std::int64_t>(1, tiny.first("alone_ns"))))};
    const std::vector<double> model =
        predict(device, {brief, program_of(load)}, std::chrono::seconds{1}).front().takes_ns;
    for (const double q : {0.1, 0.5, 0.9}) {
      if (model.empty()) break;
      const double whole = as_double(load.first("alone_ns")), alone = as_double(tiny.first("alone_ns"));
      finding.comparisons.push_back({fmt::format("quantile {:.1f}", q),
                                     quantile(takes, q),
                                     quantile(model, q),
                                     {{"at once", alone}, {"a whole kernel", whole + alone}}});
    }
    findings.push_back(finding);
  });
  return findings;
}

/// No trial here measures them: surrogates all ask for the same carve-out, have equal blocks, and little of their code
/// or data is in caches.
std::vector<Finding> assumed_of_real_kernels() {
  Finding carveout{
      .key = "carveout_change", .title = "when a multiprocessor changes its carve-out", .unit = Unit::kChoice};
  carveout.choice = "when_idle";
  Finding drain{.key = "one_wave_drain",
                .title = "part of a kernel's time in which blocks that began together end",
                .unit = Unit::kRatio};
  drain.value = {0.12, 0.12, 0.12, 1};
  Finding gaps{.key = "mps_gap_scale",
               .title = "gaps between kernels among those of other clients, over alone",
               .unit = Unit::kRatio};
  gaps.value = {1.33, 1.33, 1.33, 1};
  Finding stall{.key = "mps_launch_stall",
                .title = "hold-up of a kernel by one of another client that begins",
                .unit = Unit::kNs};
  stall.value = {300, 300, 300, 1};
  for (Finding* assumed : {&carveout, &drain, &gaps, &stall}) {
    assumed->method = "assumed: as measured on an H200";
    assumed->is_told = true;
  }
  return {carveout, drain, gaps, stall};
}

}  // namespace

std::vector<Finding> fit_spatial(const Samples& samples, DeviceSpec& device) {
  std::vector<Finding> findings;
  for_each_pair(samples, "mps_spin", [&](const std::string&, const Together& spinners) {
    Finding finding{.title = "absences of spinning contexts under MPS", .unit = Unit::kCount};
    finding.value = spread_of({as_double(spinners[0]->first("gaps")), as_double(spinners[1]->first("gaps"))});
    finding.method = "two spinning threads; none means that their kernels ran at the same time";
    findings.push_back(finding);
  });
  if (Finding rule = fit_rule(samples, device); !rule.choice.empty()) {
    findings.push_back(rule);
    std::ranges::move(assumed_of_real_kernels(), std::back_inserter(findings));
  }
  if (Finding shared = fit_shared_multiprocessors(samples, device); shared.value.count > 0) findings.push_back(shared);
  for (const Finding& finding :
       {fit_together(samples, device, "mps_loss_", "work that two clients get done together under MPS",
                     "pairs of clients whose kernels fill the device one after another: sum of rates over those alone"),
        fit_together(samples, device, "mps_turns_", "work that two clients with working sets in the cache get done",
                     "pairs of clients whose kernels go over the same bytes again and again: sum of rates over those "
                     "alone, by the size of a working set and how often each kernel goes over it"),
        fit_small(samples, device)})
    if (finding.value.count > 0) findings.push_back(finding);
  std::ranges::move(fit_tiny(samples, device), std::back_inserter(findings));
  return findings;
}

}  // namespace corun::calibration
