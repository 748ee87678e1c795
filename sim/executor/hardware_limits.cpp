#include "sim/executor/hardware_limits.h"

#include <algorithm>

#include "traces/base/error.h"

namespace corun::executor {

namespace {

/// Whether some client's frames are not rendered but done by kernels.
bool has_kernels_for_frames(const RunInput& input, const ExecuteOptions& options) {
  return std::ranges::any_of(input.clients, [&](const ClientSpec& spec) {
    return spec.workload->job_kind == JobKind::kFrame && !(options.renders && only_renders(*spec.workload));
  });
}

std::string_view reason_against(Action::Kind kind) {
  switch (kind) {
    case Action::Kind::kSetSlice:
      return "the driver has no call that sets a context's time slice";
    case Action::Kind::kSetSmShare:
      return "green contexts divide the SMs of one process, and clients are processes of their own";
    case Action::Kind::kSetInstance:
      return "instances are made by changing the device's mode, which a run does not do";
    default:
      return "it is no setting of a context";
  }
}

}  // namespace

bool only_renders(const Workload& workload) {
  return !workload.ops.empty() && std::ranges::all_of(workload.ops, [](const WorkOp& op) {
    return op.kind == OpKind::kRender && op.stream.value == 0;
  });
}

void refuse_what_hardware_lacks(const RunInput& input) {
  if (input.tells_exact_durations)
    throw Error(ErrorKind::kUnsupported,
                fmt::format("policy '{}' needs an oracle: hardware has none", input.policy_name));
}

bool is_default(const Action& action) {
  switch (action.kind) {
    case Action::Kind::kSetSlice:
      return action.duration == Duration{0};
    case Action::Kind::kSetSmShare:
    case Action::Kind::kSetInstance:
      return action.fraction == 0.0;
    default:
      return false;
  }
}

void refuse_setting(const RunInput& input, const Action& action) {
  throw Error(
      ErrorKind::kUnsupported,
      fmt::format("policy '{}': {} of client '{}' cannot be carried out on hardware: {}", input.policy_name,
                  to_string(action.kind), input.clients[action.client.value].name, reason_against(action.kind)));
}

std::vector<std::string> differences(const RunInput& input, const ExecuteOptions& options, MpsState mps) {
  std::vector<std::string> notes;
  if (has_kernels_for_frames(input, options))
    notes.emplace_back("frames are rendered by kernels that fill the device: a GPU arbitrates graphics otherwise");
  const Sharing sharing = input.device.sharing;
  if (sharing == Sharing::kConcurrent && mps == MpsState::kNo)
    notes.emplace_back(
        "the device is shared at once in simulation; here contexts take turns, as no MPS daemon was "
        "asked for (--mps) nor found");
  if (sharing == Sharing::kConcurrent && mps == MpsState::kUnknown)
    notes.emplace_back(
        "the device is shared at once in simulation; whether that is so here is not known: the driver "
        "does not tell of MPS");
  if (sharing == Sharing::kTimeSliced && mps == MpsState::kYes)
    notes.emplace_back("contexts take turns in simulation; here they share the device at once, under MPS");
  if (sharing == Sharing::kExclusive)
    notes.emplace_back("operations run one at a time in simulation; here several may, unless the policy prevents it");
  return notes;
}

}  // namespace corun::executor
