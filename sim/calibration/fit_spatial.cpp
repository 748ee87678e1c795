#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/calibration/fit.h"
#include "sim/calibration/prediction.h"
#include "sim/calibration/together.h"
#include "sim/calibration/work_kind.h"

namespace corun::calibration {

namespace {

/// Relative rate of a kind of work over the fraction of the multiprocessors.
struct Curve {
  std::vector<double> fractions, rates;
};

Curve curve_of(const Samples& samples, WorkKind kind) {
  const std::string series = std::string(to_string(kind)) + "_ns";
  std::vector<std::pair<double, double>> points;  // multiprocessors, time
  for (const Sample& sample : samples)
    if (sample.probe == "rates" && !sample.of(series).empty())
      points.push_back({as_double(sample.first("sm_count")), median(numbers(sample, series))});
  Curve curve;
  if (points.empty()) return curve;
  const auto all = std::ranges::max(points);
  for (const auto& [multiprocessors, time] : points) {
    if (multiprocessors >= all.first) continue;
    curve.fractions.push_back(multiprocessors / all.first);
    curve.rates.push_back(all.second / time);
  }
  return curve;
}

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

std::vector<double> predicted(const std::vector<Side>& sides, DeviceSpec device, Sharing sharing, SpatialRule rule,
                              double exponent) {
  device.sharing = sharing;
  device.spatial_rule = rule;
  device.sm_rate_exponent = exponent;
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

Predictions predictions_of(const std::vector<Side>& sides, const DeviceSpec& device, double exponent) {
  return {predicted(sides, device, Sharing::kConcurrent, SpatialRule::kDispatchOrder, exponent),
          predicted(sides, device, Sharing::kConcurrent, SpatialRule::kMaxMin, exponent),
          predicted(sides, device, Sharing::kExclusive, SpatialRule::kDispatchOrder, exponent)};
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

/// What bounds arithmetic is its multiprocessors, whatever the device's exponent says of other kernels.
double exponent_of_compute(const Samples& samples) {
  const Curve curve = curve_of(samples, WorkKind::kCompute);
  return curve.rates.empty() ? 1.0 : std::min(1.0, exponent_through_one(curve.fractions, curve.rates));
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
  const double exponent = exponent_of_compute(samples);
  for_each_pair(samples, "mps_part_", [&](const std::string& name, const Together& loads) {
    const std::vector<Side> sides = sides_of(loads);
    if (sides.empty() || owns_multiprocessors(loads) != owned) return;
    const Predictions found = predictions_of(sides, device, exponent);
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
  rule.method = fmt::format("rates of {} kernels beside another client's, which of the two rules misses them less",
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
      "once, and each at about half its rate",
      "the model takes a part of the threads for that part of the multiprocessors: it is too fast for such pairs"};
  return finding;
}

/// What two clients that take each other's cache get of what their kernels' places on the device would give them.
Finding fit_losses(const Samples& samples, const DeviceSpec& device) {
  Finding losses{.title = "work that two clients get done together under MPS", .unit = Unit::kRatio};
  losses.compared_in = Unit::kRatio;
  losses.method = "pairs of clients whose kernels fill the device one after another: sum of rates over those alone";
  std::vector<double> got;
  for_each_pair(samples, "mps_loss_", [&](const std::string& name, const Together& loads) {
    const std::vector<Side> sides = sides_of(loads);
    if (sides.empty()) return;
    const Predictions found = predictions_of(sides, device, device.sm_rate_exponent);
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

/// Kernels of a few blocks beside those of a client that fills the device: submission to end.
std::vector<Finding> fit_tiny(const Samples& samples, DeviceSpec device) {
  device.sharing = Sharing::kConcurrent;
  std::vector<Finding> findings;
  for_each_pair(samples, "mps_tiny_", [&](const std::string& name, const Together& both) {
    const Sample &tiny = *both[0], &load = *both[1];
    const Series &submits = tiny.of("submit_ns"), &begins = tiny.of("begin_ns"), &ends = tiny.of("end_ns");
    if (begins.empty() || load.of("end_ns").size() < 2) return;
    Program brief{.ops = {Duration{tiny.first("alone_ns")}}, .shape = {4, 1, 1, 32, 1, 1}};
    std::vector<double> takes, lengths;
    for (std::size_t i = 0; i < begins.size(); ++i) {
      if (submits[i] < load.of("end_ns").front() || ends[i] > load.of("end_ns").back()) continue;
      brief.at.push_back(Duration{submits[i]});
      takes.push_back(as_double(ends[i] - submits[i]));
      lengths.push_back(as_double(ends[i] - begins[i]));
    }
    if (takes.empty()) return;
    Finding finding{.title = "tiny kernel " + name, .value = spread_of(takes)};
    finding.method = fmt::format("{} kernels of {} alone in 4 blocks, from submission to end; the others take {}",
                                 takes.size(), text_of(as_double(tiny.first("alone_ns")), Unit::kNs),
                                 text_of(as_double(load.first("alone_ns")), Unit::kNs));
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

}  // namespace

std::vector<Finding> fit_sm_rate(const Samples& samples, DeviceSpec& device) {
  Finding finding{
      .key = "sm_rate_exponent", .title = "rate of a kernel over its multiprocessors", .unit = Unit::kRatio};
  finding.compared_in = Unit::kRatio;
  std::vector<double> bound_by_memory;
  std::vector<std::pair<WorkKind, Curve>> curves;
  for (const WorkKind kind : kWorkKinds) {
    const Curve curve = curve_of(samples, kind);
    if (curve.rates.empty()) continue;
    curves.push_back({kind, curve});
    const double exponent = exponent_through_one(curve.fractions, curve.rates);
    finding.notes.push_back(fmt::format("`{}` kernels alone: exponent {:.2f}", to_string(kind), exponent));
    if (kind != WorkKind::kCompute) bound_by_memory.push_back(std::clamp(exponent, 0.01, 1.0));
  }
  if (bound_by_memory.empty()) return {};
  double sum = 0;
  for (const double exponent : bound_by_memory) sum += exponent;
  finding.value = spread_of(bound_by_memory);
  finding.value.value = sum / static_cast<double>(bound_by_memory.size());
  finding.method = "mean of kernels that memory or cache binds, alone with 75 to 12 % of the multiprocessors (MPS)";
  device.sm_rate_exponent = finding.value.value;
  for (const auto& [kind, curve] : curves)
    for (std::size_t i = 0; i < curve.rates.size() && kind != WorkKind::kCompute; ++i) {
      Comparison c{fmt::format("`{}` on {:.0f} % of them", to_string(kind), 100 * curve.fractions[i]), curve.rates[i]};
      c.model = std::pow(curve.fractions[i], device.sm_rate_exponent);
      c.nulls = {{"in proportion", curve.fractions[i]}, {"not at all", 1.0}};
      finding.comparisons.push_back(c);
    }
  return {finding};
}

std::vector<Finding> fit_spatial(const Samples& samples, DeviceSpec& device) {
  std::vector<Finding> findings;
  for_each_pair(samples, "mps_spin", [&](const std::string&, const Together& spinners) {
    Finding finding{.title = "absences of spinning contexts under MPS", .unit = Unit::kCount};
    finding.value = spread_of({as_double(spinners[0]->first("gaps")), as_double(spinners[1]->first("gaps"))});
    finding.method = "two spinning threads; none means that their kernels ran at the same time";
    findings.push_back(finding);
  });
  if (Finding rule = fit_rule(samples, device); !rule.choice.empty()) findings.push_back(rule);
  if (Finding shared = fit_shared_multiprocessors(samples, device); shared.value.count > 0) findings.push_back(shared);
  if (Finding losses = fit_losses(samples, device); losses.value.count > 0) findings.push_back(losses);
  std::ranges::move(fit_tiny(samples, device), std::back_inserter(findings));
  return findings;
}

}  // namespace corun::calibration
