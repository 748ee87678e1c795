#include "experiments/identify/rule.h"

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>

namespace corun::identification {

namespace {

constexpr double kStepsAnOctave = 64;

Duration nanoseconds(double value) { return Duration{std::llround(value)}; }

Rule rule_of(Sharing sharing, const DeviceSpec& base) {
  Rule rule;
  rule.sharing = sharing;
  rule.graphics = base.graphics;
  rule.spatial = base.spatial_rule;
  rule.lone_slice = base.lone_slice;
  return rule;
}

/// Every scheduling of graphics, which takes turns with kernels in slices whatever these do among themselves.
void add_graphics(std::vector<Rule>& rules, Rule rule, std::initializer_list<bool> trailing_visits) {
  rule.tells_graphics = true;
  rule.unknowns = {&time_slice_unknown(), &switch_cost_unknown()};
  for (const auto graphics :
       {GraphicsScheduling::kToCompletion, GraphicsScheduling::kSliced, GraphicsScheduling::kFirst})
    for (const bool has_trailing_visits : trailing_visits) {
      rule.graphics = graphics;
      rule.has_trailing_visits = has_trailing_visits;
      rules.push_back(rule);
    }
}

}  // namespace

const Unknown& time_slice_unknown() {
  static const Unknown unknown{"time_slice",
                               -192,
                               256,
                               -64,
                               32,
                               8,
                               [](int step) { return 1e6 * std::exp2(step / kStepsAnOctave); },
                               [](DeviceSpec& device, double value) { device.time_slice = nanoseconds(value); }};
  return unknown;
}

const Unknown& switch_cost_unknown() {
  static const Unknown unknown{"switch_cost",
                               -256,
                               256,
                               -64,
                               64,
                               3,
                               [](int step) { return 1e5 * std::exp2(step / kStepsAnOctave); },
                               [](DeviceSpec& device, double value) { device.switch_cost = nanoseconds(value); }};
  return unknown;
}

const Unknown& sm_fill_exponent_unknown() {
  static const Unknown unknown{"sm_fill_exponent",
                               1,
                               64,
                               8,
                               18,
                               4,
                               [](int step) { return step / 64.0; },
                               [](DeviceSpec& device, double value) { device.sm_fill_exponent = value; }};
  return unknown;
}

std::string Rule::name() const {
  std::string name(to_string(sharing));
  if (sharing == Sharing::kTimeSliced) name += fmt::format(", lone slice {}", to_string(lone_slice));
  if (sharing == Sharing::kConcurrent) name += fmt::format(", spatial {}", to_string(spatial));
  if (tells_graphics) name += fmt::format(", graphics {}", to_string(graphics));
  if (has_trailing_visits) name += ", trailing visits";
  return name;
}

std::vector<Rule> rules_of_contexts(const DeviceSpec& base, bool has_frames) {
  std::vector<Rule> rules;
  for (const auto lone_slice : {LoneSlice::kRolls, LoneSlice::kUsedUp}) {
    Rule sliced = rule_of(Sharing::kTimeSliced, base);
    sliced.lone_slice = lone_slice;
    sliced.unknowns = {&time_slice_unknown(), &switch_cost_unknown()};
    if (has_frames) {
      add_graphics(rules, sliced, {false, true});
    } else {
      rules.push_back(sliced);
    }
  }
  rules.push_back(rule_of(Sharing::kExclusive, base));
  const Rule concurrent = rule_of(Sharing::kConcurrent, base);
  if (has_frames) {
    add_graphics(rules, concurrent, {false});
  } else {
    rules.push_back(concurrent);
  }
  return rules;
}

std::vector<Rule> rules_of_mps(const DeviceSpec& base) {
  std::vector<Rule> rules;
  Rule concurrent = rule_of(Sharing::kConcurrent, base);
  concurrent.unknowns = {&sm_fill_exponent_unknown()};
  for (const auto spatial : {SpatialRule::kDispatchOrder, SpatialRule::kMaxMin}) {
    concurrent.spatial = spatial;
    rules.push_back(concurrent);
  }
  rules.push_back(rule_of(Sharing::kTimeSliced, base));
  rules.push_back(rule_of(Sharing::kExclusive, base));
  return rules;
}

DeviceSpec device_of(const Hypothesis& hypothesis, const std::vector<Rule>& rules, const DeviceSpec& base) {
  const Rule& rule = rules[hypothesis.rule];
  DeviceSpec device = base;
  device.sharing = rule.sharing;
  device.graphics = rule.graphics;
  device.spatial_rule = rule.spatial;
  device.lone_slice = rule.lone_slice;
  for (std::size_t i = 0; i < rule.unknowns.size(); ++i)
    rule.unknowns[i]->set(device, rule.unknowns[i]->value(hypothesis.steps[i]));
  return device;
}

std::string_view to_string(Sharing sharing) {
  switch (sharing) {
    case Sharing::kTimeSliced:
      return "time_sliced";
    case Sharing::kConcurrent:
      return "concurrent";
    case Sharing::kExclusive:
      return "exclusive";
  }
  return "unknown";
}

std::string_view to_string(GraphicsScheduling graphics) {
  switch (graphics) {
    case GraphicsScheduling::kToCompletion:
      return "to_completion";
    case GraphicsScheduling::kSliced:
      return "sliced";
    case GraphicsScheduling::kFirst:
      return "first";
  }
  return "unknown";
}

std::string_view to_string(LoneSlice lone_slice) {
  switch (lone_slice) {
    case LoneSlice::kRolls:
      return "rolls";
    case LoneSlice::kUsedUp:
      return "used_up";
    case LoneSlice::kRollsWhileQueued:
      return "rolls_while_queued";
  }
  return "unknown";
}

std::string_view to_string(SpatialRule spatial) {
  return spatial == SpatialRule::kDispatchOrder ? "dispatch_order" : "max_min";
}

}  // namespace corun::identification
