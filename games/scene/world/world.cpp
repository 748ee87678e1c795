#include "games/scene/world/world.h"

#include <algorithm>

namespace scene {

namespace {

constexpr float kFramesPerSecond = 60;
constexpr int kRow = 19;
constexpr float kSpacing = 4;

/// A number in [0, 1) that is the same for the same two.
float drawn(std::uint32_t index, std::uint32_t which) {
  std::uint32_t bits = index * 2654435761U + which * 40503U + 17U;
  bits = (bits ^ (bits >> 15)) * 2246822519U;
  bits = (bits ^ (bits >> 13)) * 3266489917U;
  return static_cast<float>((bits ^ (bits >> 16)) >> 8) / 16777216.0F;
}

Object ground() {
  const Vector place{0, -0.5F, 0};
  return {Shape::kBox, placed(place, {kHalfSide, 0.5F, kHalfSide}, 0), place, {0.45F, 0.48F, 0.45F, 0.1F}};
}

Object standing(std::uint32_t index, float seconds) {
  const auto cell = [&](std::uint32_t number, std::uint32_t which) {
    return (static_cast<float>(number) - kRow / 2.0F + 0.5F) * kSpacing + (drawn(index, which) - 0.5F) * 2;
  };
  const bool is_ball = drawn(index, 2) < 0.4F;
  const float size = 0.5F + drawn(index, 3), height = is_ball ? size : size * (1 + 3 * drawn(index, 4));
  const float lift = is_ball ? 0.8F * (1 + std::sin(seconds * (0.5F + drawn(index, 5)) + 6 * drawn(index, 6))) : 0;
  const Vector place{cell(index % kRow, 0), height + lift, cell(index / kRow, 1)};
  const float angle = 6 * drawn(index, 7) + seconds * (drawn(index, 8) - 0.5F);
  return {is_ball ? Shape::kBall : Shape::kBox,
          placed(place, {size, height, size}, angle),
          place,
          {0.3F + 0.7F * drawn(index, 9), 0.3F + 0.7F * drawn(index, 10), 0.3F + 0.7F * drawn(index, 11),
           drawn(index, 12)}};
}

}  // namespace

Moment moment_of(std::uint64_t frame) {
  const float seconds = static_cast<float>(frame) / kFramesPerSecond;
  const float around = 0.11F * seconds, distance = 22 + 8 * std::sin(0.23F * seconds);
  Moment moment;
  moment.eye = {distance * std::cos(around), 9 + 4 * std::sin(0.31F * seconds), distance * std::sin(around)};
  moment.target = {3 * std::sin(0.4F * seconds), 1, 3 * std::cos(0.37F * seconds)};
  moment.objects.push_back(ground());
  for (std::uint32_t i = 0; i + 1 < kObjects; ++i) moment.objects.push_back(standing(i, seconds));
  const auto distance_of = [&](const Object& object) {
    const Vector away = object.place - moment.eye;
    return object.shape == Shape::kBox && object.place.y < 0 ? 1e9F : dot(away, away);
  };
  std::ranges::stable_sort(moment.objects, {}, distance_of);
  return moment;
}

Vector direction_of_sun(int i) {
  const float angle = 0.7F + 1.7F * static_cast<float>(i);
  return unit({std::cos(angle), 1.1F, std::sin(angle)});
}

std::vector<Lamp> lamps(int count) {
  std::vector<Lamp> all;
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(count); ++i) {
    const auto place = [&](std::uint32_t which) { return (2 * drawn(i, which) - 1) * kHalfSide * 0.8F; };
    const auto glow = [&](std::uint32_t which) { return 0.1F + drawn(i, which); };
    all.push_back(
        {{place(20), 1.5F + 4 * drawn(i, 21), place(22), 6 + 6 * drawn(i, 23)}, {glow(24), glow(25), glow(26), 1}});
  }
  return all;
}

}  // namespace scene
