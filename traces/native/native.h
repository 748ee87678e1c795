#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "traces/compact_capture.h"
#include "traces/reader.h"
#include "traces/timeline.h"

namespace corun {

// The native trace format (`*.corun`): chunks with checksums, columns of varints inside. schema/FORMAT.md has the
// bytes.

/// The timeline as the bytes of a native file. The same timeline always gives the same bytes.
/// Throws Error(kInput) for a timeline beyond the limits of the format (chunk.h).
std::string encode_native(const Timeline& timeline);

/// Writes a native file, readable by its owner only. Without `overwrite` the path must be new; with it an existing file
/// is replaced in one step. Throws Error: kInput where the path exists or cannot be created, kDevice where the disk
/// is full.
void write_native(const Timeline& timeline, const std::string& path, bool overwrite);

struct NativeRead {
  bool use_prefix = false;  ///< of a damaged file, take the rows before the damage instead of refusing it
};

/// Reads the bytes of a native file; `path` is for messages.
///
/// A file without a footer was not ended properly, but what is there is good: it is read, with a note in the
/// provenance. Of a damaged file nothing is accepted unless `use_prefix`; then the rows before the damage are, in order
/// of time, and a note says what is missing. References to rows that are missing become "none".
/// Throws Error(kInput) that names chunk and byte of the damage, kUnsupported for a newer version of the format.
Timeline read_native(std::string_view bytes, const std::string& path, const NativeRead& options = {});

/// The first place at which a native file is not what was written.
struct NativeDamage {
  std::uint64_t chunk = 0;  ///< number of the chunk, from 1
  std::uint64_t byte = 0;   ///< of the file, at which that chunk begins
  std::string what;         ///< "found, expected"
};

/// What of a native file can be read. Rows are operations, calls, frames and marks.
struct NativeReport {
  std::uint64_t chunks = 0;                ///< in the file; at least so many where there is no footer
  std::uint64_t chunks_readable = 0;       ///< whose checksums are right, before and after damage
  std::uint64_t chunks_before_damage = 0;  ///< those that `use_prefix` takes; all of an undamaged file
  std::uint64_t rows = 0;                  ///< in the file; at least so many where there is no footer
  std::uint64_t rows_readable = 0;
  std::uint64_t rows_before_damage = 0;
  std::int64_t end_before_damage_ns = 0;  ///< latest instant of the rows before the damage
  bool has_footer = false;                ///< false: the capture did not end properly
  std::optional<NativeDamage> damage;

  std::uint64_t rows_lost() const { return rows - rows_readable; }
};

/// Reads and decodes the whole file. Throws Error only where the file itself cannot be read (reader.h: read_source) or
/// is of a newer version.
NativeReport verify_native(const std::string& path);
NativeReport verify_native(std::string_view bytes, const std::string& path);

/// Reads a capture without making rows of its operations and calls. The bytes are given back to the machine as they are
/// read: they mean nothing afterwards. Nothing comes of a file that is damaged or unfinished, or whose rows are out of
/// order or wrong: read_native says what is the matter with it.
std::optional<CompactCapture> read_native_compact(std::string bytes, const std::string& path);

/// The native format as one of the importers; it reads damaged files not at all.
std::unique_ptr<TraceImporter> make_native_importer();

}  // namespace corun
