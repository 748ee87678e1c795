#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "traces/base/error.h"
#include "traces/reader.h"
#include "traces/timeline.h"

namespace corun {

inline const TraceImporter& importer(std::string_view name) {
  for (const auto& candidate : importers()) {
    if (candidate->name() == name) return *candidate;
  }
  throw std::logic_error("no such importer");
}

inline SourceFile source_of(std::string content, std::string path = "capture.txt") {
  return SourceFile{.path = std::move(path), .bytes = std::move(content), .hash = "", .was_wrapped = false};
}

/// Imports text as if it were a file, by the importer of that name.
inline Timeline import_text(std::string_view format, std::string content) {
  return importer(format).read(source_of(std::move(content)));
}

/// Name of the importer that is surest of the text; "" if none is.
inline std::string sniffed(std::string content) {
  const SourceFile source = source_of(std::move(content));
  std::string best;
  int confidence = 0;
  for (const auto& candidate : importers()) {
    if (const int now = candidate->sniff(source); now > confidence) {
      confidence = now;
      best = candidate->name();
    }
  }
  return best;
}

/// Message of the error that reading the text throws; "" if it throws none.
inline std::string import_error(std::string_view format, std::string content) {
  try {
    import_text(format, std::move(content));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return {};
}

inline std::uint64_t skipped(const Timeline& timeline) {
  std::uint64_t count = 0;
  for (const auto& [reason, times] : timeline.provenance().skipped) count += times;
  return count;
}

inline bool notes_mention(const Timeline& timeline, std::string_view words) {
  const auto& notes = timeline.provenance().notes;
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

inline std::uint64_t count_calls(const Timeline& timeline, CallKind kind) {
  return static_cast<std::uint64_t>(std::count_if(timeline.calls().begin(), timeline.calls().end(),
                                                  [&](const CallRecord& call) { return call.kind == kind; }));
}

inline std::string shared_file(std::string_view name) {
  return std::string{CORUN_SHARED_DIR} + "/data/" + std::string{name};
}

}  // namespace corun

/// Skips a test that reads a real capture where the folder of captures is absent.
#define CORUN_NEEDS_SHARED(name) \
  if (!std::filesystem::exists(::corun::shared_file(name))) GTEST_SKIP() << "no shared capture " << (name)
