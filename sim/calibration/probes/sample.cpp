#include "sim/calibration/probes/sample.h"

#include <fmt/format.h>
#include <simdjson.h>

#include "traces/base/error.h"

namespace corun::calibration {

namespace {

using simdjson::dom::element;

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\';
    out += byte < 0x20 ? fmt::format("\\u{:04x}", byte) : std::string(1, c);
  }
  return out + '"';
}

std::string listed(const Series& numbers) { return fmt::format("[{}]", fmt::join(numbers, ",")); }

template <class Map, class Show>
std::string members(const Map& map, Show show) {
  std::string out;
  for (const auto& [name, value] : map)
    out += fmt::format("{}{}:{}", out.empty() ? "" : ",", json_text(name), show(value));
  return "{" + out + "}";
}

void read_text(element root, const char* name, std::string& text) {
  std::string_view found;
  if (root[name].get(found) == simdjson::SUCCESS) text = found;
}

void read_count(element root, const char* name, std::uint32_t& count) {
  std::uint64_t found = 0;
  if (root[name].get(found) == simdjson::SUCCESS) count = static_cast<std::uint32_t>(found);
}

Series read_series(element list) {
  Series numbers;
  for (const std::int64_t number : list.get_array()) numbers.push_back(number);
  return numbers;
}

template <class Map, class Read>
void read_members(element root, const char* name, Map& map, Read read) {
  simdjson::dom::object found;
  if (root[name].get(found) != simdjson::SUCCESS) return;
  for (const auto [key, value] : found) map[std::string(key)] = read(value);
}

}  // namespace

const Series& Sample::of(const std::string& name) const {
  static const Series none;
  const auto found = series.find(name);
  return found == series.end() ? none : found->second;
}

std::int64_t Sample::first(const std::string& name, std::int64_t otherwise) const {
  const Series& numbers = of(name);
  return numbers.empty() ? otherwise : numbers.front();
}

std::int64_t Sample::setting(const std::string& name, std::int64_t otherwise) const {
  const auto found = settings.find(name);
  return found == settings.end() ? otherwise : found->second;
}

std::string to_json_line(const Sample& s) {
  return fmt::format(
      R"({{"trial":{},"repetition":{},"role":{},"probe":{},"settings":{},"series":{},"texts":{},"failure":{},"failure_kind":{}}})",
      json_text(s.trial), s.repetition, s.role, json_text(s.probe),
      members(s.settings, [](std::int64_t number) { return std::to_string(number); }), members(s.series, listed),
      members(s.texts, json_text), json_text(s.failure), s.failure_kind);
}

Sample sample_from_json_line(std::string_view text, const std::string& file, std::uint32_t line) {
  simdjson::dom::parser parser;
  try {
    const element root = parser.parse(simdjson::padded_string(text));
    if (!root.is_object()) throw_input({file, line}, "found no JSON object, expected a sample");
    Sample sample;
    read_text(root, "trial", sample.trial);
    read_text(root, "probe", sample.probe);
    read_text(root, "failure", sample.failure);
    std::uint32_t kind = 0;
    read_count(root, "failure_kind", kind);
    sample.failure_kind = static_cast<int>(kind);
    read_count(root, "repetition", sample.repetition);
    read_count(root, "role", sample.role);
    read_members(root, "settings", sample.settings, [](element value) { return std::int64_t{value}; });
    read_members(root, "series", sample.series, read_series);
    read_members(root, "texts", sample.texts, [](element value) { return std::string(std::string_view(value)); });
    return sample;
  } catch (const simdjson::simdjson_error& error) {
    throw_input({file, line}, "found `{}`, expected one JSON object with whole numbers in its series: {}",
                text.substr(0, 60), error.what());
  }
}

Samples samples_from_json_lines(std::string_view text, const std::string& file) {
  Samples samples;
  for (std::uint32_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) samples.push_back(sample_from_json_line(text.substr(0, end), file, line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return samples;
}

}  // namespace corun::calibration
