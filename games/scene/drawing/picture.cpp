#include "games/scene/drawing/picture.h"

#include <cstdio>
#include <memory>

#include "games/scene/world/failure.h"

namespace scene {

namespace {

constexpr int kBlock = 8;

/// Sums over one block of both pictures.
struct Sums {
  double a = 0, b = 0, aa = 0, bb = 0, ab = 0;
};

double brightness(const Picture& picture, int x, int y) {
  const std::uint8_t* pixel = &picture.bytes[3 * (static_cast<std::size_t>(y) * picture.size.width + x)];
  return 0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2];
}

Sums sums_of(const Picture& a, const Picture& b, int left, int bottom) {
  Sums sums;
  for (int y = bottom; y < bottom + kBlock; ++y)
    for (int x = left; x < left + kBlock; ++x) {
      const double in_a = brightness(a, x, y), in_b = brightness(b, x, y);
      sums.a += in_a;
      sums.b += in_b;
      sums.aa += in_a * in_a;
      sums.bb += in_b * in_b;
      sums.ab += in_a * in_b;
    }
  return sums;
}

double block_similarity(const Sums& sums) {
  constexpr double kPixels = kBlock * kBlock, kOfMeans = 6.5025, kOfSpreads = 58.5225;  // (0.01, 0.03 of 255) squared
  const double a = sums.a / kPixels, b = sums.b / kPixels;
  const double spread_a = sums.aa / kPixels - a * a, spread_b = sums.bb / kPixels - b * b;
  const double together = sums.ab / kPixels - a * b;
  return (2 * a * b + kOfMeans) * (2 * together + kOfSpreads) /
         ((a * a + b * b + kOfMeans) * (spread_a + spread_b + kOfSpreads));
}

}  // namespace

Picture read_picture(const Gl& gl, Size size) {
  Picture picture{size, std::vector<std::uint8_t>(static_cast<std::size_t>(3 * size.pixels()))};
  gl.PixelStorei(GL_PACK_ALIGNMENT, 1);
  gl.ReadPixels(0, 0, size.width, size.height, GL_RGB, GL_UNSIGNED_BYTE, picture.bytes.data());
  return picture;
}

void write_picture(const Picture& picture, const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"), std::fclose);
  const std::size_t row = 3 * static_cast<std::size_t>(picture.size.width);
  bool is_written = file && std::fprintf(file.get(), "P6\n%d %d\n255\n", picture.size.width, picture.size.height) > 0;
  for (int y = picture.size.height - 1; is_written && y >= 0; --y)
    is_written = std::fwrite(&picture.bytes[row * static_cast<std::size_t>(y)], 1, row, file.get()) == row;
  if (!is_written || std::fflush(file.get()) != 0)
    throw Failure(kWrongUsage, "--picture " + path + ": cannot be written");
}

double similarity(const Picture& a, const Picture& b) {
  double sum = 0;
  std::int64_t blocks = 0;
  for (int y = 0; y + kBlock <= a.size.height; y += kBlock)
    for (int x = 0; x + kBlock <= a.size.width; x += kBlock, ++blocks) sum += block_similarity(sums_of(a, b, x, y));
  return blocks == 0 ? 1 : sum / static_cast<double>(blocks);
}

}  // namespace scene
