#pragma once

#include <string>
#include <vector>

#include "traces/exporters/tracks.h"

namespace SQLite {
class Database;
}

namespace corun {

/// A run of a results file.
struct RunName {
  std::string id, scenario, policy;
  std::int64_t seed = 0;
  std::string text() const;  ///< "pair.pilotfish.1"
};

/// The run that `wanted` names: the beginning of its id, "policy", "scenario.policy" or "scenario.policy.seed"; of
/// several the first. "" names the only run. Throws Error(kInput) with the names there are.
RunName find_run(SQLite::Database& results, const std::string& path, const std::string& wanted);

/// The tracks of a run, as far as it was recorded, a process for each client: its frames from present to present, the
/// device's span of each with an arrow from its frame, its operations by stream, the stretches in which its gate held
/// it back by the rule's name, and what the policy decided about it, as instants.
class RunTracks : public Tracks {
 public:
  RunTracks(SQLite::Database& results, const RunName& run);

 private:
  std::uint64_t process_of(const std::string& client);
  Track& track(const std::string& client, const std::string& name);
  void add_frames(SQLite::Database& results, const RunName& run);
  void add_operations(SQLite::Database& results, const RunName& run);
  void add_holds(SQLite::Database& results, const RunName& run);
  void add_end_of_holds(SQLite::Database& results, const RunName& run);
  void add_decisions(SQLite::Database& results, const RunName& run);
  void add_losses(SQLite::Database& results, const RunName& run);

  std::map<std::pair<std::string, std::string>, std::size_t> track_of_;  // client, name
  std::map<std::string, std::uint64_t> process_of_;
};

}  // namespace corun
