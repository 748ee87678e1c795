#include "experiments/commands/hardware/programs.h"

#include <filesystem>

#include "experiments/commands/experiment/interrupts.h"
#include "traces/base/error.h"

namespace corun {

namespace {

namespace fs = std::filesystem;

const std::string kData = "share";
const std::string kManifest = kData + "/vulkan/implicit_layer.d/VkLayer_corun_trace.json";

/// What was built or installed with this program; "" where there is none.
std::string found_beside_this_program(const std::string& name) {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& place : {folder / name, folder / ".." / "lib" / "corun" / name})
    if (fs::exists(place)) return fs::canonical(place).string();
  return {};
}

std::string existing(const std::string& path) {
  if (!fs::exists(path)) throw Error(ErrorKind::kInput, fmt::format("there is no library {}", path));
  return fs::canonical(path).string();
}

}  // namespace

ExecutionBackend backend_of_programs(const ProgramOptions& options) {
  live::LiveOptions live;
  live.gate_library = options.gate.empty() ? found_beside_this_program("libcorun_gate.so") : existing(options.gate);
  live.is_gated_by_cupti = options.is_gated_by_cupti;
  live.frame_library = options.frames.empty() ? found_beside_this_program("libcorun_gl.so") : existing(options.frames);
  if (const std::string manifest = found_beside_this_program(kManifest); !manifest.empty())
    live.layer_data = manifest.substr(0, manifest.size() - kManifest.size() + kData.size());
  if (live.gate_library.empty())
    throw Error(ErrorKind::kUnsupported, SourceLocation{}, "libcorun_gate.so is not in the folder of this program",
                "build it (CORUN_WITH_TRACER), or name it with `--gate`");
  live.most_in_flight = options.most_in_flight;
  live.most_queued = options.most_queued;
  live.managed_memory = options.managed_memory;
  live.every = options.every;
  live.control = options.control;
  live.metrics = options.metrics;
  live.stop = &interrupted();
  live.hurry = &interrupted_again();
  if (!options.captures.empty()) fs::create_directories(options.captures);
  return live_backend(live, options.captures);
}

}  // namespace corun
