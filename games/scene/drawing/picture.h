#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "games/scene/drawing/gl.h"
#include "games/scene/world/level.h"

namespace scene {

/// A picture as it is shown: rows from the bottom, three bytes a pixel.
struct Picture {
  Size size;
  std::vector<std::uint8_t> bytes;
};

/// What has been drawn and not been shown yet; waits for it.
Picture read_picture(const Gl& gl, Size size);

/// As a portable pixmap. Throws Failure where the file cannot be written.
void write_picture(const Picture& picture, const std::string& path);

/// Structural similarity (SSIM; Wang, Bovik, Sheikh, Simoncelli 2004) of the brightness of two pictures of one size:
/// the mean over blocks of 8 x 8 pixels; 1 = equal. What is left over at the edges does not count.
double similarity(const Picture& a, const Picture& b);

}  // namespace scene
