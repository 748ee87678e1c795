#pragma once

#include <string_view>

namespace corun {

/// Whether a character (its UTF-8) turns the direction of writing or ends a line, so that text behind it is shown in
/// another order than it has: U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069.
inline bool turns_direction(std::string_view character) {
  if (character == "\xD8\x9C") return true;
  if (character.size() != 3) return false;
  const std::string_view front = character.substr(0, 2);
  const auto last = static_cast<unsigned char>(character[2]);
  if (front == "\xE2\x80") return last == 0x8E || last == 0x8F || (last >= 0xA8 && last <= 0xAE);
  return front == "\xE2\x81" && last >= 0xA6 && last <= 0xA9;
}

}  // namespace corun
