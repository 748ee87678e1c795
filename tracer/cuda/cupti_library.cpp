#include "tracer/cuda/cupti_library.h"

#include <dlfcn.h>

namespace corun::cupti {
namespace {

constexpr const char* kName = "libcupti.so.13";

template <class Function>
bool find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

bool find_needed(void* handle, Library& library) {
  return find(handle, "cuptiGetVersion", library.get_version) && find(handle, "cuptiSubscribe", library.subscribe) &&
         find(handle, "cuptiUnsubscribe", library.unsubscribe) &&
         find(handle, "cuptiEnableCallback", library.enable_callback) &&
         find(handle, "cuptiSetThreadIdType", library.set_thread_id_type) &&
         find(handle, "cuptiActivityRegisterTimestampCallback", library.register_timestamp) &&
         find(handle, "cuptiActivityRegisterCallbacks", library.register_buffers) &&
         find(handle, "cuptiActivityEnable", library.enable) && find(handle, "cuptiActivityDisable", library.disable) &&
         find(handle, "cuptiActivityFlushAll", library.flush_all) &&
         find(handle, "cuptiActivityGetNextRecord", library.get_next_record) &&
         find(handle, "cuptiActivityGetNumDroppedRecords", library.get_dropped);
}

void find_optional(void* handle, Library& library) {
  find(handle, "cuptiActivitySetAttribute", library.set_attribute);
  find(handle, "cuptiActivityEnableAndDump", library.enable_and_dump);
  find(handle, "cuptiActivityEnableDriverApi", library.enable_driver_function);
  find(handle, "cuptiGetStreamIdEx", library.get_stream_id);
}

// Remembers in `result` that a library of another version was there.
bool accept(void* handle, Library& library, LoadResult& result) {
  if (handle == nullptr) return false;
  Library found;
  std::uint32_t version = 0;
  if (find_needed(handle, found) && found.get_version(&version) == kSuccess) {
    found.version = library.version = version;
    if (version >= kFirstVersion && version <= kLastVersion) {
      find_optional(handle, found);
      library = found;
      result = LoadResult::kLoaded;
      return true;
    }
    result = LoadResult::kWrongVersion;
  }
  dlclose(handle);
  return false;
}

}  // namespace

LoadResult load(std::span<const Place> places, Library& library) {
  LoadResult result = LoadResult::kMissing;
  for (const Place& place : places) {
    const bool is_place = place.path[0] != '\0';
    const int mode = RTLD_NOW | RTLD_LOCAL | (place.is_loaded ? RTLD_NOLOAD : 0);
    if (is_place && accept(dlopen(place.path, mode), library, result)) break;
  }
  return result;
}

LoadResult load(const char* path, Library& library) {
  const Place places[] = {
      {path},
      {kName, true},
      {kName},
      {"/usr/local/cuda/lib64/libcupti.so.13"},
      {"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13"},
      {"/usr/local/cuda/lib/libcupti.so.13"},
      {"/usr/local/cuda/targets/x86_64-linux/lib/libcupti.so.13"},
      {"/usr/lib/x86_64-linux-gnu/libcupti.so.13"},
      {"/opt/cuda/extras/CUPTI/lib64/libcupti.so.13"},
  };
  return load(places, library);
}

}  // namespace corun::cupti
