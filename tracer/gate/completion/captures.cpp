#include "tracer/gate/completion/captures.h"

#include <cstdint>

#include "tracer/cuda/cupti_abi.h"

namespace corun::gate {

void Captures::ended() {
  int before = count_.load();
  while (before > 0 && !count_.compare_exchange_weak(before, before - 1)) {
  }
}

bool Captures::includes(void* stream) const {
  if (!has_any()) return false;
  int status = 0;
  return driver_.is_capturing(stream, &status) == Driver::kSuccess && status != 0;
}

// An event in the legacy stream spoils a capture of any stream.
bool Captures::may_record(void* stream) const {
  const bool is_legacy = reinterpret_cast<std::uintptr_t>(stream) == cupti::kStreamLegacy;
  return !has_any() || !(is_legacy || includes(stream));
}

}  // namespace corun::gate
