#include "experiments/advise/deploy_kubernetes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "traces/base/error.h"

namespace corun {

namespace {

bool is_equal_split(const SharingWay& way) { return way.mode == "mps_split" && way.parts.front() == way.parts.back(); }

/// A program's name as Kubernetes takes it: lower case, digits and dashes, a letter or digit at both ends.
std::string label_of(const AskedProgram& program) {
  std::string label = program.name;
  std::ranges::transform(label, label.begin(), [](unsigned char c) {
    return std::isalnum(c) != 0 ? static_cast<char>(std::tolower(c)) : '-';
  });
  const std::size_t begin = label.find_first_not_of('-');
  return begin == std::string::npos ? "program" : label.substr(begin, label.find_last_not_of('-') + 1 - begin);
}

constexpr const char* kContainer = "  containers:\n    - name: main\n      image: IMAGE\n      command: [COMMAND]\n";

/// `metadata` and `spec` are further lines of these.
std::string pod(const AskedProgram& program, const std::string& metadata, const std::string& spec) {
  return fmt::format("---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: {}\n{}spec:\n{}{}", label_of(program),
                     metadata, kContainer, spec);
}

}  // namespace

void refuse_deployment(const std::string& kind, const SharingWay& way, const std::string& help) {
  throw Error(ErrorKind::kInput, {}, fmt::format("`{}` cannot set up `{}`", kind, way.label), help);
}

std::string for_device_plugin(const AdviceQuestion& question, const SharingWay& way) {
  if (way.mode == "mig")
    refuse_deployment("kubernetes", way, "`--deploy mig` makes the instances; the plugin then finds them");
  if (way.mode != "time_sliced" && !is_equal_split(way))
    refuse_deployment("kubernetes", way,
                      "the device plugin's MPS gives all clients equal percentages; `--deploy mps` sets this up");
  return fmt::format(
      "# NVIDIA device plugin, v0.15 or later: each pod asks for one nvidia.com/gpu.\nversion: v1\nsharing:\n  {}:\n"
      "    resources:\n      - name: nvidia.com/gpu\n        replicas: {}\n",
      way.mode == "mps_split" ? "mps" : "timeSlicing", question.programs.size());
}

std::string for_hami(const AdviceQuestion& question, const SharingWay& way) {
  if (way.mode != "time_sliced")
    refuse_deployment("hami", way, "HAMi's programs have turns; `--modes time_sliced` advises on these alone");
  std::string text = "# HAMi, v2.4 or later.\n";
  for (const AskedProgram& program : question.programs)
    text += pod(program, "",
                fmt::format("      resources:\n        limits:\n          nvidia.com/gpu: 1\n"
                            "          nvidia.com/gpumem-percentage: {}\n",
                            100 / question.programs.size()));
  return text;
}

std::string for_kai(const AdviceQuestion& question, const SharingWay& way) {
  if (way.mode != "time_sliced" && way.mode != "mps")
    refuse_deployment("kai", way, "KAI shares in turns, or by the node's MPS daemon: `--modes time_sliced,mps`");
  const bool is_mps = way.mode == "mps";
  std::string text = "# KAI scheduler, v0.5 or later, installed with global.gpuSharing=true.\n";
  if (is_mps) text += "# Once on the node: nvidia-cuda-mps-control -d\n";
  for (const AskedProgram& program : question.programs)
    text += pod(program,
                fmt::format("  labels:\n    kai.scheduler/queue: default-queue\n  annotations:\n    gpu-fraction: "
                            "\"0.{:02}\"\n",
                            100 / question.programs.size()),
                fmt::format("{}  schedulerName: kai-scheduler\n",
                            is_mps ? "      volumeMounts:\n        - name: mps\n          mountPath: /tmp/nvidia-mps\n"
                                     "  volumes:\n    - name: mps\n      hostPath:\n        path: /tmp/nvidia-mps\n"
                                   : ""));
  return text;
}

std::string for_dra(const AdviceQuestion& question, const SharingWay& way) {
  if (way.mode == "mig" || (way.mode == "mps_split" && !is_equal_split(way)))
    refuse_deployment("dra", way,
                      "a claim shares in turns, by MPS, or by MPS with one percentage for all; `--deploy mps` and "
                      "`--deploy mig` set up others");
  std::string sharing = "              strategy: TimeSlicing\n";
  if (way.mode != "time_sliced") sharing = "              strategy: MPS\n";
  if (way.mode == "mps_split")
    sharing +=
        fmt::format("              mpsConfig:\n                defaultActiveThreadPercentage: {}\n", way.parts.front());
  std::string text = fmt::format(
      "# Kubernetes 1.34 or later with the NVIDIA DRA driver for GPUs (25.8 or later), feature gate {}.\n"
      "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata:\n  name: shared-gpu\nspec:\n  devices:\n"
      "    requests:\n      - name: gpu\n        exactly:\n          deviceClassName: gpu.nvidia.com\n    config:\n"
      "      - requests: [gpu]\n        opaque:\n          driver: gpu.nvidia.com\n          parameters:\n"
      "            apiVersion: resource.nvidia.com/v1beta1\n            kind: GpuConfig\n            sharing:\n{}",
      way.mode == "time_sliced" ? "TimeSlicingSettings" : "MPSSupport", sharing);
  for (const AskedProgram& program : question.programs)
    text += pod(program, "",
                "      resources:\n        claims:\n          - name: gpu\n  resourceClaims:\n    - name: gpu\n"
                "      resourceClaimName: shared-gpu\n");
  return text;
}

}  // namespace corun
