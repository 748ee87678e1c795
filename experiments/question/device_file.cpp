#include "experiments/question/device_file.h"

#include <algorithm>
#include <array>

#include "traces/timeline.h"

namespace corun {

namespace {

using namespace std::chrono_literals;

constexpr std::array<std::string_view, 3> kSharing = {"time_sliced", "concurrent", "exclusive"};
constexpr std::array<std::string_view, 3> kGraphics = {"to_completion", "sliced", "first"};
constexpr std::array<std::string_view, 3> kLoneSlice = {"rolls", "used_up", "rolls_while_queued"};
constexpr std::array<std::string_view, 2> kTurnOrder = {"as_woken", "fixed"};
constexpr std::array<std::string_view, 2> kSpatial = {"dispatch_order", "max_min"};
constexpr std::array<std::string_view, 2> kPaging = {"fluid", "blocks"};
constexpr std::array<std::string_view, 2> kCarveoutChange = {"any_time", "when_idle"};

using DeviceField = Field<DeviceSpec>;

DeviceField count_field(std::string_view key, std::uint32_t DeviceSpec::*member, std::uint64_t maximum) {
  return {key, "whole number", [=](const Node& node, DeviceSpec& spec, ScalarReader& read) {
            if (const auto value = read.integer(node, 1, maximum)) spec.*member = static_cast<std::uint32_t>(*value);
          }};
}

DeviceField duration_field(std::string_view key, Duration DeviceSpec::*member, Duration minimum, Duration maximum = 10s,
                           std::string_view former_key = {}) {
  return {key, "duration",
          [=](const Node& node, DeviceSpec& spec, ScalarReader& read) {
            if (const auto value = read.duration(node, minimum, maximum, "us")) spec.*member = *value;
          },
          former_key};
}

DeviceField number_field(std::string_view key, double DeviceSpec::*member, double minimum, double maximum,
                         std::string_view former_key = {}) {
  return {key, "number",
          [=](const Node& node, DeviceSpec& spec, ScalarReader& read) {
            if (const auto value = read.number(node, minimum, maximum)) spec.*member = *value;
          },
          former_key};
}

DeviceField bandwidth_field(std::string_view key, std::uint64_t DeviceSpec::*member) {
  return {key, "bytes per second", [=](const Node& node, DeviceSpec& spec, ScalarReader& read) {
            Node size = node;
            const bool is_per_second = size.text.ends_with("/s");
            if (is_per_second) size.text.resize(size.text.size() - 2);
            if (!is_per_second)
              return read.wrong(node, fmt::format("found `{}`, expected bytes per second", node.text),
                                "for example `12GB/s`");
            if (const auto value = read.bytes(size)) spec.*member = *value;
          }};
}

DeviceField size_field(std::string_view key, std::uint64_t DeviceSpec::*member) {
  return {key, "size", [=](const Node& node, DeviceSpec& spec, ScalarReader& read) {
            if (const auto value = read.bytes(node)) spec.*member = *value;
          }};
}

template <class Enum, std::size_t kCount>
DeviceField choice_field(std::string_view key, Enum DeviceSpec::*member,
                         const std::array<std::string_view, kCount>& names) {
  return {key, "choice", [member, &names](const Node& node, DeviceSpec& spec, ScalarReader& read) {
            if (const auto index = read.choice(node, names)) spec.*member = static_cast<Enum>(*index);
          }};
}

/// `{ value: ..., spread: "...", source: "..." }`.
struct SourcedValue {
  const Node* value = nullptr;
  std::string source;
  std::string spread;
};

const FieldTable<SourcedValue>& sourced_fields() {
  static const FieldTable<SourcedValue> table = {
      {"value", "value", [](const Node& node, SourcedValue& out, ScalarReader&) { out.value = &node; }},
      {"source", "text",
       [](const Node& node, SourcedValue& out, ScalarReader& read) { out.source = read.text(node).value_or(""); }},
      {"spread", "text",
       [](const Node& node, SourcedValue& out, ScalarReader& read) { out.spread = read.text(node).value_or(""); }},
  };
  return table;
}

const FieldTable<MigProfile>& profile_fields() {
  static const FieldTable<MigProfile> table = {
      {"name", "text",
       [](const Node& node, MigProfile& out, ScalarReader& read) { out.name = read.text(node).value_or(""); }},
      {"slices", "whole number",
       [](const Node& node, MigProfile& out, ScalarReader& read) {
         out.slices = static_cast<std::uint32_t>(read.integer(node, 1, 7).value_or(1));
       }},
      {"sms", "whole number",
       [](const Node& node, MigProfile& out, ScalarReader& read) {
         out.sms = static_cast<std::uint32_t>(read.integer(node, 1, 4096).value_or(1));
       }},
      {"memory", "size",
       [](const Node& node, MigProfile& out, ScalarReader& read) { out.memory_bytes = read.bytes(node).value_or(0); }},
      {"memory_slices", "whole number",
       [](const Node& node, MigProfile& out, ScalarReader& read) {
         out.memory_slices = static_cast<std::uint32_t>(read.integer(node, 1, 8).value_or(1));
       }},
      {"begins", "list",
       [](const Node& node, MigProfile& out, ScalarReader& read) {
         if (!read.expect(node, Node::Kind::kSequence, "[0, 4]")) return;
         for (const Node& item : node.items)
           out.begins.push_back(static_cast<std::uint32_t>(read.integer(item, 0, 7).value_or(0)));
       }},
  };
  return table;
}

/// `{ source: ..., profiles: [...] }`.
void read_mig(const Node& node, DeviceFile& out, ScalarReader& read) {
  constexpr std::string_view kExample =
      "{ name: 1g.10gb, slices: 1, sms: 16, memory: 9.75GiB, memory_slices: 1, begins: [0, 1] }";
  const Node* profiles = node.find("profiles");
  if (node.find("source") == nullptr || profiles == nullptr)
    return read.wrong(node, "`mig` needs its `profiles` and their `source`");
  if (!read.expect(*profiles, Node::Kind::kSequence, fmt::format("[{}]", kExample))) return;
  for (const Node& item : profiles->items) {
    if (!read.expect(item, Node::Kind::kMapping, kExample)) continue;
    MigProfile profile;
    read_fields(item, profile_fields(), "key", profile, read);
    const bool is_whole = profile.slices > 0 && profile.memory_slices > 0 && !profile.begins.empty();
    if (!is_whole) read.wrong(item, "a profile needs `slices`, `memory_slices` and `begins`", std::string(kExample));
    if (is_whole) out.facts.mig.push_back(std::move(profile));
  }
}

/// In double quotes, where YAML reads a backslash and a quote as the next character of something else.
std::string in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + '"';
}

/// The table of a device file: name, description, and the device's keys wrapped in value and source.
FieldTable<DeviceFile> file_fields() {
  FieldTable<DeviceFile> table = {
      {"version", "1", [](const Node& node, DeviceFile&, ScalarReader& read) { read.integer(node, 1, 1); }},
      {"name", "text",
       [](const Node& node, DeviceFile& out, ScalarReader& read) { out.spec.name = read.text(node).value_or(""); }},
      {"description", "text",
       [](const Node& node, DeviceFile& out, ScalarReader& read) { out.description = read.text(node).value_or(""); }},
      {"measured", "yes or no",
       [](const Node& node, DeviceFile& out, ScalarReader& read) {
         constexpr std::array<std::string_view, 2> kAnswers = {"no", "yes"};
         if (const auto index = read.choice(node, kAnswers)) out.facts.is_measured = *index == 1;
       }},
      {"mig", "{ source: ..., profiles: [...] }", read_mig},
  };
  for (const DeviceField& field : device_fields()) {
    table.push_back({field.key, "{ value: ..., source: ... }",
                     [&field](const Node& node, DeviceFile& out, ScalarReader& read) {
                       if (!read.expect(node, Node::Kind::kMapping, "{ value: 100us, source: \"measured\" }")) return;
                       SourcedValue sourced;
                       read_fields(node, sourced_fields(), "key", sourced, read);
                       if (sourced.value == nullptr || sourced.source.empty())
                         return read.wrong(node, fmt::format("`{}` needs a value and its source", field.key));
                       field.read(*sourced.value, out.spec, read);
                       out.sources[std::string(field.key)] = sourced.source;
                       if (!sourced.spread.empty()) out.facts.spreads[std::string(field.key)] = sourced.spread;
                     },
                     field.former_key});
  }
  return table;
}

}  // namespace

