#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "games/scene/world/level.h"

namespace scene {

enum class Task { kPlay, kListLevels, kPrintMenu };

/// The command line.
struct Options {
  Task task = Task::kPlay;
  Size size;
  double fps = 0;  ///< 0 = as fast as it goes
  double load = 1;
  std::uint64_t frames = 0;  ///< 0 = no end
  double seconds = 0;        ///< 0 = no end
  std::size_t level = 0;
  std::optional<int> device;
  std::string picture;  ///< where the last frame is written; "" = nowhere
};

/// Nothing where it was asked for help and has printed it. Throws Failure.
std::optional<Options> parse_options(int count, const char* const* words);

}  // namespace scene
