#pragma once

#include <cstdint>
#include <vector>

#include "games/scene/world/matrix.h"

namespace scene {

inline constexpr int kObjects = 361;    ///< the ground among them
inline constexpr float kHalfSide = 42;  ///< the ground reaches so far from the middle

enum class Shape { kBox, kBall };

struct Object {
  Shape shape;
  Matrix model;
  Vector place;
  std::array<float, 4> tint;  ///< red, green, blue, shininess
};

struct Lamp {
  std::array<float, 4> place;  ///< and its reach
  std::array<float, 4> color;
};

/// Everything that moves is a function of the frame's number: a second of the world has 60 frames, however fast they
/// come.
struct Moment {
  Vector eye, target;
  std::vector<Object> objects;  ///< nearest first
};
Moment moment_of(std::uint64_t frame);

/// Distant lights that cast shadows: where the i-th comes from, of length 1.
Vector direction_of_sun(int i);
/// The first `count` of the lamps that stand in the world.
std::vector<Lamp> lamps(int count);

}  // namespace scene
