#include "tracer/gate/handed_out.h"

#include <dlfcn.h>
#include <string.h>

#include "tracer/guest/kept_errno.h"
#include "tracer/preload/dlsym_entry.h"
#include "tracer/preload/scopes.h"

extern "C" {
#define CORUN_DECLARE(name, ...) int name();
CORUN_DRIVER_CALLS(CORUN_DECLARE)
#undef CORUN_DECLARE
}

namespace corun::gate {
namespace {

using namespace preload;

constexpr std::uint64_t kStreamOfThread = 2;  // flag of cuGetProcAddress()
constexpr int kFirstUnknown = 14000;          // a version of CUDA that may have new variants of functions

void* const kOurs[] = {
#define CORUN_OURS(name, ...) reinterpret_cast<void*>(&name),
    CORUN_DRIVER_CALLS(CORUN_OURS)
#undef CORUN_OURS
};
void* behind[kDriverCallCount];

// What follows the name by which cuGetProcAddress() is asked: _v2, _ptsz, _v2_ptds. One function has been renamed.
bool is_variant(const char* name, const char* symbol) {
  const std::size_t length = strlen(symbol);
  if (strcmp(symbol, "cuGraphInstantiate") == 0 && strcmp(name, "cuGraphInstantiateWithFlags") == 0) return true;
  if (strncmp(name, symbol, length) != 0) return false;
  const char* rest = name + length;
  return rest[0] == '\0' || strncmp(rest, "_v2", 3) == 0 || strncmp(rest, "_pt", 3) == 0;
}

bool is_of_thread(const char* name) { return strstr(name, "_pt") != nullptr; }

// Mostly it is the export itself.
std::size_t row_of_export(const char* symbol, void* found) {
  for (std::size_t row = 0; row < kDriverCallCount; ++row)
    if (is_variant(kDriverCalls[row].name, symbol) && find_in_scope_of(found, kDriverCalls[row].name) == found)
      return row;
  return kNoDriverCall;
}

// The newest variant that there was; that of threads' streams only where it is asked for.
std::size_t row_of_version(const char* symbol, int version, std::uint64_t flags) {
  if (version >= kFirstUnknown) return kNoDriverCall;
  const bool wants_thread = (flags & kStreamOfThread) != 0;
  std::size_t best = kNoDriverCall;
  const auto rank = [](std::size_t row) {
    return kDriverCalls[row].since + (is_of_thread(kDriverCalls[row].name) ? 1 : 0);
  };
  for (std::size_t row = 0; row < kDriverCallCount; ++row) {
    const DriverCall& call = kDriverCalls[row];
    if (!is_variant(call.name, symbol) || call.since > version || (is_of_thread(call.name) && !wants_thread)) continue;
    if (best == kNoDriverCall || rank(row) > rank(best)) best = row;
  }
  return best;
}

void* find_and_hand_out(void* handle, const char* name) {
  const void* caller = __builtin_return_address(0);
  const guest::KeptErrno kept;
  void* found = true_dlsym()(handle, name);
  if (found != nullptr && is_ours(found)) {
    found = find_in_global_scope(name);
    if (found == nullptr && handle == RTLD_DEFAULT) found = find_in_scope_of(caller, name);
    if (found == nullptr) return nullptr;
    dlerror();
  }
  return found == nullptr ? nullptr : hand_out(row_of(name), found);
}

void* find_nothing(void*, const char*) { return nullptr; }

}  // namespace

std::size_t row_of(const char* name) {
  if (name == nullptr || name[0] != 'c' || name[1] != 'u') return kNoDriverCall;
  for (std::size_t row = 0; row < kDriverCallCount; ++row)
    if (strcmp(kDriverCalls[row].name, name) == 0) return row;
  return kNoDriverCall;
}

void* find_behind(std::size_t row, const void* caller) {
  void* found = __atomic_load_n(&behind[row], __ATOMIC_ACQUIRE);
  if (found != nullptr) return found;
  const guest::KeptErrno kept;
  const char* name = kDriverCalls[row].name;
  found = find_in_global_scope(name);
  if (found == nullptr) found = find_in_scope_of(caller, name);
  if (found == nullptr) found = find_in_object("libcuda.so.1", name);
  if (found == nullptr) return nullptr;
  hand_out(row, found);
  return __atomic_load_n(&behind[row], __ATOMIC_ACQUIRE);
}

void* hand_out(std::size_t row, void* found) {
  if (row == kNoDriverCall || is_ours(found)) return found;
  void* holder = nullptr;
  const bool is_first =
      __atomic_compare_exchange_n(&behind[row], &holder, found, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  if (is_first) keep_loaded(found);
  return is_first || holder == found || are_neighbours(holder, found) ? kOurs[row] : found;
}

void* hand_out_for(const char* symbol, int version, std::uint64_t flags, void* found) {
  const guest::KeptErrno kept;
  const std::size_t row = row_of_export(symbol, found);
  return hand_out(row != kNoDriverCall ? row : row_of_version(symbol, version, flags), found);
}

}  // namespace corun::gate

extern "C" void* corun_choose_dlsym(void* handle, const char* name) {
  using namespace corun;
  const guest::KeptErrno kept;
  const preload::DlSym truth = preload::true_dlsym();
  if (truth == nullptr) return reinterpret_cast<void*>(&gate::find_nothing);
  const bool is_ours = handle != RTLD_NEXT && gate::row_of(name) != gate::kNoDriverCall;
  return reinterpret_cast<void*>(is_ours ? &gate::find_and_hand_out : truth);
}
