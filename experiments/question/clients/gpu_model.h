#pragma once

#include <string>
#include <string_view>

namespace corun {

/// The model in a device's name, without maker, series, memory and connector: "h100" of "NVIDIA H100 80GB HBM3",
/// "rtx2080ti" of "NVIDIA GeForce RTX 2080 Ti", "a100" of "a100_40gb". Empty where the name has no model.
std::string gpu_model(std::string_view name);

/// 80 of "NVIDIA H100 80GB HBM3"; 0 where the name has no size.
double gigabytes_in(std::string_view name);

}  // namespace corun
