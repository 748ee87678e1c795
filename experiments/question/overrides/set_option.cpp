#include "experiments/question/overrides/set_option.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "traces/base/units.h"

namespace corun {

namespace {

constexpr char kFile[] = "<command line>";

/// One component of a path: a key (or an item's name), or an index.
struct Step {
  std::string key;
  std::optional<std::size_t> index;
  SourceLocation where;
};

/// A path that is walked through a document.
class Path {
 public:
  /// `where` is the place of its first character.
  Path(const SourceLocation& where, Diagnostics& diagnostics) : where_(where), diagnostics_(diagnostics) {}

  /// What stands there, made where it is not; nullptr after a diagnostic.
  Node* find_in(Node& root, std::string_view path) {
    std::vector<Step> steps;
    if (!parse_path(path, steps)) return nullptr;
    if (begins_with_policy(root, steps)) steps.insert(steps.begin(), {"policies", std::nullopt, steps.front().where});
    Node* at = &root;
    for (const Step& step : steps)
      if (at = descend(*at, step); at == nullptr) return nullptr;
    return at;
  }

 private:
  void refuse(std::size_t from, std::size_t length, std::string message, std::string label) {
    refuse(location(from, length), std::move(message), std::move(label));
  }
  void refuse(const SourceLocation& where, std::string message, std::string label) {
    diagnostics_.add({"E0107", where, std::move(message), std::move(label), {}, ""});
  }

  SourceLocation location(std::size_t from, std::size_t length) const {
    return {where_.file, where_.line, where_.column + static_cast<std::uint32_t>(from),
            static_cast<std::uint32_t>(std::max<std::size_t>(length, 1))};
  }

  /// `pilotfish.margin` is short for `policies.pilotfish.margin`.
  static bool begins_with_policy(Node& root, const std::vector<Step>& steps) {
    if (steps.size() < 2 || steps[0].index || !root.is_mapping() || root.find(steps[0].key) != nullptr) return false;
    const Node* policies = root.find("policies");
    return policies != nullptr && policies->is_sequence() &&
           std::ranges::any_of(policies->items, [&](const Node& item) { return is_named(item, steps[0].key); });
  }

  bool parse_path(std::string_view path, std::vector<Step>& steps) {
    std::size_t at = 0;
    while (at < path.size()) {
      const bool is_index = path[at] == '[';
      const std::size_t end = is_index ? path.find(']', at) : path.find_first_of(".[", at);
      const std::size_t stop = end == std::string_view::npos ? path.size() : end;
      const std::string_view text = path.substr(at + (is_index ? 1 : 0), stop - at - (is_index ? 1 : 0));
      if (text.empty() || (is_index && end == std::string_view::npos)) {
        refuse(at, 1, "a path has keys, dots and [indices]", "for example `policies[0].margin=300us`");
        return false;
      }
      Step step{std::string(text), std::nullopt, location(at + (is_index ? 1 : 0), text.size())};
      if (is_index && !parse_index(text, step)) return false;
      steps.push_back(std::move(step));
      at = stop + (is_index ? 1 : 0);
      if (at < path.size() && path[at] == '.') ++at;
    }
    return true;
  }

  bool parse_index(std::string_view text, Step& step) {
    std::size_t index = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), index);
    step.index = index;
    if (failure == std::errc{} && end == text.data() + text.size()) return true;
    refuse(step.where, fmt::format("`{}` is not an index", text), "");
    return false;
  }

  Node* descend(Node& node, const Step& step) {
    if (node.is_sequence()) return item(node, step);
    if (step.index) {
      refuse(step.where, fmt::format("found {}, expected a list", node.kind_name()), "");
      return nullptr;
    }
    if (!node.is_mapping()) make_mapping(node, step.where);
    if (Node* value = node.find(step.key)) return value;
    // In `- pilotfish: { ... }`, what is not the policy's name means one of its parameters.
    if (std::exchange(is_in_policy_, false)) return descend(node.entries[0].value, step);
    return &node.entries.emplace_back(Node::Entry{step.key, step.where, {}}).value;
  }

