#include "experiments/base/fields.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "traces/base/units.h"

namespace corun {

std::string in_folder(const std::string& folder, const std::string& path) {
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

bool ScalarReader::is_text(const Node& node, std::string_view expected) {
  if (node.is_scalar() && !node.is_absent()) return true;
  wrong(node, fmt::format("found {}, expected {}", node.kind_name(), expected));
  return false;
}

void ScalarReader::wrong(const Node& node, std::string message, std::string label, std::vector<std::string> notes) {
  diagnostics_.add({"E0202", node.where, std::move(message), std::move(label), std::move(notes), ""});
}

bool ScalarReader::expect(const Node& node, Node::Kind kind, std::string_view example) {
  if (node.kind == kind) return true;
  const std::string_view expected = kind == Node::Kind::kMapping    ? "a mapping"
                                    : kind == Node::Kind::kSequence ? "a list"
                                                                    : "text";
  wrong(node, fmt::format("found {}, expected {}", node.kind_name(), expected),
        fmt::format("for example: {}", example));
  return false;
}

void ScalarReader::unknown(std::string_view what, std::string_view key, const SourceLocation& where,
                           std::span<const std::string_view> known, std::string code) {
  constexpr std::size_t kMostSuggestions = 1000;  // each takes time, and 20 are shown
  const std::string nearest = diagnostics_.count() < kMostSuggestions ? nearest_name(key, known) : "";
  diagnostics_.add({std::move(code),
                    where,
                    fmt::format("unknown {} `{}`", what, key),
                    nearest.empty() ? "" : fmt::format("did you mean `{}`?", nearest),
                    {fmt::format("known: {}", fmt::join(known, ", "))},
                    ""});
}

std::optional<std::string> ScalarReader::text(const Node& node) {
  if (!is_text(node, "text")) return std::nullopt;
  return node.text;
}

std::optional<Duration> ScalarReader::duration(const Node& node, Duration minimum, Duration maximum,
                                               std::string_view usual_unit) {
  if (!is_text(node, "a duration")) return std::nullopt;
  const auto value = parse_duration(node.text);
  if (value && *value >= minimum && *value <= maximum) return value;
  const std::string range = fmt::format("from {} to {}", format_duration(minimum), format_duration(maximum));
  if (value) {
    wrong(node, fmt::format("{} is out of range, expected a duration {}", node.text, range));
  } else if (parse_real(node.text) && !node.text.ends_with('%')) {
    wrong(node, fmt::format("found `{}`, expected a duration", node.text),
          fmt::format("a duration needs a unit: did you mean `{}{}`?", node.text, usual_unit));
  } else {
    wrong(node, fmt::format("found `{}`, expected a duration in ns, us, ms, s, min or h", node.text),
          "for example `16.6ms`");
  }
  return std::nullopt;
}

std::optional<std::uint64_t> ScalarReader::bytes(const Node& node) {
  if (!is_text(node, "a size")) return std::nullopt;
  const auto value = parse_bytes(node.text);
  if (value) return value;
  const bool is_bare = parse_real(node.text).has_value() && !node.text.ends_with('%');
  wrong(node, fmt::format("found `{}`, expected a size in B, kB, MB, GB, KiB, MiB or GiB", node.text),
        is_bare ? fmt::format("a size needs a unit: did you mean `{}GB`?", node.text) : "for example `15.3GB`");
  return std::nullopt;
}

std::optional<double> ScalarReader::rate(const Node& node) {
  if (!is_text(node, "a rate")) return std::nullopt;
  const auto value = parse_rate(node.text);
  if (value && *value >= kLeastRate && *value <= kMostRate) return value;
  if (value && *value > 0) {
    wrong(node, fmt::format("{} is out of range, expected a rate from {}/s to {}/s", node.text, kLeastRate, kMostRate));
    return std::nullopt;
  }
  const bool is_bare = parse_real(node.text).has_value() && !node.text.ends_with('%');
  wrong(node, fmt::format("found `{}`, expected a rate above 0 in /s, /min, /h or fps", node.text),
        is_bare ? fmt::format("a rate needs a unit: did you mean `{}/s`?", node.text) : "for example `31/s`");
  return std::nullopt;
}

std::optional<double> ScalarReader::number(const Node& node, double minimum, double maximum) {
  if (!is_text(node, "a number")) return std::nullopt;
  const auto value = parse_real(node.text);
  if (value && *value >= minimum && *value <= maximum) return value;
  wrong(node, fmt::format("found `{}`, expected a number from {} to {}", node.text, minimum, maximum));
  return std::nullopt;
}

std::optional<double> ScalarReader::number_of(std::string_view unit, const Node& node, double minimum, double maximum) {
  if (!is_text(node, "a number with its unit")) return std::nullopt;
  const auto value = parse_of(unit, node.text);
  if (value && *value >= minimum && *value <= maximum) return value;
  wrong(node, fmt::format("found `{}`, expected {}{} to {}{}", node.text, minimum, unit, maximum, unit));
  return std::nullopt;
}

std::optional<std::uint64_t> ScalarReader::integer(const Node& node, std::uint64_t minimum, std::uint64_t maximum) {
  if (!is_text(node, "a whole number")) return std::nullopt;
  std::uint64_t value = 0;
  const char* last = node.text.data() + node.text.size();
  const auto [end, failure] = std::from_chars(node.text.data(), last, value);
  if (failure == std::errc{} && end == last && value >= minimum && value <= maximum) return value;
  wrong(node, fmt::format("found `{}`, expected a whole number from {} to {}", node.text, minimum, maximum));
  return std::nullopt;
}

std::optional<bool> ScalarReader::boolean(const Node& node) {
  if (!is_text(node, "true or false")) return std::nullopt;
  if (node.text == "true" || node.text == "false") return node.text == "true";
  wrong(node, fmt::format("found `{}`, expected true or false", node.text));
  return std::nullopt;
}

std::optional<std::size_t> ScalarReader::choice(const Node& node, std::span<const std::string_view> choices) {
  if (!is_text(node, fmt::format("one of {}", fmt::join(choices, ", ")))) return std::nullopt;
  const auto found = std::ranges::find(choices, node.text);
  if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
  const std::string nearest = nearest_name(node.text, choices);
  wrong(node, fmt::format("found `{}`, expected one of {}", node.text, fmt::join(choices, ", ")),
        nearest.empty() ? "" : fmt::format("did you mean `{}`?", nearest));
  return std::nullopt;
}

}  // namespace corun
