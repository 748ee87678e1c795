#include <fmt/format.h>

#include "experiments/base/json.h"
#include "experiments/commands/commands.h"
#include "experiments/results/schema.h"
#include "experiments/run/plan.h"
#include "experiments/run/results_revision.h"
#include "traces/base/streams.h"

namespace corun {

namespace {

struct VersionOptions {};

int version_command(const CommonOptions& common, const VersionOptions&) {
  if (common.json) {
    Json json;
    json.object()
        .field("schema_version", 1)
        .field("version", engine_version())
        .field("results_version", kResultsVersion)
        .field("results_revision", kResultsRevision);
    print_out("{}\n", json.field("policy_abi", PolicyPlugin::kAbi).end().text());
  } else {
    print_out("simcli {} (results file {}, results revision {}, policy interface {})\n", engine_version(),
              kResultsVersion, kResultsRevision, PolicyPlugin::kAbi);
  }
  return 0;
}

}  // namespace

void add_version(Commands& commands) { commands.add("version", "Print the versions", &version_command); }

}  // namespace corun
