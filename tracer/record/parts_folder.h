#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace corun::record {

/// The folder of one session, `<output>.parts`: the parts of its processes, those of an untraced pass in `bare/`, and
/// what the recorder itself has to remember (`session`), so that a session whose recorder was killed can still be
/// merged. All of it is for the owner only. Names of other files are never touched. As long as this object lives the
/// folder is locked: no other simtrace deletes or merges it.
class PartsFolder {
 public:
  /// Makes a new, empty folder. An older one is an Error(kInput) unless `overwrite`; then its parts are deleted first.
  /// Throws Error(kInput) where there can be none, where what is there is no folder of parts, or where a recording
  /// still runs in it.
  static PartsFolder make(const std::string& path, bool overwrite);
  /// One that is there already. Throws Error(kInput) where there is none, or where its recorder is still at work.
  static PartsFolder open(const std::string& path);

  const std::string& path() const { return path_; }  ///< absolute
  std::string untraced_path() const { return path_ + "/bare"; }
  void make_untraced() const;

  std::vector<std::string> parts() const { return parts_in(path_); }
  std::vector<std::string> untraced_parts() const { return parts_in(untraced_path()); }

  /// What the recorder remembers, one "name value" a line.
  void remember(const std::string& name, std::int64_t value) const;
  std::map<std::string, std::int64_t> memory() const;

  /// Writers that live and have not ended their parts, untraced passes included.
  std::vector<std::int64_t> writing() const;

  /// Deletes the parts and the folder. False where something is left.
  bool remove() const;

 private:
  class Lock {
   public:
    /// Throws Error(kInput) where another process has it.
    explicit Lock(const std::string& folder);
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    int descriptor_;
  };

  explicit PartsFolder(std::string path) : path_(std::move(path)), lock_(std::make_unique<Lock>(path_)) {}
  static std::vector<std::string> parts_in(const std::string& folder);

  std::string path_;
  std::unique_ptr<Lock> lock_;
};

/// Size of all of these files.
std::uint64_t total_bytes(const std::vector<std::string>& files);

/// Process that a part is written by, and whether it still lives: from the part's name, "<pid>-<start ticks>-...".
struct PartWriter {
  std::int64_t process = 0;
  bool is_alive = false;
};
PartWriter writer_of(const std::string& part);

/// True if the last record of a part is its EndRecord.
bool has_end(const std::string& part);

/// Field `number` of /proc/PID/stat, from 3 on; "" where there is no such process.
std::string process_field(std::int64_t process, int number);

}  // namespace corun::record
