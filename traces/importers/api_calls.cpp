#include "traces/importers/api_calls.h"

#include <algorithm>
#include <array>

namespace corun {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

bool take_suffix(std::string_view& name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return false;
  name.remove_suffix(suffix.size());
  return true;
}

// `_v2`, `_v11060`.
bool take_version(std::string_view& name) {
  std::size_t end = name.size();
  while (end > 0 && is_digit(name[end - 1])) --end;
  if (end == name.size() || end < 2 || name.substr(end - 2, 2) != "_v") return false;
  name = name.substr(0, end - 2);
  return true;
}

std::string_view without_suffixes(std::string_view name) {
  while (take_version(name) || take_suffix(name, "_ptsz") || take_suffix(name, "_ptds") || take_suffix(name, "_spt")) {
  }
  return name;
}

// The function's name without the library's prefix; empty if it is of none of the three.
std::string_view verb_of(std::string_view name) {
  for (std::string_view prefix : {"cuda", "hip", "cu"}) {
    if (name.size() > prefix.size() && name.starts_with(prefix) && is_upper(name[prefix.size()])) {
      return name.substr(prefix.size());
    }
  }
  return {};
}

struct KnownCall {
  std::string_view verb;
  CallKind kind;
};

constexpr auto kKnownCalls = std::to_array<KnownCall>({
    {"Launch", CallKind::kLaunch},
    {"LaunchGrid", CallKind::kLaunch},
    {"LaunchGridAsync", CallKind::kLaunch},
    {"LaunchKernel", CallKind::kLaunch},
    {"LaunchKernelEx", CallKind::kLaunch},
    {"LaunchKernelExC", CallKind::kLaunch},
    {"DrvLaunchKernelEx", CallKind::kLaunch},
    {"LaunchByPtr", CallKind::kLaunch},
    {"LaunchCooperativeKernel", CallKind::kLaunch},
    {"LaunchCooperativeKernelMultiDevice", CallKind::kLaunch},
    {"ModuleLaunchKernel", CallKind::kLaunch},
    {"ModuleLaunchCooperativeKernel", CallKind::kLaunch},
    {"ExtLaunchKernel", CallKind::kLaunch},
    {"ExtModuleLaunchKernel", CallKind::kLaunch},
    {"HccModuleLaunchKernel", CallKind::kLaunch},
    {"GraphLaunch", CallKind::kGraphLaunch},
    {"DeviceSynchronize", CallKind::kSynchronizeDevice},
    {"ThreadSynchronize", CallKind::kSynchronizeDevice},
    {"CtxSynchronize", CallKind::kSynchronizeDevice},
    {"StreamSynchronize", CallKind::kSynchronizeStream},
    {"EventSynchronize", CallKind::kSynchronizeEvent},
    {"StreamWaitEvent", CallKind::kStreamWaitEvent},
    {"MemcpyWithStream", CallKind::kBlockingCopy},
});

}  // namespace

std::optional<CallKind> kind_of_api_call(std::string_view name) {
  const std::string_view verb = verb_of(without_suffixes(name));
  const auto known =
      std::find_if(kKnownCalls.begin(), kKnownCalls.end(), [&](const KnownCall& call) { return call.verb == verb; });
  if (known != kKnownCalls.end()) return known->kind;
  if (verb.starts_with("Memset")) return CallKind::kLaunch;
  if (verb.starts_with("Memcpy")) return verb.ends_with("Async") ? CallKind::kLaunch : CallKind::kBlockingCopy;
  return std::nullopt;
}

bool begins_graph_capture(std::string_view name) { return name.find("StreamBeginCapture") != std::string_view::npos; }

bool is_driver_call(std::string_view name) { return name.size() > 2 && name.starts_with("cu") && is_upper(name[2]); }

}  // namespace corun
