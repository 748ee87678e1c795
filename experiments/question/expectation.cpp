#include "experiments/question/expectation.h"

#include <algorithm>
#include <array>

#include "sim/metrics/metric_table.h"
#include "traces/base/units.h"

namespace corun {

namespace {

using Relation = Expectation::Relation;
constexpr std::array<std::pair<std::string_view, Relation>, 4> kRelations = {
    {{"<=", Relation::kAtMost}, {">=", Relation::kAtLeast}, {"<", Relation::kLess}, {">", Relation::kMore}}};

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

constexpr std::string_view kForm = "expected `policy.client.metric <= 16.7ms` or `... >= 1.5 * policy.client.metric`";

/// Reads one expectation out of one node; every part knows the node for its diagnostics.
class Parser {
 public:
  Parser(const Node& node, ScalarReader& reader) : node_(node), reader_(reader) {}

  std::optional<MetricPath> path(std::string_view text) {
    const std::size_t first = text.find('.'), last = text.rfind('.');
    if (first == std::string_view::npos || first == last)
      return fail<MetricPath>(fmt::format("`{}` is not a figure", text));
    const MetricDescriptor* name = metric(text.substr(last + 1));
    if (!name) return std::nullopt;
    return MetricPath{std::string(text.substr(0, first)), std::string(text.substr(first + 1, last - first - 1)),
                      std::string(name->name)};
  }

  /// nullptr after a diagnostic.
  const MetricDescriptor* metric(std::string_view text) {
    if (const MetricDescriptor* found = metric_called(text)) return found;
    std::vector<std::string_view> names;
    for (const MetricDescriptor& metric : metric_table()) names.push_back(metric.name);
    reader_.unknown("metric", text, node_.where, names, "E0304");
    return nullptr;
  }

  /// " <= 16.7ms": the relation and what follows it.
  bool condition(std::string_view text, Expectation& out) {
    const auto relation = take_relation(text);
    if (!relation) return false;
    out.relation = *relation;
    text = trim(text);
    const std::size_t star = text.find('*');
    const bool is_reference = star != std::string_view::npos || (text.find('.') != text.rfind('.'));
    return is_reference ? reference(text, star, out) : threshold(text, out);
  }

 private:
  template <class T>
  std::optional<T> fail(std::string message) {
    reader_.wrong(node_, std::move(message), "", {std::string(kForm)});
    return std::nullopt;
  }

  std::optional<Relation> take_relation(std::string_view& text) {
    text = trim(text);
    for (const auto& [sign, relation] : kRelations)
      if (text.starts_with(sign)) {
        text.remove_prefix(sign.size());
        return relation;
      }
    return fail<Relation>(fmt::format("`{}` has no `<=`, `>=`, `<` or `>`", node_.text));
  }

  bool reference(std::string_view text, std::size_t star, Expectation& out) {
    const bool has_factor = star != std::string_view::npos;
    const auto factor = has_factor ? parse_real(trim(text.substr(0, star))) : 1.0;
    if (!factor) return fail<bool>(fmt::format("`{}` is not a factor", trim(text.substr(0, star)))).has_value();
    out.factor = *factor;
    out.right = path(trim(has_factor ? text.substr(star + 1) : text));
    return out.right.has_value();
  }

  bool threshold(std::string_view text, Expectation& out) {
    const std::string_view unit = metric_named(out.left.metric).unit;
    const auto [value, example] = value_of(unit, text);
    if (!value)
      return fail<bool>(fmt::format("`{}` is not a value of {}: write it like {}", text, out.left.metric, example))
          .has_value();
    out.factor = *value;
    return true;
  }

  /// The value, if it is one of that unit, and an example of such a value.
  static std::pair<std::optional<double>, std::string> value_of(std::string_view unit, std::string_view text) {
    if (unit == "ms") return {milliseconds(text), "`16.7ms`"};
    if (unit == "s") return {seconds(text), "`90s` or `2h`"};
    if (unit == "ratio") return {parse_real(text), "`0.7` or `70%`"};
    if (unit == "count") return {parse_real(text), "`12`"};
    if (unit == "J" || unit == "W" || unit == "MHz") return {parse_of(unit, text), fmt::format("`500{}`", unit)};
    return {rate(text), "`55fps` or `55/s`"};
  }

  static std::optional<double> seconds(std::string_view text) {
    const auto duration = parse_duration(text);
    return duration ? std::optional(to_seconds(*duration)) : std::nullopt;
  }
  static std::optional<double> milliseconds(std::string_view text) {
    const auto duration = parse_duration(text);
    if (!duration) return std::nullopt;
    return to_milliseconds(*duration);
  }
  static std::optional<double> rate(std::string_view text) { return parse_rate(text); }

  const Node& node_;
  ScalarReader& reader_;
};

}  // namespace

std::string_view to_string(Expectation::Relation relation) {
  return std::ranges::find(kRelations, relation, &std::pair<std::string_view, Relation>::second)->first;
}

std::optional<Expectation::Relation> parse_relation(std::string_view text) {
  const auto found = std::ranges::find(kRelations, text, &std::pair<std::string_view, Relation>::first);
  return found == kRelations.end() ? std::nullopt : std::optional(found->second);
}

bool holds(double value, Expectation::Relation relation, double threshold) {
  switch (relation) {
    case Relation::kLess:
      return value < threshold;
    case Relation::kAtMost:
      return value <= threshold;
    case Relation::kAtLeast:
      return value >= threshold;
    case Relation::kMore:
      return value > threshold;
  }
  return false;
}

bool Expectation::holds(double left_value, double right_value) const {
  return corun::holds(left_value, relation, right ? factor * right_value : factor);
}

std::optional<Expectation> read_expectation(const Node& node, ScalarReader& reader) {
  const auto text = reader.text(node);
  if (!text) return std::nullopt;
  Parser parser(node, reader);
  Expectation out{*text, node.where, {}, {}, 1.0, {}};
  const std::size_t relation = std::min(text->find_first_of("<>"), text->size());
  const auto left = parser.path(trim(std::string_view(*text).substr(0, relation)));
  if (!left) return std::nullopt;
  out.left = *left;
  if (!parser.condition(std::string_view(*text).substr(relation), out)) return std::nullopt;
  return out;
}

std::optional<Expectation> read_qos(const std::string& client, const std::string& metric, const Node& node,
                                    ScalarReader& reader) {
  const auto condition = reader.text(node);
  if (!condition) return std::nullopt;
  Parser parser(node, reader);
  const MetricDescriptor* name = parser.metric(metric);
  if (!name) return std::nullopt;
  Expectation out{fmt::format("{}.{} {}", client, metric, *condition),
                  node.where,
                  {"", client, std::string(name->name)},
                  {},
                  1.0,
                  {}};
  if (!parser.condition(*condition, out)) return std::nullopt;
  return out;
}

}  // namespace corun
