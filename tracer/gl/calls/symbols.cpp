#include "tracer/gl/calls/symbols.h"

#include <dlfcn.h>
#include <string.h>

#include <array>
#include <cstdint>

#include "tracer/gl/calls/call_sites.h"
#include "tracer/gl/calls/everywhere.h"
#include "tracer/gl/calls/hooked_calls.h"
#include "tracer/gl/calls/stubs.h"
#include "tracer/gl/calls/work_calls.h"
#include "tracer/guest/kept_errno.h"
#include "tracer/preload/dlsym_entry.h"
#include "tracer/preload/scopes.h"

namespace corun::gl {
namespace {

using namespace preload;

constexpr const char* kNames[] = {
#define CORUN_NAME(name, ...) #name,
    CORUN_GL_WORK_CALLS(CORUN_NAME) CORUN_GL_PASS_CALLS(CORUN_NAME) CORUN_GL_HOOKED_CALLS(CORUN_NAME)
#undef CORUN_NAME
};
#define CORUN_COUNT(name) +1
constexpr std::size_t kWorkCalls = 0 CORUN_GL_WORK_CALLS(CORUN_COUNT);
constexpr std::size_t kPassCalls = 0 CORUN_GL_PASS_CALLS(CORUN_COUNT);
#undef CORUN_COUNT
constexpr std::size_t kNameCount = sizeof(kNames) / sizeof(kNames[0]);
constexpr std::size_t kNone = kNameCount;

constexpr int compare(const char* left, const char* right) {
  for (; *left != '\0' && *left == *right; ++left) ++right;
  return static_cast<unsigned char>(*left) - static_cast<unsigned char>(*right);
}

constexpr std::array<std::uint16_t, kNameCount> sort_names() {
  std::array<std::uint16_t, kNameCount> order{};
  for (std::uint16_t name = 0; name < kNameCount; ++name) {
    std::size_t at = name;
    for (; at > 0 && compare(kNames[name], kNames[order[at - 1]]) < 0; --at) order[at] = order[at - 1];
    order[at] = name;
  }
  return order;
}
constexpr std::array<std::uint16_t, kNameCount> kSorted = sort_names();

std::size_t index_of(const char* name) {
  if (name == nullptr || (name[0] != 'g' && name[0] != 'e')) return kNone;
  std::size_t low = 0;
  for (std::size_t high = kNameCount; low < high;) {
    const std::size_t middle = (low + high) / 2;
    if (compare(kNames[kSorted[middle]], name) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low < kNameCount && strcmp(kNames[kSorted[low]], name) == 0 ? kSorted[low] : kNone;
}

std::size_t index_of_stub(const void* stub) {
  const auto byte = static_cast<std::size_t>(static_cast<const char*>(stub) - corun_gl_stubs);
  return byte / (kVariants * kStubBytes);
}

void* stub(std::size_t name, std::size_t variant) { return corun_gl_stubs + (name * kVariants + variant) * kStubBytes; }

// The function behind the export for all callers; null where the global scope has none (yet).
void* resolve_export(std::size_t name) {
  static bool is_resolved[kNameCount];
  void** slot = &corun_gl_slots[name * kVariants];
  if (__atomic_load_n(&is_resolved[name], __ATOMIC_ACQUIRE)) return *slot;
  void* found = find_in_global_scope(kNames[name]);
  if (found == nullptr) return nullptr;
  keep_loaded(found);
  __atomic_store_n(slot, found, __ATOMIC_RELAXED);
  __atomic_store_n(&is_resolved[name], true, __ATOMIC_RELEASE);
  return found;
}

// The function behind the export for a call that returns to `caller`. Where a function ends with the call, that is its
// own caller's address, in whose scope there may be nothing.
void* resolve_for_caller(std::size_t name, const void* caller) {
  static CallSites call_sites;
  void* found = call_sites.find(caller, name);
  if (found == nullptr) found = resolve_export(name);
  if (found != nullptr) return found;
  found = find_in_scope_of(caller, kNames[name]);
  if (found == nullptr) found = find_anywhere(kNames[name]);
  if (found == nullptr) return nullptr;
  keep_loaded(found);
  call_sites.add(caller, name, found);
  return found;
}

void* stub_for(std::size_t name, void* function) {
  if (resolve_export(name) == function) return stub(name, 0);
  for (std::size_t variant = 1; variant < kVariants; ++variant) {
    void** slot = &corun_gl_slots[name * kVariants + variant];
    void* holder = nullptr;
    const bool is_taken =
        __atomic_compare_exchange_n(slot, &holder, function, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    if (is_taken || holder == function) return stub(name, variant);
  }
  return function;
}

// Entered by a jump, so that the return address is that of the caller.
void* find_and_wrap(void* handle, const char* name) {
  const void* caller = __builtin_return_address(0);
  const guest::KeptErrno kept;
  const bool is_default = handle == RTLD_DEFAULT;
  void* found = wrap(name, true_dlsym()(handle, name), is_default ? caller : nullptr);
  if (found == nullptr && is_default) find_in_global_scope(name);  // in vain, for what dlerror() says
  if (found != nullptr) dlerror();
  return found;
}

}  // namespace

void* wrap(const char* name, void* found, const void* asked) {
  const std::size_t index = index_of(name);
  if (index == kNone || found == nullptr) return found;
  const guest::KeptErrno kept;
  if (!is_stub(found)) return stub_for(index, found);
  if (found != stub(index, 0) || resolve_export(index) != nullptr) return found;
  found = asked == nullptr ? nullptr : find_in_scope_of(asked, name);
  return found == nullptr ? nullptr : stub_for(index, found);
}

void* find_true_function(const char* name) {
  const std::size_t index = index_of(name);
  void* found = index == kNone ? find_in_global_scope(name) : resolve_export(index);
  for (std::size_t variant = 1; found == nullptr && index != kNone && variant < kVariants; ++variant) {
    found = __atomic_load_n(&corun_gl_slots[index * kVariants + variant], __ATOMIC_ACQUIRE);
  }
  return found != nullptr ? found : find_anywhere(name);
}

const char* name_of(const void* stub) { return kNames[index_of_stub(stub)]; }

bool ends_pass(const void* stub) { return index_of_stub(stub) - kWorkCalls < kPassCalls; }

void* find_beside(const void* function, const char* name) {
  void* found = find_in_scope_of(function, name);
  return found != nullptr ? found : find_true_function(name);
}

extern "C" void* corun_gl_resolve(std::size_t name, const void* caller) {
  const guest::KeptErrno kept;
  void* found = resolve_for_caller(name, caller);
  return found != nullptr ? found : reinterpret_cast<void*>(&corun_gl_nothing);
}

}  // namespace corun::gl

extern "C" void* corun_choose_dlsym(void* handle, const char* name) {
  using namespace corun;
  const guest::KeptErrno kept;
  const preload::DlSym truth = preload::true_dlsym();
  if (truth == nullptr) return reinterpret_cast<void*>(&gl::corun_gl_nothing);
  const bool is_ours = handle != RTLD_NEXT && gl::index_of(name) != gl::kNone;
  return reinterpret_cast<void*>(is_ours ? &gl::find_and_wrap : truth);
}
