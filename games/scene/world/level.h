#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace scene {

/// Of a picture, in pixels.
struct Size {
  int width = 1920, height = 1080;
  std::int64_t pixels() const { return std::int64_t{width} * height; }
  friend bool operator==(const Size&, const Size&) = default;
};
std::string to_string(Size size);

/// One quality setting.
struct Level {
  const char* name;
  double scale;     ///< width and height of what is rendered, over those of what is shown
  int samples;      ///< per pixel; 1 = no anti-aliasing
  int shadow_maps;  ///< shadow passes, each over all objects; at most kMostShadowMaps
  int shadow_size;  ///< width and height of a shadow map, pixels
  int lights;       ///< that are added up in every pixel at load 1
};

inline constexpr int kMostShadowMaps = 4, kMostLights = 512;

/// The menu: the best one first. Each takes less work than the one before.
inline constexpr std::array<Level, 6> kLevels = {{
    {"ultra", 1.0, 4, 4, 2048, 24},
    {"high", 1.0, 2, 3, 2048, 20},
    {"medium", 0.85, 2, 3, 1024, 16},
    {"low", 0.75, 1, 2, 1024, 12},
    {"lower", 0.6, 1, 1, 1024, 10},
    {"least", 0.5, 1, 1, 512, 6},
}};

/// What a level comes to at a load: steps of the loops in the shaders.
struct Effort {
  int lights;       ///< in every pixel rendered, 1 to kMostLights
  int shadow_taps;  ///< in every pixel rendered, for each shadow map
  int filter_taps;  ///< in every pixel shown
};

/// `load` scales all three; lights stop at kMostLights.
Effort effort_of(const Level& level, double load);
Size rendered_size(const Level& level, Size shown);

/// Work of a frame, counted; what of it a picture covers is left out.
struct Work {
  int draws;                   ///< draw calls
  std::int64_t samples;        ///< rendered, of pixels
  std::int64_t shadow_pixels;  ///< of all shadow maps
  std::int64_t shader_steps;   ///< lights, shadow taps and filter taps over all pixels
};
Work work_of(const Level& level, Size shown, double load);

}  // namespace scene
