#pragma once

#include <array>
#include <cmath>

namespace scene {

struct Vector {
  float x = 0, y = 0, z = 0;
  friend Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend Vector operator*(Vector a, float s) { return {a.x * s, a.y * s, a.z * s}; }
};

inline float dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Vector cross(Vector a, Vector b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline Vector unit(Vector a) { return a * (1 / std::sqrt(dot(a, a))); }

/// Columns one after another, as OpenGL takes it.
using Matrix = std::array<float, 16>;

inline Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix product{};
  for (std::size_t column = 0; column < 4; ++column)
    for (std::size_t row = 0; row < 4; ++row)
      for (std::size_t k = 0; k < 4; ++k) product[column * 4 + row] += a[k * 4 + row] * b[column * 4 + k];
  return product;
}

/// From the world to what an eye at `eye` sees when it looks at `target`; y is up.
inline Matrix looking(Vector eye, Vector target) {
  const Vector back = unit(eye - target), right = unit(cross({0, 1, 0}, back)), up = cross(back, right);
  return {right.x, up.x, back.x, 0, right.y,          up.y,          back.y,          0,
          right.z, up.z, back.z, 0, -dot(right, eye), -dot(up, eye), -dot(back, eye), 1};
}

/// `slope`: tangent of half the vertical angle of view; `aspect`: width over height.
inline Matrix perspective(float slope, float aspect, float nearest, float farthest) {
  const float depth = nearest - farthest;
  return {1 / (slope * aspect),           0, 0, 0, 0, 1 / slope, 0, 0, 0, 0, (nearest + farthest) / depth, -1, 0, 0,
          2 * nearest * farthest / depth, 0};
}

/// A box of `half` to each side and 0 to `farthest` ahead.
inline Matrix orthographic(float half, float farthest) {
  return {1 / half, 0, 0, 0, 0, 1 / half, 0, 0, 0, 0, -2 / farthest, 0, 0, 0, -1, 1};
}

/// Scaled, turned around y, put in its place.
inline Matrix placed(Vector place, Vector scale, float angle) {
  const float c = std::cos(angle), s = std::sin(angle);
  return {c * scale.x, 0, -s * scale.x, 0, 0,       scale.y, 0,       0,
          s * scale.z, 0, c * scale.z,  0, place.x, place.y, place.z, 1};
}

}  // namespace scene