const FieldTable<DeviceSpec>& device_fields() {
  static const FieldTable<DeviceSpec> table = {
      count_field("sm_count", &DeviceSpec::sm_count, 4096),
      count_field("max_threads_per_sm", &DeviceSpec::max_threads_per_sm, 1 << 16),
      count_field("max_blocks_per_sm", &DeviceSpec::max_blocks_per_sm, 1 << 16),
      count_field("registers_per_sm", &DeviceSpec::registers_per_sm, 1 << 24),
      {"shared_memory_per_sm", "size",
       [](const Node& node, DeviceSpec& spec, ScalarReader& read) {
         if (const auto value = read.bytes(node)) spec.shared_memory_per_sm_bytes = static_cast<std::uint32_t>(*value);
       }},
      size_field("memory", &DeviceSpec::memory_bytes),
      choice_field("sharing", &DeviceSpec::sharing, kSharing),
      choice_field("graphics", &DeviceSpec::graphics, kGraphics),
      choice_field("lone_slice", &DeviceSpec::lone_slice, kLoneSlice),
      choice_field("turn_order", &DeviceSpec::turn_order, kTurnOrder),
      choice_field("spatial", &DeviceSpec::spatial_rule, kSpatial),
      choice_field("carveout_change", &DeviceSpec::carveout_change, kCarveoutChange),
      duration_field("time_slice", &DeviceSpec::time_slice, Duration(1us)),
      duration_field("graphics_slice", &DeviceSpec::graphics_slice, Duration(0)),
      duration_field("switch_cost", &DeviceSpec::switch_cost, Duration(0)),
      number_field("switch_state", &DeviceSpec::switch_state, 0.0, 1.0),
      count_field("launch_queue_depth", &DeviceSpec::launch_queue_depth, 1 << 20),
      count_field("copy_engines_per_direction", &DeviceSpec::copy_engines_per_direction, 64),
      choice_field("paging", &DeviceSpec::paging, kPaging),
      bandwidth_field("handover_bandwidth", &DeviceSpec::handover_bandwidth_bytes_per_s),
      bandwidth_field("thrash_bandwidth", &DeviceSpec::thrash_bandwidth_bytes_per_s),
      duration_field("fault_group", &DeviceSpec::fault_group, Duration(0), Duration(1s)),
      duration_field("eviction", &DeviceSpec::eviction, Duration(0), Duration(1s)),
      bandwidth_field("to_device_bandwidth", &DeviceSpec::to_device_bytes_per_s),
      bandwidth_field("from_device_bandwidth", &DeviceSpec::from_device_bytes_per_s),
      size_field("context_memory", &DeviceSpec::context_bytes),
      duration_field("context_create", &DeviceSpec::context_create, Duration(0)),
      number_field("sm_rate_exponent", &DeviceSpec::sm_rate_exponent, 0.01, 1.0),
      number_field("sm_fill_exponent", &DeviceSpec::sm_fill_exponent, 0.0, 1.0),
      duration_field("kernel_overhead", &DeviceSpec::kernel_overhead, Duration(0), Duration(1ms)),
      number_field("one_wave_drain", &DeviceSpec::one_wave_drain, 0.0, 1.0),
      number_field("mps_gap_scale", &DeviceSpec::mps_gap_scale, 1.0, 100.0, "company_gap_scale"),
      duration_field("mps_launch_stall", &DeviceSpec::mps_launch_stall, Duration(0), Duration(1ms), "company_stall"),
      unit_field("power_limit", "W", &DeviceSpec::power_limit_w, 1, PowerMean::kMostWatts),
      unit_field("idle_power", "W", &DeviceSpec::idle_power_w, 1, PowerMean::kMostWatts),
      unit_field("full_clock", "MHz", &DeviceSpec::full_clock_mhz, 1, PowerMean::kMostMhz),
      number_field("clock_time_exponent", &DeviceSpec::clock_time_exponent, 0.0, 1.0),
      number_field("clock_energy_exponent", &DeviceSpec::clock_energy_exponent, 0.1, 3.0),
  };
  return table;
}

