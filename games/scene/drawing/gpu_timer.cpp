#include "games/scene/drawing/gpu_timer.h"

namespace scene {

GpuTimer::GpuTimer(const Gl& gl) : gl_(gl) {
  for (Stamps& pair : ring_) {
    gl.GenQueries(1, &pair.begin);
    gl.GenQueries(1, &pair.end);
  }
}

void GpuTimer::begin() {
  if (begun_ - frame_ms_.size() == kInFlight) take_oldest();
  gl_.QueryCounter(stamps(begun_++).begin, GL_TIMESTAMP);
}

void GpuTimer::end() { gl_.QueryCounter(stamps(begun_ - 1).end, GL_TIMESTAMP); }

const std::vector<double>& GpuTimer::collect(bool waits) {
  while (frame_ms_.size() < begun_) {
    GLuint64 is_there = 0;
    gl_.GetQueryObjectui64v(stamps(frame_ms_.size()).end, GL_QUERY_RESULT_AVAILABLE, &is_there);
    if (is_there == 0 && !waits) break;
    take_oldest();
  }
  return frame_ms_;
}

void GpuTimer::take_oldest() {
  const Stamps& oldest = stamps(frame_ms_.size());
  GLuint64 begin_ns = 0, end_ns = 0;
  gl_.GetQueryObjectui64v(oldest.begin, GL_QUERY_RESULT, &begin_ns);
  gl_.GetQueryObjectui64v(oldest.end, GL_QUERY_RESULT, &end_ns);
  frame_ms_.push_back(static_cast<double>(end_ns - begin_ns) / 1e6);
}

}  // namespace scene
