#include "experiments/run/clients/capture_check.h"

#include "experiments/run/clients/captured_gpu.h"

namespace corun {

namespace {

std::string text_of(const CapturedDevice& device) {
  const std::string name = device.name.empty() ? "another GPU" : device.name;
  return device.sm_count == 0 ? name : fmt::format("{} ({} SMs)", name, device.sm_count);
}

void refuse(const ClientChoice& client, std::string message, std::string help, Diagnostics& refusals) {
  refusals.add(Error(ErrorKind::kUnsupported, client.trace_where,
                     fmt::format("client `{}`: {}", client.name, std::move(message)), std::move(help)),
               client.where);
}

void check_gpu(const Scenario& scenario, const ClientChoice& client, const CapturedDevice& captured,
               Diagnostics& refusals) {
  if (client.accepts(Doubt::kOtherGpu) || !is_another_gpu(captured, scenario.device)) return;
  const std::string likely = builtin_model_of(captured);
  refuse(client,
         fmt::format("captured on {}, and the device is {} ({} SMs): times of one GPU say little of another",
                     text_of(captured), scenario.device.name, scenario.device.sm_count),
         fmt::format("{}`accept: [other_gpu]` on the client replays its times as they are",
                     likely.empty() || likely == scenario.device.name
                         ? ""
                         : fmt::format("did you mean `device: {0}` (`--gpu {0}`)? ", likely)),
         refusals);
}

void check_collectives(const ClientChoice& client, double share, Diagnostics& refusals) {
  if (share == 0 || client.accepts(Doubt::kCollectives)) return;
  refuse(client,
         fmt::format("{:.1f} % of its device time is in kernels that wait for other GPUs (NCCL and the like), whose "
                     "length is that of the others' delay in the capture",
                     100 * share),
         "capture it on one GPU, or `accept: [collectives]` on the client to replay them with recorded lengths",
         refusals);
}

}  // namespace

void refuse_doubtful(const Scenario& scenario, const ClientChoice& choice, const ClientSpec& client,
                     Diagnostics& refusals) {
  check_gpu(scenario, choice, client.workload->captured_on, refusals);
  check_collectives(choice, client.workload->collective_share, refusals);
}

}  // namespace corun
