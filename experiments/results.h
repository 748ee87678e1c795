#pragma once

#include <memory>
#include <string>

#include "experiments/runner.h"

namespace corun {

/// Schema of the results file (`PRAGMA user_version`); docs/metrics.md describes its columns, which are a promise.
inline constexpr int kResultsVersion = 2;

/// Writes the results of an experiment into one SQLite file, a transaction for each run, so that what is written
/// survives whatever ends the program. The same plan gives the same rows in the same order, but for `runs.wall_time_s`.
class ResultsWriter {
 public:
  /// Makes the file and the folder it lies in. An existing file is refused, or replaced if `overwrite`; only a results
  /// file is ever replaced. Throws Error: kInput for what is wrong with the path, kDevice where writing fails.
  ResultsWriter(const std::string& path, bool overwrite);
  ~ResultsWriter();

  void write(const Experiment& experiment, const FileHashes& hashes, const RunSpec& spec, const RunOutcome& outcome);
  /// Ends with one file and nothing beside it.
  void close();

 private:
  class Store;
  std::unique_ptr<Store> store_;
};

/// Throws Error(kInput) where ResultsWriter would refuse `path`; changes nothing.
void check_output(const std::string& path, bool overwrite);

}  // namespace corun
