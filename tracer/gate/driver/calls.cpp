#include "tracer/gate/driver/calls.h"

#include <array>

#include "tracer/cuda/cupti_abi.h"

namespace corun::gate {
namespace {

struct LaunchConfig {
  std::uint32_t grid[3], block[3], shared_bytes;
  void* stream;
};

struct KernelExParameters {
  const LaunchConfig* config;
  const void* function;
};

struct GraphParameters {
  const void* graph;
  void* stream;
};

struct CopyParameters {
  std::uint64_t to, from, bytes;
  void* stream;
};

struct MemsetParameters {
  std::uint64_t to;
  std::uint32_t value;  // or a narrower one, and padding
  std::uint64_t count;
  void* stream;
};

constexpr auto kRoles = [] {
  std::array<CallRole, 1024> roles{};
  for (const CallNumber& call : kCallNumbers) roles[call.number] = call.role;
  return roles;
}();

bool is_kernel_with_shape(std::uint32_t function) {
  return function == cbid::cuLaunchKernel || function == cbid::cuLaunchKernel_ptsz ||
         function == cbid::cuLaunchCooperativeKernel || function == cbid::cuLaunchCooperativeKernel_ptsz;
}
bool is_kernel_with_config(std::uint32_t function) {
  return function == cbid::cuLaunchKernelEx || function == cbid::cuLaunchKernelEx_ptsz;
}

// Functions whose default stream is the thread's: their names end with _ptsz.
bool has_thread_stream(std::uint32_t function) {
  constexpr std::uint32_t kOnes[] = {cbid::cuLaunchKernel_ptsz, cbid::cuLaunchCooperativeKernel_ptsz,
                                     cbid::cuGraphLaunch_ptsz, cbid::cuLaunchKernelEx_ptsz};
  for (const std::uint32_t one : kOnes)
    if (function == one) return true;
  return function >= cbid::cuMemcpyAsync_ptsz && function <= cbid::cuMemsetD2D32Async_ptsz;
}

void* stream_of(std::uint32_t function, void* stream) {
  if (stream != nullptr) return stream;
  return reinterpret_cast<void*>(has_thread_stream(function) ? cupti::kStreamPerThread : cupti::kStreamLegacy);
}

template <class Shape>
void take_shape(LaunchCall& call, const Shape& shape) {
  call.kind = LaunchKind::kKernel;
  call.has_stream = true;
  call.blocks = std::uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
  call.threads = shape.block[0] * shape.block[1] * shape.block[2];
  call.shared_bytes = shape.shared_bytes;
  call.stream = shape.stream;
}

bool is_empty(const std::uint32_t (&size)[3]) { return size[0] == 0 || size[1] == 0 || size[2] == 0; }

template <class Shape>
bool has_nothing(const Shape& shape) {
  return is_empty(shape.grid) || is_empty(shape.block);
}

LaunchKind copy_kind(std::uint32_t function) {
  switch (function) {
    case cbid::cuMemcpyHtoD_v2:
    case cbid::cuMemcpyHtoDAsync_v2:
    case cbid::cuMemcpyHtoD_v2_ptds:
    case cbid::cuMemcpyHtoDAsync_v2_ptsz:
      return LaunchKind::kCopyToDevice;
    case cbid::cuMemcpyDtoH_v2:
    case cbid::cuMemcpyDtoHAsync_v2:
    case cbid::cuMemcpyDtoH_v2_ptds:
    case cbid::cuMemcpyDtoHAsync_v2_ptsz:
      return LaunchKind::kCopyFromDevice;
    default:
      return LaunchKind::kCopy;
  }
}

// Copies between two addresses; these return when they are complete.
bool is_blocking_copy(std::uint32_t function) {
  switch (function) {
    case cbid::cuMemcpyHtoD_v2:
    case cbid::cuMemcpyDtoH_v2:
    case cbid::cuMemcpyDtoD_v2:
    case cbid::cuMemcpy:
    case cbid::cuMemcpyHtoD_v2_ptds:
    case cbid::cuMemcpyDtoH_v2_ptds:
    case cbid::cuMemcpyDtoD_v2_ptds:
    case cbid::cuMemcpy_ptds:
      return true;
    default:
      return false;
  }
}

bool is_copy_in_stream(std::uint32_t function) {
  switch (function) {
    case cbid::cuMemcpyHtoDAsync_v2:
    case cbid::cuMemcpyDtoHAsync_v2:
    case cbid::cuMemcpyDtoDAsync_v2:
    case cbid::cuMemcpyAsync:
    case cbid::cuMemcpyAsync_ptsz:
    case cbid::cuMemcpyHtoDAsync_v2_ptsz:
    case cbid::cuMemcpyDtoHAsync_v2_ptsz:
    case cbid::cuMemcpyDtoDAsync_v2_ptsz:
      return true;
    default:
      return false;
  }
}

std::uint64_t memset_width(std::uint32_t function) {
  switch (function) {
    case cbid::cuMemsetD8Async:
    case cbid::cuMemsetD8Async_ptsz:
      return 1;
    case cbid::cuMemsetD16Async:
    case cbid::cuMemsetD16Async_ptsz:
      return 2;
    case cbid::cuMemsetD32Async:
    case cbid::cuMemsetD32Async_ptsz:
      return 4;
    default:
      return 0;
  }
}

}  // namespace

CallRole role_of(std::uint32_t function) { return function < kRoles.size() ? kRoles[function] : CallRole::kOther; }

const void* lay_out(std::uint32_t function, const std::uint64_t* words, KernelParameters& kernel) {
  if (!is_kernel_with_shape(function)) return words;
  const auto number = [words](int argument) { return static_cast<std::uint32_t>(words[argument]); };
  kernel = {reinterpret_cast<const void*>(words[0]),
            {number(1), number(2), number(3)},
            {number(4), number(5), number(6)},
            number(7),
            reinterpret_cast<void*>(words[8])};
  return &kernel;
}

const void* launched_kernel(std::uint32_t function, const void* parameters) {
  if (is_kernel_with_shape(function)) return static_cast<const KernelParameters*>(parameters)->function;
  if (is_kernel_with_config(function)) return static_cast<const KernelExParameters*>(parameters)->function;
  return nullptr;
}

bool is_refused(std::uint32_t function, const void* parameters) {
  if (is_kernel_with_shape(function)) {
    const auto& given = *static_cast<const KernelParameters*>(parameters);
    return given.function == nullptr || has_nothing(given);
  }
  if (is_kernel_with_config(function)) {
    const auto& given = *static_cast<const KernelExParameters*>(parameters);
    return given.function == nullptr || given.config == nullptr || has_nothing(*given.config);
  }
  const bool is_graph = function == cbid::cuGraphLaunch || function == cbid::cuGraphLaunch_ptsz;
  return is_graph && static_cast<const GraphParameters*>(parameters)->graph == nullptr;
}

LaunchCall read_launch(std::uint32_t function, const void* parameters) {
  LaunchCall call;
  if (is_kernel_with_shape(function)) {
    take_shape(call, *static_cast<const KernelParameters*>(parameters));
  } else if (is_kernel_with_config(function)) {
    take_shape(call, *static_cast<const KernelExParameters*>(parameters)->config);
  } else if (function == cbid::cuGraphLaunch || function == cbid::cuGraphLaunch_ptsz) {
    const auto& given = *static_cast<const GraphParameters*>(parameters);
    call.kind = LaunchKind::kGraph;
    call.has_stream = true;
    call.graph = given.graph;
    call.stream = given.stream;
  } else if (const bool has_stream = is_copy_in_stream(function); has_stream || is_blocking_copy(function)) {
    const auto& given = *static_cast<const CopyParameters*>(parameters);
    call.kind = copy_kind(function);
    call.bytes = given.bytes;
    call.has_stream = has_stream;
    if (call.has_stream) call.stream = given.stream;
  } else if (const std::uint64_t width = memset_width(function); width > 0) {
    const auto& given = *static_cast<const MemsetParameters*>(parameters);
    call.kind = LaunchKind::kMemset;
    call.bytes = given.count * width;
    call.has_stream = true;
    call.stream = given.stream;
  }
  if (call.has_stream) call.stream = stream_of(function, call.stream);
  return call;
}

const void* first_handle(const void* parameters) { return *static_cast<const void* const*>(parameters); }

int first_number(const void* parameters) { return *static_cast<const int*>(parameters); }

MadeGraph read_made_graph(const void* parameters) {
  const auto* given = static_cast<const MadeGraph*>(parameters);
  return *given;
}

}  // namespace corun::gate
