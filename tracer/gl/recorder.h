#pragma once

#include <cstdint>

#include "tracer/gl/query_api.h"

namespace corun::gl {

struct Context;
struct Swapchain;

/// The steps of a hook: `begin...` before the true function is called, `end...` after it. A step that finds anything
/// amiss does nothing; the true function is called in any case. The program's errno stays.
///
/// Recording begins with the first swap of the process, which so is the end of frame 1; visits are seen from then on.
/// Frames are counted per part; a context that has shown nothing itself files its visits under the newest frame.

struct Submission {
  Context* context = nullptr;  ///< has a visit that this call submits; null: none
  bool is_wait = false;
  bool is_last = false;  ///< the context is no longer current afterwards
  std::int64_t begin_ns = 0;
  std::int64_t tracer_ns = 0;  ///< spent so far
};
Submission begin_submission(bool is_wait);
void end_submission(Submission& submission);

/// Fetches what the context that is current knows by now: the last chance before it is put down.
void look_after_current();

struct Swap {
  Swapchain* chain = nullptr;  ///< null: nothing is recorded
  Submission submission;
};
/// `real` is the function that the swap leads to.
Swap begin_swap(Platform platform, void* display, std::uintptr_t surface, const void* real);
void end_swap(Swap& swap, bool is_shown);

}  // namespace corun::gl
