#include "experiments/question/device_choice.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace corun {

namespace {

void use_model(const Node& node, DeviceFile& device, ScalarReader& reader) {
  const auto model = reader.text(node);
  if (!model) return;
  std::vector<std::string_view> names;
  for (const BuiltinDevice& builtin : builtin_devices()) {
    names.push_back(builtin.model);
    if (builtin.model != *model) continue;
    device = read_device_file(builtin.text, fmt::format("devices/{}.yaml", *model));
    return;
  }
  reader.unknown("device model", *model, node.where, names, "E0302");
}

void use_file(const Node& node, const std::string& folder, DeviceFile& device, ScalarReader& reader) {
  const auto path = reader.text(node);
  if (!path) return;
  const std::string file = (std::filesystem::path(folder) / *path).lexically_normal().string();
  try {
    device = read_device_file(read_text_file(file), file);
  } catch (const InvalidInput& invalid) {
    for (const Diagnostic& diagnostic : invalid.diagnostics()) reader.diagnostics().add(diagnostic);
  } catch (const Error& error) {
    reader.wrong(node, fmt::format("device file `{}`: {}", file, error.message()));
  }
}

void use_mapping(const Node& node, const std::string& folder, DeviceFile& device, ScalarReader& reader) {
  if (!reader.expect(node, Node::Kind::kMapping, "device: { model: h200, sharing: time_sliced }")) return;
  const Node *model = node.find("model"), *file = node.find("file");
  if (model != nullptr && file != nullptr) reader.wrong(*file, "a device has a `model` or a `file`, not both");
  if (model != nullptr) use_model(*model, device, reader);
  if (file != nullptr) use_file(*file, folder, device, reader);
  FieldTable<DeviceSpec> table = device_fields();
  for (const std::string_view key : {"model", "file"})
    table.push_back({key, "text", [](const Node&, DeviceSpec&, ScalarReader&) {}});
  read_fields(node, table, "key", device.spec, reader);
  for (const auto& field : device_fields())
    if (std::ranges::any_of(node.entries, [&](const Node::Entry& entry) { return field.has(entry.key); }))
      device.spreads.erase(std::string(field.key));
}

}  // namespace

void read_device(const Node& node, const std::string& folder, DeviceSpec& device, DeviceSpreads& spreads,
                 ScalarReader& reader) {
  DeviceFile found{device, {}, {}, spreads};
  const bool is_model = node.is_scalar() && !node.is_absent();
  if (is_model) {
    use_model(node, found, reader);
  } else {
    use_mapping(node, folder, found, reader);
  }
  device = std::move(found.spec);
  spreads = std::move(found.spreads);
}

std::string device_text(const DeviceSpec& d) {
  const std::string memory = fmt::format(
      "context_create_ns={}\ncontext_memory={}\nfrom_device_bandwidth={}\nhandover_bandwidth={}\nmemory={}\n"
      "thrash_bandwidth={}\nto_device_bandwidth={}\n",
      to_ns(d.context_create), d.context_bytes, d.from_device_bytes_per_s, d.handover_bandwidth_bytes_per_s,
      d.memory_bytes, d.thrash_bandwidth_bytes_per_s, d.to_device_bytes_per_s);
  const std::string multiprocessors = fmt::format(
      "max_blocks_per_sm={}\nmax_threads_per_sm={}\nregisters_per_sm={}\nshared_memory_per_sm={}\nsm_count={}\n"
      "sm_fill_exponent={}\nsm_rate_exponent={}\nspatial={}\n",
      d.max_blocks_per_sm, d.max_threads_per_sm, d.registers_per_sm, d.shared_memory_per_sm_bytes, d.sm_count,
      d.sm_fill_exponent, d.sm_rate_exponent, static_cast<int>(d.spatial_rule));
  const std::string scheduling = fmt::format(
      "copy_engines_per_direction={}\ngraphics={}\ngraphics_slice_ns={}\nlaunch_queue_depth={}\nlone_slice={}\nname={}"
      "\nsharing={}\nswitch_cost_ns={}\n"
      "time_slice_ns={}\nturn_order={}\n",
      d.copy_engines_per_direction, static_cast<int>(d.graphics), to_ns(d.graphics_slice), d.launch_queue_depth,
      static_cast<int>(d.lone_slice), d.name, static_cast<int>(d.sharing), to_ns(d.switch_cost), to_ns(d.time_slice),
      static_cast<int>(d.turn_order));
  // Runs on devices that do not have it keep the ids that they had before it was known.
  const std::string state = d.switch_state > 0 ? fmt::format("switch_state={}\n", d.switch_state) : "";
  const std::string carveout = d.carveout_change == CarveoutChange::kWhenIdle ? "carveout_change=when_idle\n" : "";
  const std::string drain = d.one_wave_drain > 0 ? fmt::format("one_wave_drain={}\n", d.one_wave_drain) : "";
  // mps_gap_scale and mps_launch_stall under their former names, so that runs keep their ids.
  const std::string gaps = d.mps_gap_scale > 1 ? fmt::format("company_gap_scale={}\n", d.mps_gap_scale) : "";
  const std::string stall =
      d.mps_launch_stall > Duration{} ? fmt::format("company_stall_ns={}\n", to_ns(d.mps_launch_stall)) : "";
  return memory + multiprocessors + scheduling + state + carveout + drain + gaps + stall;
}

}  // namespace corun
