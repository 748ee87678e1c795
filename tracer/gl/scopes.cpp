#include "tracer/gl/scopes.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <string.h>

#include <initializer_list>

#include "tracer/gl/stubs.h"

namespace corun::gl {
namespace {

void* unless_stub(void* found) { return is_stub(found) ? nullptr : found; }

// In the object of this file name and its libraries, if it is loaded.
void* find_in_object(const char* file, const char* name) {
  void* handle = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* found = unless_stub(true_dlsym()(handle, name));
  dlclose(handle);
  return found;
}

/// File name of the object that was loaded as number `left`. A copy: nothing may be opened while the list is held.
struct ObjectName {
  int left;
  char name[PATH_MAX];
};

int take_name(dl_phdr_info* object, std::size_t, void* argument) {
  auto* wanted = static_cast<ObjectName*>(argument);
  if (wanted->left-- > 0) return 0;
  strncpy(wanted->name, object->dlpi_name, sizeof(wanted->name) - 1);
  return 1;
}

void* find_in_all_objects(const char* name) {
  ObjectName object;
  object.name[sizeof(object.name) - 1] = '\0';
  for (int i = 0;; ++i) {
    object.left = i;
    if (dl_iterate_phdr(&take_name, &object) == 0) return nullptr;
    void* found = object.name[0] == '\0' ? nullptr : find_in_object(object.name, name);
    if (found != nullptr) return found;
  }
}

}  // namespace

DlSym true_dlsym() {
  static void* found = nullptr;
  void* known = __atomic_load_n(&found, __ATOMIC_RELAXED);
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5"}) {
    if (known == nullptr) known = dlvsym(RTLD_NEXT, "dlsym", version);
  }
  __atomic_store_n(&found, known, __ATOMIC_RELAXED);
  return reinterpret_cast<DlSym>(known);
}

void* find_in_global_scope(const char* name) {
  const DlSym find = true_dlsym();
  return find == nullptr ? nullptr : unless_stub(find(RTLD_NEXT, name));
}

void* find_in_scope_of(const void* address, const char* name) {
  Dl_info object;
  if (true_dlsym() == nullptr || dladdr(address, &object) == 0 || object.dli_fname == nullptr) return nullptr;
  return find_in_object(object.dli_fname, name);
}

void* find_anywhere(const char* name) {
  if (true_dlsym() == nullptr) return nullptr;
  for (const char* library : {"libGL.so.1", "libOpenGL.so.0", "libGLX.so.0", "libEGL.so.1", "libGLESv2.so.2"}) {
    void* found = find_in_object(library, name);
    if (found != nullptr) return found;
  }
  return find_in_all_objects(name);
}

void keep_loaded(const void* function) {
  Dl_info object;
  if (dladdr(function, &object) == 0 || object.dli_fname == nullptr) return;
  void* handle = dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  if (handle != nullptr) dlclose(handle);
}

}  // namespace corun::gl
