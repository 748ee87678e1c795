#include "tracer/gl/calls/everywhere.h"

#include <limits.h>
#include <link.h>
#include <string.h>

#include <cstddef>
#include <initializer_list>

#include "tracer/preload/scopes.h"

namespace corun::gl {
namespace {

using preload::find_in_object;

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

void* find_anywhere(const char* name) {
  for (const char* library : {"libGL.so.1", "libOpenGL.so.0", "libGLX.so.0", "libEGL.so.1", "libGLESv2.so.2"}) {
    void* found = find_in_object(library, name);
    if (found != nullptr) return found;
  }
  return find_in_all_objects(name);
}

}  // namespace corun::gl
