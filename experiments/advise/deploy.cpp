#include "experiments/advise/deploy.h"

#include <fmt/format.h>

#include "experiments/advise/deploy_kubernetes.h"

namespace corun {

namespace {

std::string for_mps(const AdviceQuestion& question, const SharingWay& way) {
  if (way.mode != "mps" && way.mode != "mps_split")
    refuse_deployment("mps", way, "`--modes mps,mps_split` advises on MPS alone");
  std::string text = "# Once on the machine, as the user of the programs:\nnvidia-cuda-mps-control -d\n";
  for (std::size_t i = 0; i < question.programs.size(); ++i) {
    const std::string limit =
        way.parts.empty() ? "" : fmt::format("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE={} ", way.parts[i]);
    text += fmt::format("{}COMMAND    # {}\n", limit, question.programs[i].name);
  }
  return text + "# In the end:\necho quit | nvidia-cuda-mps-control\n";
}

std::string for_mig(const AdviceQuestion& question, const SharingWay& way) {
  if (way.mode != "mig") refuse_deployment("mig", way, "`--modes mig` advises on instances alone");
  std::string text = "# As root; all programs on the GPU must have ended.\nnvidia-smi -i 0 -mig 1\n";
  for (std::size_t i = 0; i < question.programs.size(); ++i)
    text += fmt::format(
        "nvidia-smi mig -i 0 -cgi $(nvidia-smi mig -i 0 -lgip | grep -o '{}g\\.[0-9]*gb' | head -1) -C    # {}\n",
        way.parts[i], question.programs[i].name);
  return text + "nvidia-smi -L    # the UUID of each instance, for CUDA_VISIBLE_DEVICES\n";
}

std::string for_live(const AdviceQuestion& question, const SharingWay& way) {
  if (way.mode != "time_sliced" && way.mode != "mps")
    refuse_deployment("live", way,
                      "a live run shares in turns, or under the MPS daemon that is there: `--modes time_sliced,mps`");
  std::string text = fmt::format(
      "# {}: put each program's command line in the place of COMMAND, then `simcli live FILE`.\nversion: 1\nname: "
      "shared\n"
      "device: {}\nhorizon: 60s\npolicies: [passthrough]\nclients:\n",
      way.mode == "mps" ? "Under an MPS daemon that runs already" : "In turns", question.gpu);
  for (const AskedProgram& program : question.programs)
    text += fmt::format("  - {}\n", client_text(program, {{"command", "[COMMAND]"}}));
  return text;
}

}  // namespace

const std::vector<std::string>& deploy_kinds() {
  static const std::vector<std::string> kinds = {"mps", "kubernetes", "hami", "kai", "dra", "mig", "live"};
  return kinds;
}

std::string deployment(const std::string& kind, const AdviceQuestion& question, const SharingWay& way) {
  if (kind == "mps") return for_mps(question, way);
  if (kind == "kubernetes") return for_device_plugin(question, way);
  if (kind == "hami") return for_hami(question, way);
  if (kind == "kai") return for_kai(question, way);
  if (kind == "dra") return for_dra(question, way);
  return kind == "mig" ? for_mig(question, way) : for_live(question, way);
}

}  // namespace corun
