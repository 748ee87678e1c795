#pragma once

#include <cstdint>

namespace corun::gl {

/// The maker of a context: the window system's half of GL.
enum class Platform : std::uint8_t { kEgl, kGlx };

/// What this library itself asks of GL: timestamp queries of the context that is current, and the clock they count on.
///
/// Nothing here raises a GL error, waits for the GPU, or is seen by the program's own queries: timestamps (target
/// GL_TIMESTAMP) may be taken while its GL_TIME_ELAPSED runs. One thing is: to read GL_GPU_DISJOINT_EXT clears it, so a
/// GLES program that reads it too does not hear of every jump of the clock. Only with the context current.
struct QueryApi {
  using FindFunction = void* (*)(const char* name);

  bool has_queries = false;      ///< false: nothing below but `renderer` and `is_over_vulkan` is of use
  bool can_be_disjoint = false;  ///< GLES: the clock may jump, and says so
  bool can_have_buffer = false;  ///< GL 4.4: results go to a buffer that the program may have bound
  bool is_over_vulkan = false;   ///< Zink, ANGLE: a Vulkan layer sees these frames too
  std::uint32_t bits = 64;       ///< of the GPU's clock; it counts nanoseconds
  const char* renderer = "";     ///< the driver's own text

  void (*gen_queries)(int count, unsigned* queries) = nullptr;
  void (*query_counter)(unsigned query, unsigned target) = nullptr;
  void (*get_query_state)(unsigned query, unsigned what, unsigned* value) = nullptr;
  void (*get_query_result)(unsigned query, unsigned what, std::uint64_t* value) = nullptr;
  void (*get_integer64)(unsigned what, std::int64_t* value) = nullptr;
  void (*get_integer)(unsigned what, int* value) = nullptr;

  /// Stamps `query` when the GPU gets to where it is now.
  void stamp(unsigned query) const;
  /// False while the program has results of queries written to a buffer of its own: ours would end up there.
  bool may_fetch() const;
  bool is_available(unsigned query) const;
  std::uint64_t result(unsigned query) const;
  /// The clock now; false where the driver does not say.
  bool read_clock(std::int64_t& gpu_ns) const;
  /// True if the clock has jumped since the last query, which the program may have made.
  bool was_disjoint() const;
  void read_viewport(std::uint32_t& width, std::uint32_t& height) const;
};

/// Looks at the current context.
QueryApi load_query_api(QueryApi::FindFunction find);

}  // namespace corun::gl
