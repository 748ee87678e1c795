#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "traces/timeline.h"

namespace corun {

/// One record of a Chrome trace's `traceEvents`, as far as a GPU timeline needs it.
struct KinetoEvent {
  enum class Category {
    kOther,        ///< nothing below is filled
    kKernel,       ///< `kernel`, 2021 `Kernel`
    kCopy,         ///< `gpu_memcpy`, `Memcpy`
    kMemset,       ///< `gpu_memset`, `Memset`
    kRuntimeCall,  ///< `cuda_runtime`, `Runtime`, ...
    kDriverCall,   ///< `cuda_driver`, `Driver`, ...
    kWait,         ///< `cuda_sync`: what a waiting call waited for
    kMark,         ///< `user_annotation`; `ProfilerStep#N` under any host category
    kMemory,       ///< `[memory]`: what PyTorch's allocator holds at an instant
  };
  Category category = Category::kOther;
  std::string_view name;              ///< unescaped; valid until the next read
  std::optional<std::int64_t> ts_ns;  ///< as written, before any base is added
  std::optional<std::int64_t> duration_ns;
  std::optional<std::int64_t> pid, tid;
  std::optional<std::int64_t> device, stream, context, correlation, bytes, graph_node;
  std::optional<std::int64_t> awaited_stream, awaited_record;
  std::optional<std::int64_t> reserved_bytes, memory_device, memory_device_type;  ///< of kMemory
  LaunchShape shape;

  /// True if the times say more than whole microseconds: `12.5`, but neither `12` nor `12.0`.
  bool is_finer_than_us() const { return ts_ns.value_or(0) % 1000 != 0 || duration_ns.value_or(0) % 1000 != 0; }
  bool is_gpu() const { return category >= Category::kKernel && category <= Category::kMemset; }
};

/// Reads events out of JSON text, one record at a time. Keys may come in any order. Holds the parser's buffers: one
/// reader for a file, one thread.
class KinetoEventReader {
 public:
  KinetoEventReader();
  ~KinetoEventReader();
  KinetoEventReader(const KinetoEventReader&) = delete;
  KinetoEventReader& operator=(const KinetoEventReader&) = delete;

  /// `record` is one JSON object, `readable` the number of bytes behind its first one that may be touched.
  /// Returns nullptr, or why the record cannot be read; `event` is then unusable.
  const char* read(std::string_view record, std::size_t readable, KinetoEvent& event);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

/// Direction of a copy from the words profilers use: "Memcpy HtoD (Pageable -> Device)", "CopyDeviceToHost", "PtoP".
OpKind copy_kind_of(std::string_view name);

}  // namespace corun
