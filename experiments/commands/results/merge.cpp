#include "experiments/results/merge.h"

#include <fmt/ranges.h>

#include "experiments/base/json.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/counted.h"
#include "experiments/commands/output_file.h"
#include "experiments/results/stored_runs.h"
#include "traces/base/streams.h"

namespace corun {

namespace {

/// Results files of one plan, to be one.
struct MergeOptions {
  std::vector<std::string> inputs;
  std::string output;
  bool overwrite = false;
};

Merged merge_to(const MergeOptions& options) {
  if (options.output != kStandardOutput) return merge_results(options.inputs, options.output, options.overwrite);
  Merged merged;
  write_output_by([&](const std::string& name) { merged = merge_results(options.inputs, name, false); });
  return merged;
}

int merge_command(const CommonOptions& common, const MergeOptions& options) {
  check_output(common, options.output);
  const Merged merged = merge_to(options);
  const std::size_t missing = merged.planned - merged.written;
  if (common.json) {
    Json json;
    json.object().field("schema_version", 1).field("output", options.output).field("runs", merged.written);
    json.field("repeated", merged.repeated).field("missing", missing).field("hash", results_hash(options.output)).end();
    print_out("{}\n", json.text());
  } else {
    const bool is_standard = options.output == kStandardOutput;
    const std::string said = fmt::format("{}: {} of {}\n", is_standard ? "standard output" : printable(options.output),
                                         merged.written, counted(merged.planned, "run"));
    if (is_standard) put_err(said);
    if (!is_standard) put_out(said);
  }
  if (merged.repeated > 0) print_err("{} in more than one file, with the same rows\n", counted(merged.repeated, "run"));
  if (missing == 0) return 0;
  print_err("missing: {}", counted(missing, "run"));
  if (!merged.missing_shards.empty()) print_err("; no file is of shard {}", fmt::join(merged.missing_shards, ", "));
  print_err("\n");
  return kExitSomeFailed;
}

}  // namespace

void add_merge(Commands& commands) {
  auto [command, options] = commands.add("merge", "Merge results files of one sweep", &merge_command);
  command.option("RESULTS", &options.inputs, "Results files (SQLite)").required();
  command.option("-o,--output", &options.output, "Results file to write; - for stdout").required();
  command.flag("-f,--force", &options.overwrite, "Replace an existing results file");
}

}  // namespace corun
