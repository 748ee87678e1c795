#pragma once

#include <array>
#include <vector>

#include "games/scene/drawing/gl.h"

namespace scene {

/// GPU time of frames, by two time stamps each; read once they are there, so that nothing waits for them.
class GpuTimer {
 public:
  explicit GpuTimer(const Gl& gl);
  void begin();
  void end();
  /// Milliseconds of the frames so far, in order, where `waits` for all of them.
  const std::vector<double>& collect(bool waits);

 private:
  static constexpr std::size_t kInFlight = 16;
  struct Stamps {
    GLuint begin = 0, end = 0;
  };
  Stamps& stamps(std::size_t frame) { return ring_[frame % kInFlight]; }
  void take_oldest();

  const Gl& gl_;
  std::array<Stamps, kInFlight> ring_;
  std::size_t begun_ = 0;
  std::vector<double> frame_ms_;
};

}  // namespace scene
