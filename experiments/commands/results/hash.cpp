#include <fmt/format.h>

#include "experiments/base/json.h"
#include "experiments/commands/commands.h"
#include "experiments/results/stored_runs.h"
#include "traces/base/streams.h"

namespace corun {

namespace {

using HashOptions = std::vector<std::string>;  ///< results files

int hash_command(const CommonOptions& common, const HashOptions& files) {
  Json json;
  json.object().field("schema_version", 1).key("hashes").object();
  for (const std::string& file : files) {
    const std::string hash = results_hash(file);
    json.field(file, hash);
    if (!common.json) print_out("{}  {}\n", hash, printable(file));
  }
  if (common.json) print_out("{}\n", json.end().end().text());
  return 0;
}

}  // namespace

void add_hash(Commands& commands) {
  auto [command, files] = commands.add("hash", "Print a hash of everything in results but wall times", &hash_command);
  command.option("RESULTS", &files, "Results files (SQLite)").required();
}

}  // namespace corun