DeviceFile read_device_file(std::string_view text, const std::string& file) {
  Diagnostics diagnostics;
  ScalarReader reader(diagnostics);
  const Node root = parse_yaml(text, file, diagnostics);
  DeviceFile device;
  diagnostics.throw_if_any();
  if (reader.expect(root, Node::Kind::kMapping, "name: my-gpu"))
    read_fields(root, file_fields(), "key", device, reader);
  diagnostics.throw_if_any();
  if (device.spec.name.empty()) throw_input({file}, "the device has no `name`");
  device.facts.has_measured_laws = device.facts.is_measured && device.sources["time_slice"].starts_with("measured");
  return device;
}

std::vector<DeviceLine> read_device_lines(std::string_view text, const std::string& file) {
  read_device_file(text, file);
  Diagnostics diagnostics;
  ScalarReader reader(diagnostics);
  const Node root = parse_yaml(text, file, diagnostics);
  std::vector<DeviceLine> lines;
  for (const DeviceField& field : device_fields()) {
    const auto entry = std::ranges::find_if(root.entries, [&](const Node::Entry& e) { return field.has(e.key); });
    if (entry == root.entries.end()) continue;
    SourcedValue sourced;
    read_fields(entry->value, sourced_fields(), "key", sourced, reader);
    lines.push_back({std::string(field.key), sourced.value->text, sourced.source, sourced.spread});
  }
  return lines;
}

std::string device_file_text(const std::string& name, const std::string& description,
                             const std::vector<DeviceLine>& lines) {
  std::string text = fmt::format("version: 1\nname: {}\ndescription: {}\n\n", in_quotes(name), in_quotes(description));
  for (const DeviceField& field : device_fields()) {
    const auto line = std::ranges::find_if(lines, [&](const DeviceLine& each) { return field.has(each.key); });
    if (line == lines.end()) continue;
    const std::string spread = line->spread.empty() ? "" : fmt::format("spread: {}, ", in_quotes(line->spread));
    text += fmt::format("{}: {{ value: {}, {}source: {} }}\n", field.key, line->value, spread, in_quotes(line->source));
  }
  return text;
}

}  // namespace corun
