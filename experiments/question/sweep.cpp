#include "experiments/question/sweep.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/engine/random.h"
#include "traces/base/units.h"

namespace corun {

namespace {

constexpr char kRangeExample[] = "{ from: 50us, to: 1ms, step: 50us }";

/// Durations and bytes are whole; else so many digits that 0.1 * 3 is 0.3.
std::string text_of(const Quantity& quantity, int digits = 12) {
  if (quantity.unit == "ns") return format_duration(Duration{std::llround(quantity.number)});
  if (quantity.unit == "B") return fmt::format("{}B", std::llround(quantity.number));
  return fmt::format("{:.{}g}{}", quantity.number, digits, quantity.unit);
}

Node scalar(std::string text, const SourceLocation& where) {
  Node node;
  node.text = std::move(text);
  node.where = where;
  return node;
}

/// Where in a range, 0 to 1.
Quantity at(const SweptRange& range, double share) {
  const double from = range.from.number, to = range.to.number;
  const double number = range.is_log ? from * std::pow(to / from, share) : from + (to - from) * share;
  return {number, range.from.unit};
}

/// A range as written.
struct RangeReading {
  std::optional<Quantity> from, to, step;
  std::optional<std::uint64_t> count;
  bool is_log = false;
};

Field<RangeReading> end_field(std::string_view key, std::optional<Quantity> RangeReading::*member) {
  return {key, "number with its unit", [=](const Node& node, RangeReading& out, ScalarReader& read) {
            if (!read.expect(node, Node::Kind::kScalar, kRangeExample)) return;
            out.*member = parse_quantity(node.text);
            if (!(out.*member)) read.wrong(node, fmt::format("found `{}`, expected a number with its unit", node.text));
          }};
}

const FieldTable<RangeReading>& range_fields() {
  static const FieldTable<RangeReading> table = {
      end_field("from", &RangeReading::from),
      end_field("to", &RangeReading::to),
      end_field("step", &RangeReading::step),
      {"count", "whole number",
       [](const Node& node, RangeReading& out, ScalarReader& read) { out.count = read.integer(node, 2, kMostPoints); }},
      {"scale", "linear or log",
       [](const Node& node, RangeReading& out, ScalarReader& read) {
         constexpr std::array<std::string_view, 2> kScales = {"linear", "log"};
         out.is_log = read.choice(node, kScales).value_or(0) == 1;
       }},
  };
  return table;
}

/// nullopt after a diagnostic.
std::optional<SweptRange> checked(const Node& node, const RangeReading& read, ScalarReader& reader) {
  std::string wrong;
  if (!read.from || !read.to)
    wrong = "a range needs `from` and `to`";
  else if (read.from->unit != read.to->unit || (read.step && read.step->unit != read.from->unit))
    wrong = "`from`, `to` and `step` are not of one unit";
  else if (read.from->number >= read.to->number)
    wrong = "`from` is not below `to`";
  else if (read.is_log && read.from->number <= 0)
    wrong = "a logarithmic range begins above 0";
  else if (read.step && (read.count || read.is_log))
    wrong = "`step` goes with neither `count` nor `scale: log`";
  else if (read.step && read.step->number <= 0)
    wrong = "`step` is not above 0";
  else if (read.step && (read.to->number - read.from->number) / read.step->number > kMostPoints)
    wrong = fmt::format("this makes more than {} values", kMostPoints);
  if (wrong.empty()) return SweptRange{*read.from, *read.to, read.is_log};
  reader.wrong(node, wrong, fmt::format("for example `{}`", kRangeExample));
  return std::nullopt;
}

void read_range(const Node& node, SweptParameter& out, ScalarReader& reader) {
  RangeReading read;
  const std::size_t before = reader.diagnostics().count();
  read_fields(node, range_fields(), "key of a range:", read, reader);
  if (reader.diagnostics().count() > before) return;
  const auto range = checked(node, read, reader);
  if (!range) return;
  if (!read.step && !read.count) out.range = range;
  if (read.count)
    for (std::uint64_t i = 0; i < *read.count; ++i)
      out.values.push_back(scalar(
          text_of(at(*range, static_cast<double>(i) / static_cast<double>(*read.count - 1)), range->is_log ? 6 : 12),
          node.where));
  if (!read.step) return;
  const double steps = (range->to.number - range->from.number) / read.step->number;
  for (int i = 0; i <= static_cast<int>(steps + 1e-9); ++i)
    out.values.push_back(scalar(text_of({range->from.number + i * read.step->number, range->from.unit}), node.where));
}

void read_parameter(const Node::Entry& entry, Sweep& out, ScalarReader& reader) {
  SweptParameter parameter{entry.key, entry.where, {}, std::nullopt};
  if (entry.value.is_sequence()) {
    parameter.values = entry.value.items;
    if (parameter.values.empty()) return reader.wrong(entry.value, "at least one value is needed");
  } else if (entry.value.is_mapping()) {
    read_range(entry.value, parameter, reader);
  } else {
    return reader.wrong(entry.value, fmt::format("found {}, expected a list or a range", entry.value.kind_name()),
                        fmt::format("for example `[100us, 300us]` or `{}`", kRangeExample));
  }
  out.parameters.push_back(std::move(parameter));
}

const FieldTable<Sweep>& sample_fields() {
  static const FieldTable<Sweep> table = {
      {"method", "grid, random or latin_hypercube",
       [](const Node& node, Sweep& out, ScalarReader& read) {
         constexpr std::array<std::string_view, 4> kMethods = {"grid", "random", "latin_hypercube", "lhs"};
         out.sampling = static_cast<Sampling>(std::min<std::size_t>(read.choice(node, kMethods).value_or(0), 2));
       }},
      {"points", "whole number",
       [](const Node& node, Sweep& out, ScalarReader& read) {
         out.points = read.integer(node, 1, kMostPoints).value_or(1);
       }},
      {"seed", "whole number",
       [](const Node& node, Sweep& out, ScalarReader& read) {
         out.seed = read.integer(node, 0, UINT64_MAX).value_or(1);
       }},
  };
  return table;
}

void check_grid(const Node& section, const Sweep& sweep, ScalarReader& reader) {
  if (sweep.points > 0)
    reader.wrong(section, "a grid has as many points as its values make", "`points` is for the other methods");
  double points = 1;
  for (const SweptParameter& parameter : sweep.parameters) {
    points *= static_cast<double>(std::max<std::size_t>(parameter.values.size(), 1));
    if (parameter.range)
      reader.diagnostics().add({"E0202", parameter.where,
                                fmt::format("a grid needs the `step` or the `count` of `{}`", parameter.path),
                                "or a sample: `sample: { method: random, points: 100 }`"});
  }
  if (points > kMostPoints)
    reader.wrong(section, fmt::format("this grid has {:.0f} points, {} are possible", points, kMostPoints),
                 "draw some of them: `sample: { method: latin_hypercube, points: 1000 }`");
}

std::vector<std::vector<Node>> grid_points(const Sweep& sweep) {
  std::vector<std::vector<Node>> points = {{}};
  for (const SweptParameter& parameter : sweep.parameters) {
    std::vector<std::vector<Node>> longer;
    for (const std::vector<Node>& point : points)
      for (const Node& value : parameter.values) {
        longer.push_back(point);
        longer.back().push_back(value);
      }
    points = std::move(longer);
  }
  return points;
}

/// The value at a share of what a parameter can be.
Node value_at(const SweptParameter& parameter, double share) {
  if (parameter.range) return scalar(text_of(at(*parameter.range, share), 6), parameter.where);
  return parameter.values[static_cast<std::size_t>(share * static_cast<double>(parameter.values.size()))];
}

/// One share a point: free, or each in a stratum of its own.
std::vector<double> shares(const Sweep& sweep, const SweptParameter& parameter) {
  RandomStream random(sweep.seed, "sweep/" + parameter.path);
  std::vector<double> shares(sweep.points);
  for (double& share : shares) share = random.uniform();
  if (sweep.sampling == Sampling::kRandom) return shares;
  const auto count = static_cast<double>(sweep.points);
  for (std::size_t i = 0; i < shares.size(); ++i)
    shares[i] = std::min((static_cast<double>(i) + shares[i]) / count, std::nextafter(1.0, 0.0));
  for (std::size_t i = shares.size(); i > 1; --i)
    std::swap(shares[i - 1], shares[static_cast<std::size_t>(random.uniform() * static_cast<double>(i))]);
  return shares;
}

}  // namespace

std::optional<Quantity> parse_quantity(const std::string& text) {
  if (const auto value = parse_real(text)) return Quantity{*value, ""};
  if (const auto value = parse_duration(text)) return Quantity{static_cast<double>(to_ns(*value)), "ns"};
  if (const auto value = parse_bytes(text)) return Quantity{static_cast<double>(*value), "B"};
  if (const auto value = parse_rate(text)) return Quantity{*value, "/s"};
  return std::nullopt;
}

std::string flow_text(const Node& node) {
  if (node.is_scalar()) return node.text;
  std::vector<std::string> parts;
  for (const Node& item : node.items) parts.push_back(flow_text(item));
  for (const Node::Entry& entry : node.entries) parts.push_back(entry.key + ": " + flow_text(entry.value));
  return node.is_sequence() ? fmt::format("[{}]", fmt::join(parts, ", "))
                            : fmt::format("{{ {} }}", fmt::join(parts, ", "));
}

Sweep read_sweep(const Node& section, ScalarReader& reader) {
  Sweep out;
  if (!reader.expect(section, Node::Kind::kMapping, "sweep: { pilotfish.margin: [100us, 300us] }")) return out;
  const std::size_t before = reader.diagnostics().count();
  for (const Node::Entry& entry : section.entries) {
    if (entry.key != "sample") {
      read_parameter(entry, out, reader);
    } else if (reader.expect(entry.value, Node::Kind::kMapping, "sample: { method: random, points: 100 }")) {
      read_fields(entry.value, sample_fields(), "key of `sample`:", out, reader);
    }
  }
  if (reader.diagnostics().count() > before) return out;
  if (out.parameters.empty())
    reader.wrong(section, "no parameter is swept", "for example `pilotfish.margin: [100us, 300us]`");
  if (out.sampling == Sampling::kGrid) {
    check_grid(section, out, reader);
  } else if (out.points == 0) {
    reader.wrong(section, "a sample needs its number of `points`", "`sample: { method: random, points: 100 }`");
  }
  return out;
}

void apply_sweep_options(Node& root, const std::vector<std::string>& options, Diagnostics& diagnostics) {
  constexpr char kFile[] = "<command line, -L>";
  std::string lines;
  for (const std::string& option : options) lines += option + "\n";
  diagnostics.add_source(kFile, lines);
  std::uint32_t line = 0;
  for (const std::string& option : options) {
    const std::size_t equals = option.find('=');
    const SourceLocation where{kFile, ++line, 1, static_cast<std::uint32_t>(std::min(equals, option.size()))};
    if (equals == std::string::npos || equals == 0 || equals + 1 == option.size()) {
      diagnostics.add({"E0107", where, "expected `path=values`", "for example `-L pilotfish.margin=100us,300us`"});
      continue;
    }
    const bool is_yaml = option[equals + 1] == '[' || option[equals + 1] == '{';
    // Blank space in front of the values keeps their locations those of the option.
    const std::string padded = std::string(line - 1, '\n') + std::string(equals + (is_yaml ? 1 : 0), ' ') +
                               (is_yaml ? option.substr(equals + 1) : "[" + option.substr(equals + 1) + "]");
    Node* section = root.find("sweep");
    if (section == nullptr) {
      Node mapping;
      mapping.kind = Node::Kind::kMapping;
      mapping.where = where;
      section = &root.entries.emplace_back(Node::Entry{"sweep", where, std::move(mapping)}).value;
    }
    const std::string path = option.substr(0, equals);
    Node values = parse_yaml(padded, kFile, diagnostics);
    if (Node* given = section->find(path)) {
      *given = std::move(values);
    } else if (section->is_mapping()) {
      section->entries.push_back({path, where, std::move(values)});
    }
  }
}

std::vector<std::vector<Node>> draw_points(const Sweep& sweep) {
  if (sweep.sampling == Sampling::kGrid) return grid_points(sweep);
  std::vector<std::vector<Node>> points(sweep.points);
  for (const SweptParameter& parameter : sweep.parameters) {
    const std::vector<double> at = shares(sweep, parameter);
    for (std::size_t i = 0; i < points.size(); ++i) points[i].push_back(value_at(parameter, at[i]));
  }
  return points;
}

}  // namespace corun
