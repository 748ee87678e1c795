#include "tracer/gate/driver/driver.h"

#include <type_traits>

#include "tracer/preload/scopes.h"

namespace corun::gate {

bool Driver::load() {
  const auto find = [&](auto& function, const char* name) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(preload::find_in_object("libcuda.so.1", name));
    return function != nullptr;
  };
  find(function_name, "cuFuncGetName");
  find(kernel_name, "cuKernelGetName");
  find(functions_in_module, "cuModuleGetFunctionCount");
  find(kernels_in_library, "cuLibraryGetKernelCount");
  find(primary_context_state, "cuDevicePrimaryCtxGetState");
  find(current_device, "cuCtxGetDevice");
  find(allocate_managed, "cuMemAllocManaged");
  return find(event_create, "cuEventCreate") && find(event_record, "cuEventRecord") &&
         find(event_query, "cuEventQuery") && find(event_elapsed, "cuEventElapsedTime") &&
         find(is_capturing, "cuStreamIsCapturing") && find(set_context, "cuCtxSetCurrent") &&
         find(exchange_capture_mode, "cuThreadExchangeStreamCaptureMode") && find(graph_nodes, "cuGraphGetNodes") &&
         find(node_type, "cuGraphNodeGetType") && find(kernel_node, "cuGraphKernelNodeGetParams_v2") &&
         find(get_context, "cuCtxGetCurrent");
}

}  // namespace corun::gate
