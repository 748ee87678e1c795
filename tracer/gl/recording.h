#pragma once

#include <pthread.h>

#include "tracer/frames/frame_log.h"
#include "tracer/gl/contexts.h"
#include "tracer/gl/swapchains.h"

namespace corun::gl {

/// The one recording of this process. It ends with the process; nothing of it is ever destroyed.
struct Recording {
  guest::FrameLog log;
  Swapchains swapchains;
  Contexts contexts;
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  ///< of the two tables; no GL is called under it
  bool has_no_queries = false;                       ///< some context has none: its visits have no GPU times

  /// Begins with the first call; false where this process is not to record, or no longer, and in other threads as long
  /// as the first call takes: no call waits for the file.
  bool start();
  bool is_on() const { return log.is_recording(); }
};
extern Recording recording;

class Locked {
 public:
  Locked() { pthread_mutex_lock(&recording.lock); }
  ~Locked() { pthread_mutex_unlock(&recording.lock); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

}  // namespace corun::gl
