#pragma once

#include <cstdint>
#include <string>

namespace corun::live {

/// The setting that a game is to render its next frames at: one little-endian 32-bit integer in a file, which the game
/// maps and looks at once a frame. The environment variable kVariable names the file to it.
class QualityFile {
 public:
  static constexpr char kVariable[] = "CORUN_QUALITY";

  /// Makes the file. Throws Error(kDevice) where that fails.
  QualityFile(std::string path, std::uint32_t level);
  ~QualityFile();
  QualityFile(const QualityFile&) = delete;
  QualityFile& operator=(const QualityFile&) = delete;

  const std::string& path() const { return path_; }
  /// Index into the client's menu.
  void set(std::uint32_t level);

 private:
  const std::string path_;
  int descriptor_ = -1;  // not mapped: the game could make the file shorter
};

}  // namespace corun::live
