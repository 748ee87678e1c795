#pragma once

#include <cstdint>

#include "traces/parts/part_record.h"

namespace corun::guest {

/// What `simtrace record` asks of the libraries it puts into a program, read from the environment.
///
///   CORUN_TRACE_DIR        folder of the session's parts; absent: nothing is recorded
///   CORUN_TRACE_ONLY_PID   only this process records; absent: the children do too
///   CORUN_TRACE_FROM_NS    record from this instant of CLOCK_MONOTONIC on
///   CORUN_TRACE_UNTIL_NS   ... and up to this one
///   CORUN_TRACE_FRAMES     "A..B": only these frames, counted from 1 (frame libraries; a part without CUDA)
///   CORUN_TRACE_MAX_BYTES  size at which a part stops growing
///   CORUN_TRACE_REDACT     "names": kernels are numbered, not named
///   CORUN_TRACE_CUDA       off, idle (load CUPTI, enable nothing), kernels, calls (default), count
///   CORUN_TRACE_GL, CORUN_TRACE_VULKAN   on or off (default on)
///   CORUN_TRACE_CUPTI      path of the libcupti to use, tried before any other
///
/// Reading it never fails: what cannot be understood is the default.
struct Settings {
  char directory[4096];        ///< absolute; "" = do not record
  std::uint32_t only_pid = 0;  ///< 0: any
  std::int64_t from_ns = 0;
  std::int64_t until_ns = INT64_MAX;
  std::uint64_t first_frame = 1;
  std::uint64_t last_frame = UINT64_MAX;
  std::uint64_t max_bytes = std::uint64_t{4} << 30;
  bool redact_names = false;
  bool cuda = true, gl = true, vulkan = true;
  bool cuda_idle = false;  ///< CUPTI is loaded and subscribed, but nothing is enabled: to measure what that costs
  part::Detail cuda_detail = part::Detail::kCalls;
  char cupti_path[4096];  ///< "" = search
};

/// Reads the settings. `directory` is "" where this process must not record: no folder named, another process asked
/// for, a set-uid program (secure_getenv), or a program of the deny-list.
Settings read_settings();

/// True for launchers and shells that only start the program one wants (steam, sh, wineserver ...): by base name.
bool is_denied_program(const char* base_name);

/// Base name of the running executable, "" if unknown. At most `size` - 1 bytes.
void program_name(char* out, std::uint32_t size);

}  // namespace corun::guest
