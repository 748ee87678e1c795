#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace corun::calibration {

/// What bounds a kernel of a probe.
enum class WorkKind : std::int64_t {
  kCompute = 0,  ///< dependent multiply-adds
  kAdd = 1,      ///< device memory: two values read for one written
  kCopy = 2,     ///< device memory: one value read for one written
  kCache = 3,    ///< as kCopy, in the second-level cache
};
inline constexpr std::array kWorkKinds = {WorkKind::kCompute, WorkKind::kAdd, WorkKind::kCopy, WorkKind::kCache};

constexpr std::string_view to_string(WorkKind kind) {
  constexpr std::string_view kNames[] = {"compute", "add", "copy", "cache"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace corun::calibration
