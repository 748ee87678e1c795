#include "experiments/question/clients/quality_choice.h"

#include <algorithm>
#include <array>

namespace corun {

namespace {

using namespace std::chrono_literals;

constexpr Duration kLongestSwitch{10s};
constexpr std::size_t kMostKnobs = 8, kMostLevels = 5, kLargestMenu = 64;
constexpr std::string_view kKnobExample =
    "{ name: shadows, levels: [{ cost: 1, loss: 0 }, { cost: 0.8, loss: 0.05 }] }";

template <class T>
Field<T> switch_cost_field() {
  return {"switch_cost", "duration", [](const Node& node, T& out, ScalarReader& read) {
            out.switch_cost = read.duration(node, Duration(0), kLongestSwitch, "ms").value_or(Duration(0));
          }};
}

struct SettingReading {
  QualityLevel level;
  Duration switch_cost{};
};

const FieldTable<SettingReading>& setting_fields() {
  static const FieldTable<SettingReading> table = {
      {"name", "text",
       [](const Node& node, SettingReading& out, ScalarReader& read) {
         out.level.name = read.text(node).value_or("");
       }},
      {"cost", "number",
       [](const Node& node, SettingReading& out, ScalarReader& read) {
         out.level.cost = read.number(node, 1e-6, 100).value_or(1);
       }},
      {"quality", "number",
       [](const Node& node, SettingReading& out, ScalarReader& read) {
         out.level.quality = read.number(node, 0, 1).value_or(1);
       }},
      switch_cost_field<SettingReading>(),
  };
  return table;
}

void read_settings(const Node& node, ClientChoice& out, ScalarReader& read) {
  for (const Node& item : node.items) {
    if (!read.expect(item, Node::Kind::kMapping, "{ name: HI, cost: 1, quality: 1 }")) continue;
    SettingReading setting;
    read_fields(item, setting_fields(), "key", setting, read);
    if (setting.level.name.empty()) read.wrong(item, "a quality setting needs a `name`");
    out.quality_menu.push_back(std::move(setting.level));
    out.switch_costs.push_back(setting.switch_cost);
  }
}

const FieldTable<QualityKnob::Level>& level_fields() {
  static const FieldTable<QualityKnob::Level> table = {
      {"cost", "number",
       [](const Node& node, QualityKnob::Level& out, ScalarReader& read) {
         out.cost = read.number(node, 0.001, 1).value_or(1);
       }},
      {"loss", "number",
       [](const Node& node, QualityKnob::Level& out, ScalarReader& read) {
         out.loss = read.number(node, 0, 1).value_or(0);
       }},
  };
  return table;
}

void check_level(const Node& node, const QualityKnob& knob, ScalarReader& read) {
  const QualityKnob::Level& level = knob.levels.back();
  if (knob.levels.size() == 1) {
    if (level.cost != 1 || level.loss != 0)
      read.wrong(node,
                 fmt::format("the first level of knob `{}` costs {} and loses {}", knob.name, level.cost, level.loss),
                 "the first level is the best, which the others are measured by: cost 1, loss 0");
    return;
  }
  const QualityKnob::Level& above = knob.levels[knob.levels.size() - 2];
  if (level.cost >= above.cost || level.loss <= above.loss)
    read.wrong(node,
               fmt::format("a level of knob `{}` costs {} and loses {}, the one before costs {} and loses {}",
                           knob.name, level.cost, level.loss, above.cost, above.loss),
               "each level costs less and loses more than the one before");
}

void read_levels(const Node& node, QualityKnob& out, ScalarReader& read) {
  if (!read.expect(node, Node::Kind::kSequence, "[{ cost: 1, loss: 0 }, { cost: 0.8, loss: 0.05 }]")) return;
  if (node.items.size() < 2 || node.items.size() > kMostLevels)
    return read.wrong(node, fmt::format("found {} levels, expected 2 to {}", node.items.size(), kMostLevels));
  for (const Node& item : node.items) {
    if (!read.expect(item, Node::Kind::kMapping, "{ cost: 0.8, loss: 0.05 }")) continue;
    read_fields(item, level_fields(), "key", out.levels.emplace_back(), read);
    check_level(item, out, read);
  }
}

const FieldTable<QualityKnob>& knob_fields() {
  static const FieldTable<QualityKnob> table = {
      {"name", "text",
       [](const Node& node, QualityKnob& out, ScalarReader& read) { out.name = read.text(node).value_or(""); }},
      {"levels", "list", read_levels},
      switch_cost_field<QualityKnob>(),
  };
  return table;
}

/// Reads its name before the levels, since messages about mistakes in these contain it.
void read_knob(const Node& node, std::vector<QualityKnob>& out, ScalarReader& read) {
  if (!read.expect(node, Node::Kind::kMapping, kKnobExample)) return;
  QualityKnob knob;
  if (const Node* name = node.find("name")) knob.name = name->text;
  read_fields(node, knob_fields(), "key", knob, read);
  if (knob.name.empty() || node.find("levels") == nullptr)
    return read.wrong(node, "a knob needs a `name` and `levels`", fmt::format("for example: {}", kKnobExample));
  if (std::ranges::find(out, knob.name, &QualityKnob::name) != out.end())
    read.wrong(node, fmt::format("knob `{}` is given twice", knob.name));
  out.push_back(std::move(knob));
}

struct KnobReading {
  std::vector<QualityKnob> knobs;
  std::size_t most = kUsualMenuSize;
};

void read_knobs(const Node& node, KnobReading& out, ScalarReader& read) {
  constexpr std::array<std::string_view, 1> kNames = {"usual"};
  if (node.is_scalar()) {
    if (read.choice(node, kNames)) out.knobs = usual_knobs();
    return;
  }
  if (!read.expect(node, Node::Kind::kSequence, fmt::format("[{}], or `usual`", kKnobExample))) return;
  if (node.items.empty() || node.items.size() > kMostKnobs)
    return read.wrong(node, fmt::format("found {} knobs, expected 1 to {}", node.items.size(), kMostKnobs));
  for (const Node& item : node.items) read_knob(item, out.knobs, read);
}

const FieldTable<KnobReading>& knob_menu_fields() {
  static const FieldTable<KnobReading> table = {
      {"knobs", "list or usual", read_knobs},
      {"most", "whole number",
       [](const Node& node, KnobReading& out, ScalarReader& read) {
         out.most = read.integer(node, 2, kLargestMenu).value_or(kUsualMenuSize);
       }},
  };
  return table;
}

void read_knob_menu(const Node& node, ClientChoice& out, ScalarReader& read) {
  KnobReading reading;
  read_fields(node, knob_menu_fields(), "key", reading, read);
  if (node.find("knobs") == nullptr)
    return read.wrong(node, "a menu made of knobs needs `knobs`", "for example `{ knobs: usual, most: 16 }`");
  const auto is_whole = [](const QualityKnob& knob) { return knob.levels.size() >= 2; };
  if (reading.knobs.empty() || !std::ranges::all_of(reading.knobs, is_whole)) return;  // reported already
  out.knobs = std::move(reading.knobs);
  out.quality_menu = menu_of(out.knobs, reading.most);
}

}  // namespace

void read_quality(const Node& node, ClientChoice& out, ScalarReader& read) {
  out.quality_menu.clear();
  out.switch_costs.clear();
  out.knobs.clear();
  if (node.is_scalar() && node.text == "default") {
    out.quality_menu = default_quality_menu();
  } else if (node.is_scalar() && node.text == "knobs") {
    out.knobs = usual_knobs();
    out.quality_menu = menu_of(out.knobs, kUsualMenuSize);
  } else if (node.is_mapping()) {
    read_knob_menu(node, out, read);
  } else if (read.expect(node, Node::Kind::kSequence,
                         "[{ name: HI, cost: 1, quality: 1 }, ...], `default`, or `knobs`")) {
    read_settings(node, out, read);
  }
}

void settle_quality_level(const Node* node, ClientChoice& out, ScalarReader& read) {
  if (node == nullptr) return;
  for (std::uint32_t i = 0; i < out.quality_menu.size(); ++i)
    if (node->is_scalar() && out.quality_menu[i].name == node->text) {
      out.quality_level = i;
      return;
    }
  if (out.quality_menu.empty()) return read.wrong(*node, "`quality_level` needs a `quality` menu");
  if (const auto level = read.integer(*node, 0, out.quality_menu.size() - 1))
    out.quality_level = static_cast<std::uint32_t>(*level);
}

std::vector<QualityLevel> default_quality_menu() { return {{"HI", 1.0, 1.0}, {"ME", 0.62, 0.88}, {"LO", 0.33, 0.70}}; }

}  // namespace corun
