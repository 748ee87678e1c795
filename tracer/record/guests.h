#pragma once

#include <string>
#include <vector>

#include "tracer/record/host/environment.h"
#include "tracer/record/options.h"

namespace corun::record {

/// Where the libraries lie that are put into programs; "" for one that is not there.
struct Guests {
  std::string cuda;         ///< file, for CUDA_INJECTION64_PATH
  std::string gl;           ///< file, for LD_PRELOAD
  std::string vulkan_data;  ///< folder that holds vulkan/implicit_layer.d with the layer's manifest
};

/// Folder of this program's own executable.
std::string executable_folder();

/// Looks beside the executable and in ../lib/corun from there.
Guests find_guests(const std::string& executable_folder);

/// Puts the guests that are asked for into an environment. What stood there before is kept: LD_PRELOAD and
/// XDG_DATA_DIRS are added to. A guest that cannot be put in place is left out with a sentence in `notes`, or is an
/// Error(kUnsupported) where it was asked for with `on`.
void place_guests(const Guests& guests, const RecordOptions& options, Environment& environment,
                  std::vector<std::string>& notes);

}  // namespace corun::record
