#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tracer/record/parts_folder.h"
#include "traces/parts/merge.h"

namespace corun::record {

/// What the recorder remembers in addition to the parts: names in PartsFolder::remember().
inline constexpr const char* kFirstFrame = "first_frame";
inline constexpr const char* kLastFrame = "last_frame";
inline constexpr const char* kUntracedFrom =
    "bare_from_ns";                                  ///< instant at which the delay of the untraced pass was over
inline constexpr const char* kMemoryOn = "memory:";  ///< and a GPU's uuid: bytes that came into use there
inline constexpr const char* kNeighboursOn = "neighbours:";  ///< and a GPU's uuid: foreign programs worked there
inline constexpr const char* kWorkedOn = "worked:";          ///< and a GPU's uuid: programs of the recording did

/// A process of a session.
struct RecordedProcess {
  std::int64_t process = 0;
  std::string program;
  friend bool operator==(const RecordedProcess&, const RecordedProcess&) = default;
};

/// What the parts of a session have become.
struct Session {
  bool has_anything = false;  ///< false: `timeline` is empty, and `report.notes` say why as far as the parts show
  Timeline timeline;
  MergeReport report;
  std::vector<RecordedProcess> processes;
  std::vector<std::int64_t> still_writing;  ///< processes that live and have not ended their parts
  bool has_unreadable = false;              ///< parts with something in them could not be read: keep them
};

/// Reads the parts of a session and merges them. A part that cannot be read is a note, and an unended one of a program
/// that lives is another. Where no frame of those wanted is there, there is nothing.
/// `power_between` and `host_between` tell what was seen of power and the CPU meanwhile; nothing does where the
/// recorder was killed.
Session merge_session(const PartsFolder& folder, const PowerBetween& power_between = {},
                      const HostBetween& host_between = {});

}  // namespace corun::record
