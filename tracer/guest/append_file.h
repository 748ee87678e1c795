#pragma once

#include <cstddef>
#include <cstdint>

#include "traces/parts/part_record.h"

namespace corun::guest {

/// A file that only grows, chunk by chunk, and that survives what its host does: a host that closes every descriptor
/// or reuses the number does not get our bytes into its own file. One thread at a time; signals should be blocked,
/// since a size limit of the host otherwise raises SIGXFSZ.
class AppendFile {
 public:
  /// Makes `<directory>/<stem>.part` (or `<stem>-2.part`, ... where a program has replaced itself by exec), new, for
  /// the owner only, following no link. False where that fails.
  bool make(const char* directory, const char* stem, std::uint64_t max_bytes);

  /// Appends a chunk of records whole or not at all: what a full disk took half of is cut off again. After a failure
  /// only last words (`is_last`) are tried. Returns false where the chunk is not in the file; see `failure()`.
  bool append(const unsigned char* payload, std::size_t payload_bytes, std::uint32_t rows, bool is_last = false);

  /// Why append() failed: kMaxSize, or kWriteFailed with errno in `detail`.
  part::EndReason failure() const { return failure_; }
  std::uint32_t detail() const { return detail_; }
  bool has_failed() const { return has_failed_; }

  void close();  ///< the descriptor, if it still is ours

 private:
  bool is_still_ours() const;
  bool write_whole(const unsigned char* frame, std::size_t frame_bytes, const unsigned char* payload,
                   std::size_t payload_bytes);
  bool fail(part::EndReason reason, int error);

  int descriptor_;
  bool has_failed_;
  part::EndReason failure_;
  std::uint32_t detail_;
  std::uint32_t sequence_;
  std::uint64_t device_, inode_;
  std::uint64_t bytes_, max_bytes_;
};

}  // namespace corun::guest
