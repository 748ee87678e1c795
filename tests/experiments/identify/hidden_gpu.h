#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/identify/identify.h"
#include "experiments/question/device_file.h"
#include "sim/engine/random.h"

namespace corun::identification::testing {

inline DeviceSpec builtin(std::string_view model) {
  for (const BuiltinDevice& device : builtin_devices())
    if (device.model == model) return read_device_file(device.text, std::string(model)).spec;
  throw_input({}, "no device {}", model);
}

/// What is measured on a GPU that is the simulation of `device`, with 1 % of noise on every figure.
inline Observe hidden_gpu(DeviceSpec device, bool has_trailing_visits = false) {
  return [device = std::move(device), has_trailing_visits](const Trial& trial, std::uint64_t seed) {
    Observation figures = observe(simulation_backend(), device, trial,
                                  has_trailing_visits ? with_trailing_visits(trial.clients) : trial.clients, seed);
    RandomStream random(seed, trial.name + "/noise");
    for (Figure& figure : figures) figure.mean *= 1 + 0.01 * random.normal();
    return figures;
  };
}

inline const FoundValue* value_of(const Identification& found, std::string_view key) {
  for (const FoundValue& value : found.values)
    if (value.key == key) return &value;
  return nullptr;
}

}  // namespace corun::identification::testing
