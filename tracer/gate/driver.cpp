#include "tracer/gate/driver.h"

#include <dlfcn.h>

#include <type_traits>

namespace corun::gate {

bool Driver::load() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (library == nullptr) return false;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    return function != nullptr;
  };
  return find(event_create, "cuEventCreate") && find(event_record, "cuEventRecord") &&
         find(event_query, "cuEventQuery") && find(event_elapsed, "cuEventElapsedTime") &&
         find(is_capturing, "cuStreamIsCapturing") && find(set_context, "cuCtxSetCurrent") &&
         find(exchange_capture_mode, "cuThreadExchangeStreamCaptureMode") && find(graph_nodes, "cuGraphGetNodes") &&
         find(node_type, "cuGraphNodeGetType") && find(kernel_node, "cuGraphKernelNodeGetParams_v2");
}

}  // namespace corun::gate
