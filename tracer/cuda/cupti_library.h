#pragma once

#include <cstdint>
#include <span>

#include "tracer/cuda/cupti_abi.h"

namespace corun::cupti {

/// The functions of the libcupti that is used. Those in the second group may be null.
struct Library {
  std::uint32_t version = 0;  ///< 130000 for 13.0, 130001 for 13.0 update 1

  GetVersion get_version = nullptr;
  Subscribe subscribe = nullptr;
  Unsubscribe unsubscribe = nullptr;
  EnableCallback enable_callback = nullptr;
  SetThreadIdType set_thread_id_type = nullptr;
  RegisterTimestamp register_timestamp = nullptr;
  RegisterBuffers register_buffers = nullptr;
  SwitchKind enable = nullptr;
  SwitchKind disable = nullptr;
  FlushAll flush_all = nullptr;
  GetNextRecord get_next_record = nullptr;
  GetDropped get_dropped = nullptr;

  SetAttribute set_attribute = nullptr;
  SwitchKind enable_and_dump = nullptr;
  SwitchFunction enable_driver_function = nullptr;
  GetStreamId get_stream_id = nullptr;
};

enum class LoadResult : std::uint8_t {
  kLoaded,
  kMissing,       ///< no libcupti was found, or one without the functions of the first group
  kWrongVersion,  ///< the only one found is of another major version, which `version` says
};

/// Where a libcupti may be: a path, or a name for the loader to find.
struct Place {
  const char* path;        ///< "" is no place
  bool is_loaded = false;  ///< only if the process has it already
};

/// Loads the first libcupti of the right version that there is. It is never unloaded once it was accepted.
LoadResult load(std::span<const Place> places, Library& library);

/// Tries in this order: `path` (may be ""), the one the process has already, the one that the loader finds, the usual
/// folders of the CUDA Toolkit.
LoadResult load(const char* path, Library& library);

}  // namespace corun::cupti
