#include "experiments/question/clients/step_choice.h"

namespace corun {

namespace {

constexpr std::string_view kExample = "whole, { range: step }, { kernel: adam } or { launches: 120 }";

auto by_name(StepChoice::By by) {
  return [by](const Node& node, StepChoice& out, ScalarReader& read) {
    if (const auto name = read.text(node)) out = {by, *name, 0};
  };
}

const FieldTable<StepChoice>& step_fields() {
  static const FieldTable<StepChoice> table = {
      {"range", "text", by_name(StepChoice::By::kRange)},
      {"kernel", "text", by_name(StepChoice::By::kKernel)},
      {"launches", "whole number",
       [](const Node& node, StepChoice& out, ScalarReader& read) {
         if (const auto launches = read.integer(node, 1, UINT32_MAX))
           out = {StepChoice::By::kLaunches, "", static_cast<std::uint32_t>(*launches)};
       }},
  };
  return table;
}

}  // namespace

void read_step(const Node& node, ClientReading& out, ScalarReader& read) {
  StepChoice step;
  if (node.is_scalar()) {
    if (node.text != "whole") return read.wrong(node, fmt::format("found `{}`, expected {}", node.text, kExample));
    step.by = StepChoice::By::kWhole;
  } else {
    if (!read.expect(node, Node::Kind::kMapping, "{ range: step }")) return;
    read_fields(node, step_fields(), "key", step, read);
    if (node.entries.size() != 1) return read.wrong(node, "a step is said in one way", fmt::format("{}", kExample));
  }
  out.choice.options.step = step;
}

void write_step(const ClientChoice& client, CanonicalLines& lines) {
  const StepChoice& step = client.options.step;
  if (step.by == StepChoice::By::kFound) return;
  lines.add("step", fmt::format("{} {} {}", static_cast<int>(step.by), step.launches, step.name));
}

}  // namespace corun
