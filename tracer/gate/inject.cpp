#include <pthread.h>
#include <stdlib.h>

#include <atomic>

#include "tracer/gate/gate.h"
#include "tracer/guest/kept_errno.h"

/// The library that the CUDA driver loads into a client of a live run, since CUDA_INJECTION64_PATH names it.
namespace corun::gate {
namespace {

constinit Gate gate;
constinit std::atomic<bool> was_here{false};

void on_call(void*, std::uint32_t domain, std::uint32_t function, const void* site) {
  if (domain != cupti::kDomainDriver) return;
  const guest::KeptErrno kept;
  gate.on_call(function, *static_cast<const cupti::CallbackSite*>(site));
}

void finish() { gate.finish(); }
void abandon() { gate.abandon(); }

void start() {
  const guest::KeptErrno kept;
  pthread_atfork(nullptr, nullptr, &abandon);
  gate.start(&on_call);
  atexit(&finish);
}

}  // namespace
}  // namespace corun::gate

/// Called by the driver inside cuInit(). Always 1: whatever went wrong is not the program's concern.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  if (!corun::gate::was_here.exchange(true)) corun::gate::start();
  return 1;
}
