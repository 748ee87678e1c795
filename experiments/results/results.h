#pragma once

#include <map>
#include <memory>
#include <string>

#include "experiments/results/schema.h"
#include "experiments/results/stored_runs.h"
#include "experiments/run/runner.h"

namespace corun {

/// What happens where the results file exists.
enum class IfExists : std::uint8_t {
  kFail,     ///< Error(kInput)
  kReplace,  ///< Error(kInput) where it is no results file
  kResume,   ///< continue it; Error(kInput) where its plan is another one
};

/// Writes the results of an experiment into one SQLite file, a transaction for each run, so that what is written
/// survives whatever ends the program. A run that took a tenth of a second or longer is on the disk when `write`
/// returns, and shorter ones within a second of writing, so that lost power costs no more. The same plan gives the same
/// rows in the same order, but for `runs.wall_time_s`.
///
/// One writer at a time: a file that another process writes is refused. Readers see what is there.
class ResultsWriter {
 public:
  /// Makes the file and the folder it lies in. Throws Error: kInput for what is wrong with the path, kDevice where
  /// writing fails.
  ResultsWriter(const std::string& path, bool overwrite);
  /// The same with the plan in front, by which a file can be resumed and merged.
  ResultsWriter(const std::string& path, IfExists if_exists, const StoredPlan& plan);
  ~ResultsWriter();
  ResultsWriter(ResultsWriter&&) noexcept;

  /// The runs that a resumed file holds, by id: failed runs included, those that ran out of memory left out. This and
  /// what follows throws Error(kDevice, path) where the disk fails; what had been written before stays whole.
  std::map<std::string, RunOutcome> completed_runs();
  /// Number of runs of a resumed file that ran out of memory; they are to be done again.
  std::size_t retried() const;

  void write(const Experiment& experiment, const FileHashes& hashes, const RunSpec& spec, const RunOutcome& outcome);
  void write(const StoredRun& run);
  /// Ends with one file and nothing beside it; where all planned runs are there, their hash is a property.
  void close();

 private:
  class Store;
  template <class Work>
  auto on_disk(const char* doing, Work work);

  std::string path_;
  std::unique_ptr<Store> store_;
};

/// Throws Error(kInput) where ResultsWriter would refuse `path` whatever is to be written; changes nothing.
void check_output(const std::string& path, IfExists if_exists);
void check_output(const std::string& path, bool overwrite);

}  // namespace corun
