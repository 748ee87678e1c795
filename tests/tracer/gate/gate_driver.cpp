// The functions of GateDriver.
#include "tests/tracer/gate/gate_driver.h"

#include <atomic>

#include "tracer/gate/completion/stream_table.h"
#include "tracer/guest/part_file.h"

namespace corun::testing {

namespace {

std::atomic<GateDriver*> newest{nullptr};

}  // namespace

struct GateDriverCalls {
  using Result = GateDriver::Result;
  static GateDriver& its() { return *newest.load(); }

  static Result event_create(void** event, unsigned) {
    const std::lock_guard lock(its().mutex_);
    if (its().events == its().most_events) return GateDriver::kRefused;
    *event = reinterpret_cast<void*>(std::uintptr_t{0x1000} + ++its().events);
    return 0;
  }
  static Result event_record(void* event, void* stream) {
    const std::lock_guard lock(its().mutex_);
    if (its().record != 0) return its().record;
    its().passed_.erase(event);
    its().records_.push_back({event, stream, guest::monotonic_ns()});
    return 0;
  }
  static Result event_query(void* event) {
    const std::lock_guard lock(its().mutex_);
    if (its().query_error != 0) return its().query_error;
    return its().all_pass_ || its().passed_.contains(event) ? 0 : gate::Driver::kNotReady;
  }
  static Result event_elapsed(float* milliseconds, void*, void*) {
    const std::lock_guard lock(its().mutex_);
    *milliseconds = its().took_ms;
    return its().elapsed;
  }
  static Result is_capturing(void* stream, int* status) {
    const std::lock_guard lock(its().mutex_);
    *status = its().captured_.contains(stream) ? 1 : 0;
    return 0;
  }
  static Result set_context(void*) {
    const std::lock_guard lock(its().mutex_);
    return its().set_context;
  }
  static Result exchange_mode(int*) { return 0; }
  static Result graph_nodes(void* graph, void** nodes, std::size_t* count) {
    if (its().node_calls_until_refused-- == 0) return GateDriver::kRefused;
    std::vector<GateDriver::Node>& all = its().graphs[graph];
    if (nodes == nullptr) return *count = all.size(), 0;
    for (std::size_t i = 0; i < *count; ++i) nodes[i] = i < all.size() ? &all[i] : nullptr;
    return 0;
  }
  static Result node_type(void* node, int* type) {
    const auto& its_node = *static_cast<GateDriver::Node*>(node);
    *type = its_node.type;
    return its_node.type_result;
  }
  static Result kernel_node(void* node, gate::Driver::KernelNode* parameters) {
    const auto& its_node = *static_cast<GateDriver::Node*>(node);
    for (int i = 0; i < 3; ++i) parameters->grid[i] = its_node.grid[i];
    return its_node.kernel_result;
  }
  static Result get_context(void** context) { return *context = its().context, 0; }
  static Result primary_context_state(int, unsigned* flags, int* is_active) {
    *flags = 0, *is_active = its().is_active;
    return its().primary_state;
  }
  static Result current_device(int* device) {
    *device = its().device;
    return its().device_result;
  }
};

// A thread knows the stream that it found last, in a process that has one table of them.
GateDriver::GateDriver() {
  static auto& none = *new gate::StreamTable;
  none.learn(&newest, &newest);
  newest = this;
}
GateDriver::~GateDriver() { newest = nullptr; }

void* GateDriver::function(const std::string& name) const {
  using Calls = GateDriverCalls;
  static const std::map<std::string, void*> kAll = {
      {"cuEventCreate", reinterpret_cast<void*>(&Calls::event_create)},
      {"cuEventRecord", reinterpret_cast<void*>(&Calls::event_record)},
      {"cuEventQuery", reinterpret_cast<void*>(&Calls::event_query)},
      {"cuEventElapsedTime", reinterpret_cast<void*>(&Calls::event_elapsed)},
      {"cuStreamIsCapturing", reinterpret_cast<void*>(&Calls::is_capturing)},
      {"cuCtxSetCurrent", reinterpret_cast<void*>(&Calls::set_context)},
      {"cuThreadExchangeStreamCaptureMode", reinterpret_cast<void*>(&Calls::exchange_mode)},
      {"cuGraphGetNodes", reinterpret_cast<void*>(&Calls::graph_nodes)},
      {"cuGraphNodeGetType", reinterpret_cast<void*>(&Calls::node_type)},
      {"cuGraphKernelNodeGetParams_v2", reinterpret_cast<void*>(&Calls::kernel_node)},
      {"cuCtxGetCurrent", reinterpret_cast<void*>(&Calls::get_context)},
      {"cuDevicePrimaryCtxGetState", reinterpret_cast<void*>(&Calls::primary_context_state)},
      {"cuCtxGetDevice", reinterpret_cast<void*>(&Calls::current_device)}};
  const auto found = kAll.find(name);
  return found == kAll.end() || missing.contains(name) ? nullptr : found->second;
}

std::vector<GateDriver::Record> GateDriver::records() const {
  const std::lock_guard lock(mutex_);
  return records_;
}
void GateDriver::let_pass(void* event) {
  const std::lock_guard lock(mutex_);
  passed_.insert(event);
}
void GateDriver::let_all_pass() { set(&GateDriver::all_pass_, true); }
void GateDriver::let_none_pass() { set(&GateDriver::all_pass_, false); }
void GateDriver::capture(void* stream) {
  const std::lock_guard lock(mutex_);
  captured_.insert(stream);
}
void GateDriver::end_captures() {
  const std::lock_guard lock(mutex_);
  captured_.clear();
}

void* found_in_driver(const char* name) {
  const GateDriver* driver = newest;
  return driver == nullptr ? nullptr : driver->function(name);
}

}  // namespace corun::testing
