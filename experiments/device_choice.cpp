#include "experiments/device_choice.h"

#include <filesystem>

#include "experiments/device_file.h"

namespace corun {

namespace {

void use_model(const Node& node, DeviceSpec& device, ScalarReader& reader) {
  const auto model = reader.text(node);
  if (!model) return;
  std::vector<std::string_view> names;
  for (const BuiltinDevice& builtin : builtin_devices()) {
    names.push_back(builtin.model);
    if (builtin.model != *model) continue;
    device = read_device_file(builtin.text, fmt::format("devices/{}.yaml", *model)).spec;
    return;
  }
  reader.unknown("device model", *model, node.where, names, "E0302");
}

void use_file(const Node& node, const std::string& folder, DeviceSpec& device, ScalarReader& reader) {
  const auto path = reader.text(node);
  if (!path) return;
  const std::string file = (std::filesystem::path(folder) / *path).lexically_normal().string();
  try {
    device = read_device_file(read_text_file(file), file).spec;
  } catch (const InvalidInput& invalid) {
    for (const Diagnostic& diagnostic : invalid.diagnostics()) reader.diagnostics().add(diagnostic);
  } catch (const Error& error) {
    reader.wrong(node, fmt::format("device file `{}`: {}", file, error.message()));
  }
}

}  // namespace

void read_device(const Node& node, const std::string& folder, DeviceSpec& device, ScalarReader& reader) {
  if (node.is_scalar() && !node.is_absent()) return use_model(node, device, reader);
  if (!reader.expect(node, Node::Kind::kMapping, "device: { model: h200, sharing: time_sliced }")) return;
  const Node *model = node.find("model"), *file = node.find("file");
  if (model != nullptr && file != nullptr) reader.wrong(*file, "a device has a `model` or a `file`, not both");
  if (model != nullptr) use_model(*model, device, reader);
  if (file != nullptr) use_file(*file, folder, device, reader);
  FieldTable<DeviceSpec> table = device_fields();
  for (const std::string_view key : {"model", "file"})
    table.push_back({key, "text", [](const Node&, DeviceSpec&, ScalarReader&) {}});
  read_fields(node, table, "key", device, reader);
}

std::string device_text(const DeviceSpec& d) {
  return fmt::format(
      "copy_engines_per_direction={}\ngraphics={}\nhandover_bandwidth={}\nlaunch_queue_depth={}\nmax_blocks_per_sm={}\n"
      "max_threads_per_sm={}\nmemory={}\nname={}\nregisters_per_sm={}\nshared_memory_per_sm={}\nsharing={}\nsm_count={}"
      "\n"
      "sm_rate_exponent={}\nspatial={}\nswitch_cost_ns={}\nthrash_bandwidth={}\ntime_slice_ns={}\n",
      d.copy_engines_per_direction, static_cast<int>(d.graphics), d.handover_bandwidth_bytes_per_s,
      d.launch_queue_depth, d.max_blocks_per_sm, d.max_threads_per_sm, d.memory_bytes, d.name, d.registers_per_sm,
      d.shared_memory_per_sm_bytes, static_cast<int>(d.sharing), d.sm_count, d.sm_rate_exponent,
      static_cast<int>(d.spatial_rule), to_ns(d.switch_cost), d.thrash_bandwidth_bytes_per_s, to_ns(d.time_slice));
}

}  // namespace corun
