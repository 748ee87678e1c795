#include "experiments/validate/scoring/error_budget.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string_view>

#include "traces/base/units.h"

namespace corun::validation {

namespace {

constexpr double kSliceUncertainty = 0.02;
constexpr Duration kSwitchUncertainty{25'000};  // measured between 145 and 200 us
constexpr double kExponentUncertainty = 0.1;    // the range of seven kernels
constexpr double kLeastHostUncertainty = 0.03;
constexpr Duration kSmallVisit{5'000};

Duration times(Duration duration, double factor) {
  return Duration{std::llround(static_cast<double>(to_ns(duration)) * factor)};
}

/// The same frames, each with one more visit that is waited for.
Workload with_one_more_visit(const Workload& workload) {
  Workload out = workload;
  out.ops = {};
  out.steps.clear();
  for (Job& job : out.jobs) {
    const std::uint32_t first_step = job.first_step;
    const std::uint32_t first_op = job.first_op;
    const auto shift = static_cast<std::uint32_t>(out.ops.size()) - job.first_op;
    job.first_op = static_cast<std::uint32_t>(out.ops.size());
    job.first_step = static_cast<std::uint32_t>(out.steps.size());
    for (std::uint32_t op = first_op; op < first_op + job.op_count; ++op) out.ops.push_back(workload.ops[op]);
    for (std::uint32_t step = first_step; step < first_step + job.step_count; ++step) {
      HostStep copy = workload.steps[step];
      const bool is_of_op = copy.kind == StepKind::kSubmit || copy.kind == StepKind::kWaitOp;
      if (is_of_op) copy.target += shift;
      out.steps.push_back(copy);
    }
    WorkOp small = out.ops.back();
    small.duration = kSmallVisit;
    out.ops.push_back(small);
    const auto visit = static_cast<std::uint32_t>(out.ops.size() - 1);
    out.steps.push_back({Duration{0}, StepKind::kWaitOp, visit - 1});
    out.steps.push_back({Duration{0}, StepKind::kSubmit, visit});
    job.op_count += 1;
    job.step_count += 2;
  }
  return out;
}

bool is_simple(const Workload& workload) { return workload.job_kind == JobKind::kFrame && workload.awaits.empty(); }

/// More visits alone: fewer than one there are not.
void add_visits(RunInput& input, double sign) {
  if (sign < 0) return;
  for (ClientSpec& client : input.clients)
    if (is_simple(*client.workload))
      client.workload = std::make_shared<const Workload>(with_one_more_visit(*client.workload));
}

/// The cell and client of a row.
std::pair<const Cell*, const CellClient*> find(const ScoreRow& row, const std::vector<Cell>& cells) {
  for (const Cell& cell : cells)
    for (const CellClient& client : cell.clients)
      if (cell.key == row.cell && client.name == row.client) return {&cell, &client};
  return {nullptr, nullptr};
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Half of the way between the two values of a spread; nullopt where there is none that says two.
template <class Parse>
auto half_of(const DeviceSpreads& spreads, std::string_view key, Parse parse) -> decltype(parse("")) {
  constexpr std::string_view kBetween = " to ";
  const auto found = spreads.find(key);
  const std::string_view text = found == spreads.end() ? std::string_view() : std::string_view(found->second);
  const auto middle = text.find(kBetween);
  if (middle == std::string_view::npos) return std::nullopt;
  const auto least = parse(text.substr(0, middle)), most = parse(text.substr(middle + kBetween.size()));
  if (!least || !most || *most <= *least) return std::nullopt;
  return (*most - *least) / 2;
}

/// By a length of time, whatever its value is.
Constant moved_by(const std::string& name, Duration DeviceSpec::*member, Duration step) {
  return {name, format_duration(step), 0.0, 2.0, [member, step](RunInput& input, double sign) {
            input.device.*member = std::max(input.device.*member + times(step, sign), Duration{0});
          }};
}

bool is_rate(const ScoreRow& row) { return row.metric == "throughput_per_s" || row.metric == "fps_mean"; }

}  // namespace

std::vector<Constant> model_constants(double host_spread, const DeviceSpreads& spreads) {
  const double host = std::max(host_spread, kLeastHostUncertainty);
  const auto slice = half_of(spreads, "time_slice", parse_duration);
  const Duration cost = half_of(spreads, "switch_cost", parse_duration).value_or(kSwitchUncertainty);
  const double exponent = half_of(spreads, "sm_rate_exponent", parse_real).value_or(kExponentUncertainty);
  return {
      slice ? moved_by("time_slice", &DeviceSpec::time_slice, *slice)
            : Constant{"time_slice", "2 %", kSliceUncertainty, 2.0,
                       [](RunInput& input, double sign) {
                         input.device.time_slice = times(input.device.time_slice, 1 + sign * kSliceUncertainty);
                       }},
      moved_by("switch_cost", &DeviceSpec::switch_cost, cost),
      {"host gaps", fmt::format("{:.1f} %", 100 * host), host, 2.0,
       [host](RunInput& input, double sign) {
         for (ClientSpec& client : input.clients) client.host_gap_scale *= 1 + sign * host;
       }},
      {"sm_rate_exponent", fmt::format("{:.2g}", exponent), 0.0, 2.0,
       [exponent](RunInput& input, double sign) {
         input.device.sm_rate_exponent = std::clamp(input.device.sm_rate_exponent + sign * exponent, 0.01, 1.0);
       }},
      {"visits", "1 more", 0.0, 1.0, add_visits},
  };
}

ExecutionBackend with_moved(const ExecutionBackend& backend, const Constant& constant, double sign) {
  return {backend.name,
          [backend, constant, sign](const RunInput& input, Recorder& recorder, std::vector<std::string>& notes) {
            RunInput moved = input;
            constant.move(moved, sign);
            return backend.run(moved, recorder, notes);
          }};
}

ConstantEffect effect_of(const Constant& constant, const std::vector<ScoreRow>& rows, const std::vector<Cell>& cells,
                         const Figures& predicted, const Figures& up, const Figures& down) {
  ConstantEffect effect{constant.name, constant.uncertainty, constant.step, {}};
  for (const ScoreRow& row : rows) {
    const auto [cell, client] = find(row, cells);
    const auto values = [&](const Figures& figures) { return scored_values(figures, *cell, *client, row.metric); };
    const auto above = values(up), below = values(down), here = values(predicted);
    const bool is_known = !above.empty() && !below.empty() && !here.empty() && mean(here) != 0.0;
    effect.change.push_back(is_known ? (mean(above) - mean(below)) / constant.width / mean(here) : 0.0);
  }
  return effect;
}

std::vector<Explanation> explain_errors(const std::vector<ScoreRow>& rows, std::span<const ConstantEffect> effects) {
  std::vector<Explanation> explanations;
  for (const ConstantEffect& effect : effects) {
    double product = 0, square = 0, errors = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool is_counted = is_rate(rows[i]) && rows[i].has_error();
      if (!is_counted) continue;
      product += -rows[i].error * effect.change[i];
      square += effect.change[i] * effect.change[i];
      errors += rows[i].error * rows[i].error;
    }
    if (square == 0 || errors == 0) continue;
    const double steps = product / square;
    explanations.push_back({effect.constant, steps, steps * effect.step, product * product / square / errors});
  }
  std::ranges::stable_sort(explanations, std::greater<>(), &Explanation::explained);
  return explanations;
}

}  // namespace corun::validation
