#include "tracer/record/checkup.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tracer/cuda/cupti_library.h"
#include "tracer/record/guests.h"
#include "tracer/record/host/nvml.h"
#include "traces/base/error.h"

namespace corun::record {

namespace {

namespace fs = std::filesystem;

/// Where the server of MPS puts its pipes unless told otherwise: the driver's own fixed place, which TMPDIR does not
/// change.
constexpr const char* kFolderOfMps = "/tmp";
constexpr const char* kPipesOfMps = "nvidia-mps";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool can_be_loaded(const char* library) {
  void* handle = ::dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return false;
  ::dlclose(handle);
  return true;
}

/// First line of a file, "" if there is none.
std::string first_line(const char* path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return line;
}

Fact fact_of_driver() {
  const Nvml nvml;
  std::string finding = nvml.driver_version();
  for (const Nvml::Gpu& gpu : nvml.gpus()) finding += ", " + gpu.name;
  if (!finding.empty()) return {"driver", FactState::kOk, finding};
  finding = first_line("/proc/driver/nvidia/version");
  if (!finding.empty()) return {"driver", FactState::kOk, finding};
  return {"driver", FactState::kMissing, "no NVIDIA driver here",
          "CUDA cannot be captured; frames of other drivers can"};
}

Fact fact_of_cupti() {
  cupti::Library library;
  const cupti::LoadResult result = cupti::load(variable("CORUN_TRACE_CUPTI").c_str(), library);
  const std::string help =
      "install the CUDA Toolkit 13 or its CUPTI, or name the file: CORUN_TRACE_CUPTI=PATH/libcupti.so.13";
  if (result == cupti::LoadResult::kMissing)
    return {"libcupti", FactState::kMissing, "libcupti.so.13 was not found", help};
  if (result == cupti::LoadResult::kWrongVersion)
    return {"libcupti", FactState::kMissing, fmt::format("version {} was found, 13 is needed", library.version), help};
  Dl_info place{};
  ::dladdr(reinterpret_cast<void*>(library.get_version), &place);
  const std::string path = place.dli_fname == nullptr ? "" : place.dli_fname;
  return {"libcupti", FactState::kOk,
          fmt::format("{}.{} in {}", library.version / 10000, library.version / 100 % 100, path)};
}

Fact fact_of_guest(const char* name, const std::string& path) {
  if (!path.empty()) return {name, FactState::kOk, path};
  return {name, FactState::kMissing, "neither in the folder of simtrace nor in ../lib/corun",
          "install simtrace with its libraries"};
}

Fact fact_of_library(const char* name, std::initializer_list<const char*> files) {
  for (const char* file : files)
    if (can_be_loaded(file)) return {name, FactState::kOk, file};
  return {name, FactState::kMissing, fmt::format("{} was not found", *files.begin())};
}

/// LD_PRELOAD, other profilers, MPS, containers: nothing is said where there is nothing to say.
void add_surroundings(std::vector<Fact>& facts) {
  if (const std::string preload = variable("LD_PRELOAD"); !preload.empty())
    facts.push_back(
        {"LD_PRELOAD", FactState::kLimited, "it is set: " + preload, "our library comes behind what is there"});
  if (const std::string other = variable("CUDA_INJECTION64_PATH"); !other.empty())
    facts.push_back({"profiler", FactState::kLimited, "CUDA_INJECTION64_PATH is set: " + other,
                     "unset it to capture CUDA: only one profiler is possible"});
  if (!variable("DISABLE_CORUN_TRACE").empty())
    facts.push_back({"layer off", FactState::kLimited, "DISABLE_CORUN_TRACE is set", "unset it to capture Vulkan"});
  const std::string pipe = variable("CUDA_MPS_PIPE_DIRECTORY");
  if (exists(pipe.empty() ? fs::path(kFolderOfMps) / kPipesOfMps : fs::path(pipe)))
    facts.push_back({"MPS", FactState::kLimited, "a Multi-Process Service seems to run",
                     "programs share the GPU through it: captures of several are marked co-run"});
  if (exists("/.dockerenv") || exists("/run/.containerenv"))
    facts.push_back(
        {"container", FactState::kLimited, "this is a container",
         "other programs on the GPU may not be noticed; the driver counts processes by the host's numbers"});
}

void add_counters(std::vector<Fact>& facts) {
  std::ifstream parameters("/proc/driver/nvidia/params");
  for (std::string line; std::getline(parameters, line);) {
    if (line != "RmProfilingAdminOnly: 1") continue;
    facts.push_back({"counters", FactState::kLimited, "hardware counters are for administrators only",
                     "nothing to do: captures need none (NVreg_RestrictProfilingToAdminUsers=0 would open them)"});
  }
}

Fact fact_of_folder() {
  if (::access(".", W_OK) == 0) return {"folder", FactState::kOk, "captures can be written here"};
  return {"folder", FactState::kLimited, "the current folder cannot be written to", "name another with -o"};
}

}  // namespace

Checkup check_up() {
  Checkup checkup;
  const auto add = [&](Fact fact) {
    checkup.facts.push_back(std::move(fact));
    return checkup.facts.back().state != FactState::kMissing;
  };
  const Guests guests = find_guests(executable_folder());
  const bool has_driver = add(fact_of_driver());
  const bool has_cupti = add(fact_of_cupti());
  checkup.has_cuda = add(fact_of_guest("for CUDA", guests.cuda)) && has_driver && has_cupti;
  const bool has_egl = add(fact_of_library("EGL", {"libEGL.so.1"}));
  const bool has_glx = add(fact_of_library("GLX", {"libGL.so.1", "libGLX.so.0"}));
  checkup.has_gl = add(fact_of_guest("for GL", guests.gl)) && (has_egl || has_glx);
  const bool has_vulkan = add(fact_of_library("Vulkan", {"libvulkan.so.1"}));
  checkup.has_vulkan = add(fact_of_guest("for Vulkan", guests.vulkan_data)) && has_vulkan;
  add_counters(checkup.facts);
  add_surroundings(checkup.facts);
  add(fact_of_folder());
  return checkup;
}

}  // namespace corun::record
