#include <stdlib.h>

#include "tracer/cuda/cupti_library.h"
#include "tracer/gate/process_gate.h"
#include "tracer/guest/kept_errno.h"

/// Interception by CUPTI: its callbacks around the driver's functions, for a process whose driver loads this library
/// since CUDA_INJECTION64_PATH names it, and was not called through the preload.
namespace corun::gate {
namespace {

constinit cupti::Library library;
constinit cupti::Subscriber subscriber = nullptr;

void on_call(void*, std::uint32_t domain, std::uint32_t function, const void* told) {
  if (domain != cupti::kDomainDriver) return;
  const guest::KeptErrno kept;
  const auto& site = *static_cast<const cupti::CallbackSite*>(told);
  const Call call{function, site.parameters, site.symbol, site.context};
  if (site.site == cupti::kSiteEnter) {
    *site.shared = process_gate.is_on(Interception::kCupti) ? process_gate.before(call) : 0;
  } else if (*site.shared != 0 ||
             process_gate.is_on(Interception::kCupti)) {  // a launch ends although the gate was given up meanwhile
    process_gate.after(call, *site.shared, site.result != nullptr && *site.result != cupti::kSuccess);
  }
}

// CUPTI refuses numbers of functions that are newer than itself.
bool subscribe() {
  if (library.subscribe(&subscriber, &on_call, nullptr) != cupti::kSuccess) return false;
  bool is_enabled = false;
  for (const CallNumber& call : kCallNumbers)
    if (call.role != CallRole::kOther && !is_for_memory(call.role))
      is_enabled |= library.enable_callback(1, subscriber, cupti::kDomainDriver, call.number) == cupti::kSuccess;
  return is_enabled;
}

Obstacle take_calls() {
  const char* path = secure_getenv("CORUN_TRACE_CUPTI");
  if (cupti::load(path == nullptr ? "" : path, library) != cupti::LoadResult::kLoaded) return Obstacle::kNoCupti;
  return subscribe() ? Obstacle::kNone : Obstacle::kCuptiTaken;
}

void leave_calls() { library.unsubscribe(subscriber); }

}  // namespace
}  // namespace corun::gate

/// Called by the driver inside cuInit(). Always 1: no error here is the program's concern.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  const corun::guest::KeptErrno kept;
  if (!corun::gate::is_in_preload())
    corun::gate::start_process_gate(corun::gate::Interception::kCupti, &corun::gate::take_calls,
                                    &corun::gate::leave_calls);
  return 1;
}
