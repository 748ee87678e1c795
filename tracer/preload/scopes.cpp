#include "tracer/preload/scopes.h"

#include <dlfcn.h>

#include <initializer_list>

namespace corun::preload {
namespace {

void* unless_ours(void* found) { return found != nullptr && is_ours(found) ? nullptr : found; }

const void* object_of(const void* address) {
  Dl_info object;
  return dladdr(address, &object) == 0 ? nullptr : object.dli_fbase;
}

}  // namespace

DlSym true_dlsym() {
  static void* found = nullptr;
  void* known = __atomic_load_n(&found, __ATOMIC_RELAXED);
  if (known != nullptr) return reinterpret_cast<DlSym>(known);
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5"}) {
    if (known == nullptr) known = dlvsym(RTLD_NEXT, "dlsym", version);
  }
  // One without a version, as a preloaded library behind us has, is not found by version.
  if (void* behind = known == nullptr ? nullptr : reinterpret_cast<DlSym>(known)(RTLD_NEXT, "dlsym");
      behind != nullptr && !is_ours(behind))
    known = behind;
  __atomic_store_n(&found, known, __ATOMIC_RELAXED);
  return reinterpret_cast<DlSym>(known);
}

void* find_in_global_scope(const char* name) {
  const DlSym find = true_dlsym();
  return find == nullptr ? nullptr : unless_ours(find(RTLD_NEXT, name));
}

void* find_in_scope_of(const void* address, const char* name) {
  Dl_info object;
  if (true_dlsym() == nullptr || dladdr(address, &object) == 0 || object.dli_fname == nullptr) return nullptr;
  return find_in_object(object.dli_fname, name);
}

void* find_in_object(const char* file, const char* name) {
  void* handle = true_dlsym() == nullptr ? nullptr : dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* found = unless_ours(true_dlsym()(handle, name));
  dlclose(handle);
  return found;
}

bool are_neighbours(const void* one, const void* other) {
  const void* object = object_of(one);
  return object != nullptr && object == object_of(other);
}

bool is_ours(const void* address) { return are_neighbours(address, reinterpret_cast<const void*>(&is_ours)); }

void keep_loaded(const void* function) {
  Dl_info object;
  if (dladdr(function, &object) == 0 || object.dli_fname == nullptr) return;
  void* handle = dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  if (handle != nullptr) dlclose(handle);
}

}  // namespace corun::preload
