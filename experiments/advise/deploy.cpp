#include "experiments/advise/deploy.h"

#include <fmt/format.h>

#include "traces/base/error.h"

namespace corun {

namespace {

[[noreturn]] void refuse(const std::string& kind, const SharingWay& way, const std::string& help) {
  throw Error(ErrorKind::kInput, {}, fmt::format("`{}` cannot set up `{}`", kind, way.label), help);
}

std::string for_mps(const AdviceQuestion& question, const SharingWay& way) {
  if (way.mode != "mps" && way.mode != "mps_split") refuse("mps", way, "`--modes mps,mps_split` advises on MPS alone");
  std::string text = "# Once on the machine, as the user of the programs:\nnvidia-cuda-mps-control -d\n";
  for (std::size_t i = 0; i < question.programs.size(); ++i) {
    const std::string limit =
        way.parts.empty() ? "" : fmt::format("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE={} ", way.parts[i]);
    text += fmt::format("{}COMMAND    # {}\n", limit, question.programs[i].name);
  }
  return text + "# In the end:\necho quit | nvidia-cuda-mps-control\n";
}

/// Under MPS the plugin gives each client an equal percentage of the SMs.
std::string for_kubernetes(const AdviceQuestion& question, const SharingWay& way) {
  const bool is_equal = way.mode == "mps_split" && way.parts.front() == way.parts.back();
  if (way.mode == "mig") refuse("kubernetes", way, "`--deploy mig` makes the instances; the plugin then finds them");
  if (way.mode != "time_sliced" && !is_equal)
    refuse("kubernetes", way,
           "the device plugin's MPS gives all clients equal percentages; `--deploy mps` sets this up");
  return fmt::format(
      "# NVIDIA device plugin, v0.15 or later: each pod asks for one nvidia.com/gpu.\nversion: v1\nsharing:\n  {}:\n"
      "    resources:\n      - name: nvidia.com/gpu\n        replicas: {}\n",
      is_equal ? "mps" : "timeSlicing", question.programs.size());
}

std::string for_mig(const AdviceQuestion& question, const SharingWay& way) {
  if (way.mode != "mig") refuse("mig", way, "`--modes mig` advises on instances alone");
  std::string text = "# As root; all programs on the GPU must have ended.\nnvidia-smi -i 0 -mig 1\n";
  for (std::size_t i = 0; i < question.programs.size(); ++i)
    text += fmt::format(
        "nvidia-smi mig -i 0 -cgi $(nvidia-smi mig -i 0 -lgip | grep -o '{}g\\.[0-9]*gb' | head -1) -C    # {}\n",
        way.parts[i], question.programs[i].name);
  return text + "nvidia-smi -L    # the UUID of each instance, for CUDA_VISIBLE_DEVICES\n";
}

std::string for_live(const AdviceQuestion& question, const SharingWay& way) {
  if (way.mode != "time_sliced" && way.mode != "mps")
    refuse("live", way, "a live run shares in turns, or under the MPS daemon that is there: `--modes time_sliced,mps`");
  std::string text = fmt::format(
      "# {}: put each program's command line in the place of COMMAND, then `simcli live FILE`.\nversion: 1\nname: "
      "shared\n"
      "device: {}\nhorizon: 60s\npolicies: [passthrough]\nclients:\n",
      way.mode == "mps" ? "Under an MPS daemon that runs already" : "In turns", question.gpu);
  for (const AdviceQuestion::Program& program : question.programs)
    text += fmt::format("  - {{ name: {}, trace: '{}', command: [COMMAND]{} }}\n", program.name, program.trace,
                        program.keys);
  return text;
}

}  // namespace

const std::vector<std::string>& deploy_kinds() {
  static const std::vector<std::string> kinds = {"mps", "kubernetes", "mig", "live"};
  return kinds;
}

std::string deployment(const std::string& kind, const AdviceQuestion& question, const SharingWay& way) {
  if (kind == "mps") return for_mps(question, way);
  if (kind == "kubernetes") return for_kubernetes(question, way);
  return kind == "mig" ? for_mig(question, way) : for_live(question, way);
}

}  // namespace corun
