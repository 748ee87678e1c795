#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "traces/timeline.h"

namespace corun {

/// A file as an importer sees it: its bytes with any gzip or zstd wrapper already taken off.
///
/// The whole content is in memory; SQLite importers use `path` and read `bytes` only to sniff. Wrappers that would
/// expand beyond `ReadLimits` are a located error.
struct SourceFile {
  std::string path;          ///< as the user named it
  std::string bytes = {};    ///< unwrapped content
  std::string hash = {};     ///< XXH3-128 of the file as it lies on disk, lower-case hex
  bool was_wrapped = false;  ///< true if `path` holds a compressed form of `bytes`
};

struct ReadLimits {
  /// Unwrapped size; larger is an error that says so. So is more than 100 times the size of a wrapped file and 64 MiB.
  std::uint64_t max_bytes = std::uint64_t{4} << 30;
};

/// Reads and unwraps a regular file. Throws Error(kInput) naming the path where it cannot be read, is not a regular
/// file, is damaged or is larger than the limits.
SourceFile read_source(const std::string& path, const ReadLimits& limits = {});

/// One foreign format. An importer is one file and one line in importers/importers.h; it holds no state.
class TraceImporter {
 public:
  virtual ~TraceImporter() = default;
  virtual std::string_view name() const = 0;         ///< as in `simcli import --from NAME`
  virtual std::string_view description() const = 0;  ///< one line: program, versions, what it carries
  /// How sure it is that the bytes are of this format, looking at the first 64 KiB at most: 0 (no) to 100 (certain).
  virtual int sniff(const SourceFile& source) const = 0;
  /// Reads it. Bad records are counted (TimelineBuilder::skip); a bad file throws a located Error(kInput).
  virtual Timeline read(const SourceFile& source) const = 0;
};

/// Every importer of the build, native format first.
const std::vector<std::unique_ptr<TraceImporter>>& importers();

/// What a file in our own format says of the power of its devices, read from its beginning alone: a capture of any size
/// takes little time. Empty where it says nothing, and of a file that cannot be read or is of another format or
/// compressed.
std::vector<PowerMean> recorded_power(const std::string& path);

/// Reads a trace of any known format: the importer that is surest of the bytes, or the one called `format` unless that
/// is empty or "auto". Throws Error(kInput) with the list of known formats where none fits, and where a foreign format
/// has been read and nothing in it was understood.
Timeline load_timeline(const std::string& path, std::string_view format = {});

}  // namespace corun
