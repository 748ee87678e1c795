#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace SQLite {
class Database;
class Exception;
}  // namespace SQLite

namespace corun {

/// Opens a results file to read it; it may be hostile: nothing in it is run, nothing outside of it is reached. Every
/// statement but SELECT, VALUES, WITH, EXPLAIN and the pragmas that list tables and columns is refused, and so are
/// ATTACH, extensions, and functions with effects in views of the file.
///
/// What has the name of a table of ours is a plain table, without columns that are computed. A statement ends with an
/// error once it takes more steps than one of ours on a file of this size can.
///
/// Files of earlier schemas and files that a run is still writing are read. One thread at a time. Throws Error(kInput)
/// where there is no such file, it holds something else than results, or its schema is newer than kResultsVersion.
std::unique_ptr<SQLite::Database> open_results(const std::string& path);

/// What SQLite has found wrong, for people.
std::string reason(const SQLite::Exception& failure);

/// Calls `read`. What SQLite finds wrong meanwhile is thrown as Error(kInput) of this file.
void reading(const std::string& path, const std::function<void()>& read);

/// For statements of the user's, who may wait as long as they like.
void unbound_steps(SQLite::Database& results);

/// Whether its first bytes are those of a results file.
bool holds_results(const std::string& path);

/// Revision of what the simulations in it compute (kResultsRevision), at most 20 bytes of text; "0" of files from
/// before there were revisions.
std::string results_revision(SQLite::Database& results);

/// Names of a table's columns, in order; empty where there is no such table, since earlier schemas have fewer.
std::vector<std::string> columns_of(SQLite::Database& results, const std::string& table);

}  // namespace corun
