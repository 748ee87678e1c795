#include "experiments/commands/program_report.h"

#include <algorithm>

#include "experiments/base/terminal.h"
#include "sim/workload/program_steps.h"
#include "traces/base/units.h"

namespace corun {

namespace {

bool has_program(const Timeline& timeline) {
  return std::ranges::any_of(timeline.ops(), [](const OpRecord& op) { return op.kind != OpKind::kRender; });
}

/// "0.548ms" with three digits: the figures are medians of many.
std::string rounded(Duration duration) {
  std::int64_t unit = 1;
  while (to_ns(duration) / unit >= 1000) unit *= 10;
  return format_duration(Duration{(to_ns(duration) + unit / 2) / unit * unit});
}

std::string step_time(const ProgramSteps& steps) {
  const std::string host = steps.count < 2
                               ? ""
                               : fmt::format("; the host begins them {} apart (median; {} to {} for 8 in 10)",
                                             rounded(steps.usual), rounded(steps.short_one), rounded(steps.long_one));
  return fmt::format("{} (mean), {} of it device time{}", rounded(steps.mean), rounded(steps.device_time), host);
}

std::string operations(const ProgramSteps& steps) {
  if (steps.fewest_operations == steps.most_operations) return fmt::format("{} a step", steps.operations);
  return fmt::format("{} a step (median; {} to {})", steps.operations, steps.fewest_operations, steps.most_operations);
}

std::string ranges_text(const ProgramSteps& steps) {
  std::vector<std::string> ranges;
  for (const auto& [name, count] : steps.ranges) ranges.push_back(fmt::format("`{}` x {}", name, count));
  return fmt::format("{}", fmt::join(ranges, ", "));
}

std::string replay_text(const Timeline& timeline, const ProgramSteps& steps) {
  if (!steps.unfit.empty()) return fmt::format("not fit: {}; {}", steps.unfit, steps.remedy);
  std::string text = "fit";
  if (steps.finding.certainty == StepCertainty::kUnsure)
    text += fmt::format(", if these are its steps; else {}", kStepRemedies);
  if (!timeline.provenance().untraced_rate) text += "; state `solo_rate`, its steps per second untraced";
  return text;
}

}  // namespace

std::string program_report(const Timeline& timeline) {
  if (!has_program(timeline)) return "";
  const ProgramSteps steps = program_steps(timeline);
  std::string text = fact_line(
      "steps", steps.count == 0
                   ? "none found"
                   : fmt::format("{}, {}: {}", steps.count, to_string(steps.finding.certainty), steps.finding.how));
  if (steps.count > 0) {
    text += fact_line("step time", step_time(steps));
    text += fact_line("operations", operations(steps));
    text += fact_line("left out",
                      fmt::format("{} before, {} after", steps.finding.left_out_before, steps.finding.left_out_after));
  }
  if (!steps.ranges.empty()) text += fact_line("ranges", ranges_text(steps));
  return text + fact_line("replay", replay_text(timeline, steps));
}

void add_program_report(Json& json, const Timeline& timeline) {
  if (!has_program(timeline)) return;
  const ProgramSteps steps = program_steps(timeline);
  json.key("program").object().field("steps", steps.count);
  json.field("certainty", to_string(steps.finding.certainty)).field("how", steps.finding.how);
  json.field("step_ns", to_ns(steps.mean))
      .field("host_ns", to_ns(steps.usual))
      .field("host_ns_p10", to_ns(steps.short_one));
  json.field("host_ns_p90", to_ns(steps.long_one)).field("device_ns", to_ns(steps.device_time));
  json.field("operations", steps.operations).field("operations_min", steps.fewest_operations);
  json.field("operations_max", steps.most_operations).field("left_out_before", steps.finding.left_out_before);
  json.field("left_out_after", steps.finding.left_out_after).field("is_fit", steps.unfit.empty());
  json.field("unfit", steps.unfit).field("remedy", steps.remedy).key("ranges").object();
  for (const auto& [name, count] : steps.ranges) json.field(name, count);
  json.end().end();
}

}  // namespace corun
