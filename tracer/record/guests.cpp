#include "tracer/record/guests.h"

#include <filesystem>

#include "traces/base/error.h"

namespace corun::record {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kManifest = "vulkan/implicit_layer.d/VkLayer_corun_trace.json";

/// `path` in the first of the folders that holds it, "" if none does.
std::string found_in(const std::vector<fs::path>& folders, std::string_view path) {
  std::error_code ignored;
  for (const fs::path& folder : folders)
    if (fs::is_regular_file(folder / path, ignored)) return (folder / path).lexically_normal().string();
  return "";
}

/// The dynamic loader ends a path of LD_PRELOAD at blanks and colons, and knows no way to quote them.
bool fits_into_a_list(const std::string& path) { return path.find_first_of(" :") == std::string::npos; }

/// Why the CUDA side cannot be put in place, "" if it can.
std::string obstacle_to_cuda(const Guests& guests, const Environment& environment) {
  if (guests.cuda.empty()) return "libcorun_cuda.so is neither in the folder of simtrace nor in ../lib/corun";
  const std::string other = environment.get("CUDA_INJECTION64_PATH");
  if (!other.empty() && other != guests.cuda) return "CUDA_INJECTION64_PATH is set: another profiler is in its place";
  return "";
}

std::string obstacle_to_gl(const Guests& guests) {
  if (guests.gl.empty()) return "libcorun_gl.so is neither in the folder of simtrace nor in ../lib/corun";
  if (!fits_into_a_list(guests.gl))
    return "the path of libcorun_gl.so has a blank or a colon, which LD_PRELOAD cannot hold";
  return "";
}

std::string obstacle_to_vulkan(const Guests& guests, const Environment& environment) {
  if (guests.vulkan_data.empty())
    return "the layer's manifest is neither in the folder of simtrace nor in ../lib/corun";
  if (guests.vulkan_data.find(':') != std::string::npos)
    return "the path of the layer has a colon, which a search path cannot hold";
  if (!environment.get("DISABLE_CORUN_TRACE").empty()) return "DISABLE_CORUN_TRACE is set";
  return "";
}

/// True if the guest goes in. An obstacle is a note, or an error where `on` was said.
bool goes_in(Use use, std::string_view option, const std::string& obstacle, std::vector<std::string>& notes) {
  if (use == Use::kOff) return false;
  if (obstacle.empty()) return true;
  if (use == Use::kOn) {
    throw Error(ErrorKind::kUnsupported, SourceLocation{}, fmt::format("{} on: {}", option, obstacle),
                "`simtrace doctor` reports what works here");
  }
  notes.push_back(fmt::format("{} is left out: {}", option.substr(2), obstacle));
  return false;
}

void append(Environment& environment, std::string_view name, const std::string& path) {
  const std::string before = environment.get(name);
  environment.set(name, before.empty() ? path : before + ":" + path);
}

void prepend_data_folder(Environment& environment, const std::string& folder) {
  const std::string before = environment.get("XDG_DATA_DIRS");
  environment.set("XDG_DATA_DIRS", folder + ":" + (before.empty() ? "/usr/local/share:/usr/share" : before));
}

}  // namespace

std::string executable_folder() { return fs::read_symlink("/proc/self/exe").parent_path().string(); }

Guests find_guests(const std::string& executable_folder) {
  const fs::path own = executable_folder;
  const std::vector<fs::path> folders = {own, own / "../lib/corun"};
  Guests guests;
  guests.cuda = found_in(folders, "libcorun_cuda.so");
  guests.gl = found_in(folders, "libcorun_gl.so");
  const std::string manifest = found_in(folders, "share/" + std::string(kManifest));
  if (!manifest.empty()) guests.vulkan_data = manifest.substr(0, manifest.size() - kManifest.size() - 1);
  return guests;
}

void place_guests(const Guests& guests, const RecordOptions& options, Environment& environment,
                  std::vector<std::string>& notes) {
  const bool cuda = goes_in(options.cuda, "--cuda", obstacle_to_cuda(guests, environment), notes);
  const bool gl = goes_in(options.gl, "--gl", obstacle_to_gl(guests), notes);
  const bool vulkan = goes_in(options.vulkan, "--vulkan", obstacle_to_vulkan(guests, environment), notes);
  if (cuda) environment.set("CUDA_INJECTION64_PATH", guests.cuda);
  if (cuda && environment.get("NVTX_INJECTION64_PATH").empty()) environment.set("NVTX_INJECTION64_PATH", guests.cuda);
  if (gl) append(environment, "LD_PRELOAD", guests.gl);
  if (vulkan) prepend_data_folder(environment, guests.vulkan_data);
  environment.set("CORUN_TRACE_CUDA", !cuda ? "off" : options.with_calls ? "calls" : "kernels");
  environment.set("CORUN_TRACE_GL", gl ? "on" : "off");
  environment.set("CORUN_TRACE_VULKAN", vulkan ? "1" : "off");
}

}  // namespace corun::record
