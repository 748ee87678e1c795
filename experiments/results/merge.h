#pragma once

#include <string>
#include <vector>

namespace corun {

/// What a merge found.
struct Merged {
  std::size_t planned = 0;  ///< runs
  std::size_t written = 0;
  std::size_t repeated = 0;                 ///< found in more than one file, with the same rows
  std::vector<std::string> missing_shards;  ///< "2/3": no file is of that shard
};

/// Puts the runs of several results files of one plan into one file, in the order of the plan, each once. Throws
/// Error(kInput) where the files are not of one plan, or one run has other rows in another file.
Merged merge_results(const std::vector<std::string>& inputs, const std::string& output, bool overwrite);

}  // namespace corun
