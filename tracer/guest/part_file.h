#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

#include "tracer/guest/settings.h"
#include "traces/parts/part_record.h"

namespace corun::guest {

/// Nanoseconds of CLOCK_MONOTONIC.
std::int64_t monotonic_ns();
/// Operating-system id of the calling thread, cached per thread.
std::uint32_t thread_id();

/// The part that one library writes in one process: records go in from any thread, whole chunks go to the file from a
/// thread of its own.
///
/// A guest: it never throws, exits or blocks the caller beyond copying a record under a lock that is only ever held for
/// such a copy. Memory is bounded (kBuffers of kBufferBytes, untouched until needed); when all are full, records are
/// dropped and counted. Any failure (a folder that cannot be written, a full disk, the size limit) ends the recording
/// and nothing else: append() becomes a no-op, and what can still be said of the reason is said in the file.
///
/// A chunk is written when 64 KiB are full or a second has passed, so a killed process loses no more than that.
/// A child made by fork() records nothing through its parent's part (its copy is abandoned at the fork).
class PartFile {
 public:
  /// Opens `<directory>/<pid>-<start ticks>-<cuda|gl|vulkan>.part`, new and for the owner only, starts the writing
  /// thread (all signals blocked) and writes the ProcessRecord. False, with nothing left behind, where this process is
  /// not to record or the file cannot be made. Not again after success.
  bool open(const Settings& settings, part::Source source, part::Detail detail, std::uint32_t api_version);

  bool is_open() const { return __atomic_load_n(&is_open_, __ATOMIC_ACQUIRE); }

  /// Copies a record; `record.head.size` says how long it is. Any thread. False where it was dropped.
  bool append(const part::RecordHead& record);
  /// Fills in the head and appends.
  template <class Record>
  bool add(part::RecordType type, Record record) {
    record.head = {type, sizeof(Record), 0};
    return append(record.head);
  }

  /// Id of a text, writing it the first time it is seen. The text is cut to kMostTextBytes. Returns 0 where the table
  /// is full (65,536 texts or 16 MiB) or the part is not open.
  std::uint32_t text(const char* text);
  /// The same for names of kernels: under CORUN_TRACE_REDACT the text kept is "kernel_<process>_1", ..._2, ...
  std::uint32_t kernel_name(const char* name);

  /// The same for names of ranges, "range_<process>_1", ...
  std::uint32_t range_name(const char* name);
  /// ... only where it has been kept before, else 0.
  std::uint32_t known_range_name(const char* name);

  void lost(part::LossReason reason, std::uint64_t count);

  /// Has what is buffered written now, not a second after its first record. Does not wait for it.
  void push();

  /// Writes what is buffered, then an EndRecord, and closes. The first reason given stays; safe to call again. Takes at
  /// most about a second. `text` may be null.
  void close(part::EndReason reason, std::uint32_t detail = 0, const char* text = nullptr);

  /// The same without waiting for the writing thread: for callers that must not stand still.
  void close_soon(part::EndReason reason);

  /// Forgets the file without writing to it: for the child of a fork.
  void abandon();

  static constexpr std::size_t kBufferBytes = 64 * 1024;
  static constexpr std::size_t kBuffers = 256;

 private:
  bool is_open_ = false;
  struct State;  // mapped by open(), never freed: late calls of the host may still look at it
  State* state_ = nullptr;
  /// What `work` says of the state under its lock; false or 0 where the part is not open or this thread is inside.
  template <class Work>
  auto locked(Work work) -> decltype(work(*state_));
};

}  // namespace corun::guest
