#pragma once

#include <memory>
#include <string>
#include <vector>

#include "python/columns.h"
#include "traces/timeline.h"

namespace corun {

/// The rows of a capture as columns; times are integer nanoseconds from the timeline's origin. What a source does not
/// state is missing, not -1 or 0.
std::shared_ptr<const Table> operations_table(const Timeline& timeline);
std::shared_ptr<const Table> calls_table(const Timeline& timeline);
std::shared_ptr<const Table> frames_table(const Timeline& timeline);
std::shared_ptr<const Table> marks_table(const Timeline& timeline);
std::shared_ptr<const Table> draws_table(const Timeline& timeline);

/// The rows of a query on an SQLite file, which is opened read-only; `parameters` are its ?1, ?2, ... A column is of
/// integers, of reals or of text, as its values are; all missing makes it one of reals. Throws Error(kInput).
std::shared_ptr<const Table> query_table(const std::string& path, const std::string& query,
                                         const std::vector<std::string>& parameters);

}  // namespace corun