  /// A scalar that gets keys: `device: h200` is short for `device: { model: h200 }`.
  static void make_mapping(Node& node, const SourceLocation& where) {
    Node mapping;
    mapping.kind = Node::Kind::kMapping;
    mapping.where = where;
    if (node.is_scalar() && !node.is_absent()) mapping.entries.push_back({"model", node.where, node});
    node = std::move(mapping);
  }

  Node* item(Node& list, const Step& step) {
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      Node& node = list.items[i];
      if (step.index ? i == *step.index : is_named(node, step.key)) return enter(node, step);
    }
    if (step.index)
      refuse(step.where, fmt::format("there are {} items, counted from 0", list.items.size()), "");
    else
      refuse_name(list, step);
    return nullptr;
  }

  void refuse_name(const Node& list, const Step& step) {
    std::vector<std::string> names;
    for (const Node& node : list.items) names.push_back(name_of(node));
    const std::string nearest = nearest_name(step.key, names);
    refuse(step.where, fmt::format("no item of the list is called `{}`", step.key),
           nearest.empty() ? "" : fmt::format("did you mean `{}`?", nearest));
  }

  static bool is_policy(const Node& node) {
    return node.is_mapping() && node.find("name") == nullptr && !node.entries.empty();
  }

  static bool is_named(const Node& node, const std::string& name) {
    if (node.is_scalar()) return node.text == name;
    for (const char* key : {"name", "as"})
      if (const Node* value = node.find(key); value != nullptr && value->text == name) return true;
    return is_policy(node) && node.entries[0].key == name;
  }

  /// A name that is_named() takes.
  static std::string name_of(const Node& node) {
    if (node.is_scalar()) return node.text;
    if (const Node* value = node.find("name")) return value->text;
    return is_policy(node) ? node.entries[0].key : "";
  }

  /// A policy that is only named becomes `{ name: {} }` when one of its parameters is set.
  Node* enter(Node& node, const Step& step) {
    const bool is_bare_name = node.is_scalar() && !step.index;
    if (is_bare_name) {
      Node mapping;
      mapping.kind = Node::Kind::kMapping;
      mapping.where = node.where;
      mapping.entries.push_back({node.text, node.where, {}});
      node = std::move(mapping);
    }
    is_in_policy_ = is_policy(node);
    return &node;
  }

  const SourceLocation& where_;
  Diagnostics& diagnostics_;
  bool is_in_policy_ = false;  ///< the last step entered an item of `policies`
};

void apply(const std::string& option, std::uint32_t line, Node& root, Diagnostics& diagnostics) {
  const std::size_t equals = option.find('=');
  const SourceLocation where{kFile, line, 1, static_cast<std::uint32_t>(std::max<std::size_t>(option.size(), 1))};
  if (equals == std::string::npos || equals == 0) {
    diagnostics.add({"E0107", where, "expected `path=value`", "for example `--set horizon=2s`"});
    return;
  }
  // Blank space in front of the value keeps the locations of its parts those of the option.
  const std::string padded = std::string(line - 1, '\n') + std::string(equals + 1, ' ') + option.substr(equals + 1);
  if (Node* at = Path(where, diagnostics).find_in(root, std::string_view(option).substr(0, equals)))
    *at = parse_yaml(padded, kFile, diagnostics);
}

}  // namespace

std::string name_of_item(const Node& item) {
  if (item.is_scalar()) return item.text;
  for (const char* key : {"as", "name"})
    if (const Node* value = item.find(key)) return value->text;
  return item.is_mapping() && !item.entries.empty() ? item.entries[0].key : "";
}

bool set_value(Node& root, const std::string& path, const SourceLocation& where, Node value, Diagnostics& diagnostics) {
  Node* at = Path(where, diagnostics).find_in(root, path);
  if (at != nullptr) *at = std::move(value);
  return at != nullptr;
}

void apply_set_options(Node& root, const std::vector<std::string>& options, Diagnostics& diagnostics) {
  std::string lines;
  for (const std::string& option : options) lines += option + "\n";
  diagnostics.add_source(kFile, lines);
  std::uint32_t line = 0;
  for (const std::string& option : options) apply(option, ++line, root, diagnostics);
}

}  // namespace corun
