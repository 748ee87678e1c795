#pragma once

#include <cstdint>
#include <string>

namespace corun::live {

/// Snapshots that a program takes of its own state, as it alone can: in a file that it reads when it is started again.
/// The environment variable kVariable names the file to it.
///
///     FILE         the state; there is none before the first snapshot
///     FILE.wanted  made by the scheduler: the program is to save; it removes this when it begins to
///     FILE.new     written by the program, which renames it to FILE when it is whole
///
/// So a program that is killed while it saves leaves the snapshot before. Contents are the program's own.
class SnapshotFile {
 public:
  static constexpr char kVariable[] = "CORUN_SNAPSHOT";
  enum class Progress : std::uint8_t { kNone, kBegun, kSaved };

  /// In `folder` where there is room for two of `bytes`, else in the folder of temporary files.
  SnapshotFile(const std::string& folder, const std::string& name, std::uint64_t bytes);
  /// Removes all three files.
  ~SnapshotFile();
  SnapshotFile(const SnapshotFile&) = delete;
  SnapshotFile& operator=(const SnapshotFile&) = delete;

  const std::string& path() const { return path_; }
  /// Asks for a snapshot. Throws Error(kDevice) where the request cannot be made.
  void ask();
  /// What the program has done since the last look; nothing where it was not asked.
  Progress look();
  /// The program has ended: it was asked for nothing, and what it has not saved whole is gone.
  void forget_request();

 private:
  std::string wanted() const { return path_ + ".wanted"; }
  std::string unfinished() const { return path_ + ".new"; }
  /// Of the state, other for each that is renamed to it; 0 = there is none.
  std::uint64_t identity() const;

  std::string path_;
  std::uint64_t saved_ = 0;  // identity of the state that is known
  bool is_asked_ = false;
  bool has_begun_ = false;
};

}  // namespace corun::live
