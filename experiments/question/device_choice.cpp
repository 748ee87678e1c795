#include "experiments/question/device_choice.h"

#include <algorithm>
#include <array>
#include <utility>

#include "experiments/question/clients/gpu_model.h"
#include "traces/base/units.h"

namespace corun {

namespace {

/// The digits at the end of "h100".
std::string_view number_of(std::string_view model) { return model.substr(model.find_last_not_of("0123456789") + 1); }

/// Whether both are names of parts, such as "a100" and "h100": then the one is no misspelling of the other.
bool are_two_parts(std::string_view one, std::string_view other) {
  const std::string_view a = number_of(one), b = number_of(other);
  return one != other && !a.empty() && a.size() == b.size();
}

/// Built-in models of the same part: "a100" has two.
std::vector<std::string> variants_of(const std::string& model) {
  std::vector<std::string> found;
  const std::string wanted = gpu_model(model);
  const double gigabytes = gigabytes_in(model);
  for (const BuiltinDevice& builtin : builtin_devices()) {
    const double its = gigabytes_in(builtin.model);
    const bool is_size = gigabytes == 0 || its == 0 || gigabytes == its;
    if (!wanted.empty() && gpu_model(builtin.model) == wanted && is_size)
      found.push_back(fmt::format("`{}`", builtin.model));
  }
  return found;
}

void refuse_model(const Node& node, const std::string& model, const std::vector<std::string_view>& names,
                  ScalarReader& reader) {
  const std::vector<std::string> variants = variants_of(model);
  const std::string nearest = nearest_name(model, names);
  const bool is_typo = !nearest.empty() && !are_two_parts(model, nearest);
  reader.diagnostics().add({"E0302",
                            node.where,
                            fmt::format("unknown device model `{}`", model),
                            !variants.empty() ? fmt::format("did you mean {}?", fmt::join(variants, " or "))
                            : is_typo         ? fmt::format("did you mean `{}`?", nearest)
                                              : "",
                            {fmt::format("known: {}", fmt::join(names, ", ")),
                             "another part needs a device file: `simcli calibrate` measures one (docs/calibrate.md)"},
                            ""});
}

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
  refuse_model(node, *model, names, reader);
}

void use_file(const Node& node, const std::string& folder, DeviceFile& device, ScalarReader& reader) {
  const auto path = reader.text(node);
  if (!path) return;
  const std::string file = in_folder(folder, *path);
  try {
    device = read_device_file(read_text_file(file), file);
  } catch (const InvalidInput& invalid) {
    for (const Diagnostic& diagnostic : invalid.diagnostics()) reader.diagnostics().add(diagnostic);
  } catch (const Error& error) {
    reader.wrong(node, fmt::format("device file `{}`: {}", file, error.message()));
  }
}

/// What differs from machine to machine with the same part, and is no law of it.
bool is_setting(std::string_view key) {
  constexpr std::array<std::string_view, 4> kSettings = {"sharing", "power_limit", "context_create", "context_memory"};
  return std::ranges::find(kSettings, key) != kSettings.end();
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
  for (const auto& field : device_fields()) {
    if (std::ranges::none_of(node.entries, [&](const Node::Entry& entry) { return field.has(entry.key); })) continue;
    device.facts.spreads.erase(std::string(field.key));
    if (!is_setting(field.key)) device.facts.has_measured_laws = false;
  }
}

void check_power(const Node& node, const DeviceSpec& device, ScalarReader& reader) {
  if (device.power_limit_w > 0 && device.power_limit_w <= device.idle_power_w)
    reader.wrong(node, fmt::format("the `power_limit` is {}W, and the device takes {}W without work",
                                   device.power_limit_w, device.idle_power_w));
  if (device.power_limit_w > 0 && device.full_clock_mhz == 0)
    reader.wrong(node, "a `power_limit` lowers the clock of the SMs, so the device needs its `full_clock`");
}

}  // namespace

void read_device(const Node& node, const std::string& folder, DeviceSpec& device, DeviceFacts& facts,
                 ScalarReader& reader) {
  DeviceFile found{device, {}, {}, facts};
  const bool is_model = node.is_scalar() && !node.is_absent();
  if (is_model) {
    use_model(node, found, reader);
  } else {
    use_mapping(node, folder, found, reader);
  }
  check_power(node, found.spec, reader);
  device = std::move(found.spec);
  facts = std::move(found.facts);
}

/// Of paging in blocks alone, so that devices that never page so keep their text.
std::string block_text(const DeviceSpec& d) {
  if (d.paging != Paging::kBlocks) return "";
  return fmt::format("eviction_ns={}\nfault_group_ns={}\npaging=blocks\n", to_ns(d.eviction), to_ns(d.fault_group));
}

/// Of devices whose clock depends on power.
std::string power_text(const DeviceSpec& d) {
  if (d.power_limit_w == 0) return "";
  return fmt::format("clock_energy_exponent={}\nclock_time_exponent={}\nfull_clock={}\nidle_power={}\npower_limit={}\n",
                     d.clock_energy_exponent, d.clock_time_exponent, d.full_clock_mhz, d.idle_power_w, d.power_limit_w);
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
  const std::string overhead =
      d.kernel_overhead > Duration{} ? fmt::format("kernel_overhead_ns={}\n", to_ns(d.kernel_overhead)) : "";
  // mps_gap_scale and mps_launch_stall under their former names, so that runs keep their ids.
  const std::string gaps = d.mps_gap_scale > 1 ? fmt::format("company_gap_scale={}\n", d.mps_gap_scale) : "";
  const std::string stall =
      d.mps_launch_stall > Duration{} ? fmt::format("company_stall_ns={}\n", to_ns(d.mps_launch_stall)) : "";
  return memory + multiprocessors + scheduling + state + carveout + drain + overhead + gaps + stall + block_text(d) +
         power_text(d);
}

}  // namespace corun
