#pragma once

#include <optional>
#include <string_view>

#include "traces/timeline.h"

namespace corun {

/// What a CUDA runtime, CUDA driver or HIP function does to the device, by its name as profilers write it.
///
/// Version and stream suffixes are ignored: `cudaLaunchKernel_ptsz_v7000` is `cudaLaunchKernel`. Empty for functions
/// that neither submit work nor wait for it, and for names that are not known. A function's waits that depend on its
/// arguments are not seen here: `cudaMemcpyAsync` counts as a launch.
std::optional<CallKind> kind_of_api_call(std::string_view name);

/// Whether the call begins to capture a stream's launches into a graph: `cudaStreamBeginCapture`,
/// `hipStreamBeginCapture`, `cuStreamBeginCapture_v2`.
bool begins_graph_capture(std::string_view name);

/// True for the CUDA driver's functions (`cuLaunchKernel`), which the runtime's functions call in turn.
bool is_driver_call(std::string_view name);

}  // namespace corun
