#include "experiments/question/policy_names.h"

#include <fmt/format.h>

#include <cctype>

namespace corun {

namespace {

/// What other people call a policy, and what it is here.
struct OtherName {
  std::string_view name, policy, what;
};
constexpr OtherName kOtherNames[] = {
    {"mps", "mps_percentage", "MPS: kernels of all clients share the SMs"},
    {"cudamps", "mps_percentage", "MPS: kernels of all clients share the SMs"},
    {"spatial", "mps_percentage", "MPS: kernels of all clients share the SMs"},
    {"timeslicing", "passthrough", "the driver's own time slices"},
    {"timesliced", "passthrough", "the driver's own time slices"},
    {"timeslice", "passthrough", "the driver's own time slices"},
    {"timeslices", "passthrough", "the driver's own time slices"},
    {"timesharing", "passthrough", "the driver's own time slices"},
    {"temporal", "passthrough", "the driver's own time slices"},
    {"roundrobin", "passthrough", "the driver's own time slices"},
    {"default", "passthrough", "the driver alone"},
    {"driver", "passthrough", "the driver alone"},
    {"none", "passthrough", "the driver alone"},
    {"nopolicy", "passthrough", "the driver alone"},
    {"baseline", "passthrough", "the driver alone"},
    {"multiinstancegpu", "mig", "an instance for each client"},
    {"vcuda", "gaiagpu", "limits by vcuda-controller"},
    {"vgpu", "gaiagpu", "limits by vcuda-controller"},
    {"priority", "stream_priority", "priorities of streams"},
    {"priorities", "stream_priority", "priorities of streams"},
};

}  // namespace

std::string policy_meant_by(std::string_view name) {
  std::string plain;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const OtherName& other : kOtherNames)
    if (other.name == plain) return fmt::format("did you mean `{}` ({})?", other.policy, other.what);
  return "";
}

}  // namespace corun
