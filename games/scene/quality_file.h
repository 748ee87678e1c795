#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace scene {

/// The file that the environment variable CORUN_QUALITY names: one little-endian 32-bit integer, the level that
/// is wanted of the game. It may change at any time and is looked at once a frame, without a system call.
class QualityFile {
 public:
  /// Throws Failure where the file is missing or shorter than the integer.
  explicit QualityFile(const std::string& path);
  ~QualityFile();
  QualityFile(const QualityFile&) = delete;
  QualityFile& operator=(const QualityFile&) = delete;

  /// The level wanted, if it is one of `levels`. Says once on standard error that it is not.
  std::optional<std::size_t> level(std::size_t levels);

 private:
  std::string path_;
  std::int32_t* wanted_ = nullptr;
  bool has_complained_ = false;
};

}  // namespace scene
