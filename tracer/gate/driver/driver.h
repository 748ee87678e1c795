#pragma once

#include <cstddef>
#include <cstdint>

namespace corun::gate {

/// The functions of the CUDA driver that a gate calls itself, in the library that the process has loaded.
struct Driver {
  using Result = int;
  static constexpr Result kSuccess = 0;
  static constexpr Result kOutOfMemory = 2;
  static constexpr Result kNotReady = 600;
  static constexpr unsigned kForAllStreams = 1;  ///< of managed memory

  struct KernelNode {
    void* function;
    std::uint32_t grid[3], block[3], shared_bytes;
    void** parameters;
    void** extra;
    void* kernel;
    void* context;
  };
  static constexpr int kNodeIsKernel = 0;

  Result (*event_create)(void** event, unsigned flags) = nullptr;
  Result (*event_record)(void* event, void* stream) = nullptr;
  Result (*event_query)(void* event) = nullptr;
  Result (*event_elapsed)(float* milliseconds, void* begin, void* end) = nullptr;
  Result (*is_capturing)(void* stream, int* status) = nullptr;
  Result (*set_context)(void* context) = nullptr;
  Result (*exchange_capture_mode)(int* mode) = nullptr;
  Result (*graph_nodes)(void* graph, void** nodes, std::size_t* count) = nullptr;
  Result (*node_type)(void* node, int* type) = nullptr;
  Result (*kernel_node)(void* node, KernelNode* parameters) = nullptr;
  Result (*get_context)(void** context) = nullptr;

  /// Since CUDA 12.3: may be null.
  Result (*function_name)(const char** name, void* function) = nullptr;
  Result (*kernel_name)(const char** name, void* kernel) = nullptr;
  /// Since CUDA 12.4: may be null.
  Result (*functions_in_module)(unsigned* count, void* module) = nullptr;
  Result (*kernels_in_library)(unsigned* count, void* library) = nullptr;

  Result (*primary_context_state)(int device, unsigned* flags, int* is_active) = nullptr;           ///< may be null
  Result (*current_device)(int* device) = nullptr;                                                  ///< may be null
  Result (*allocate_managed)(std::uint64_t* address, std::size_t bytes, unsigned flags) = nullptr;  ///< may be null

  /// False where one is missing.
  bool load();
};

}  // namespace corun::gate
