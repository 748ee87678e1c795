#include "experiments/results/merge.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "experiments/results/file.h"
#include "experiments/results/results.h"

namespace corun {

namespace {

/// A results file, at the run that comes next in it.
struct Input {
  std::string path;
  std::unique_ptr<SQLite::Database> results;
  StoredPlan plan;
  std::unique_ptr<StoredRuns> runs;
  std::optional<StoredRun> next;
};

Input open_input(const std::string& path) {
  Input input{path, open_results(path), {}, {}, {}};
  input.plan = stored_plan(*input.results);
  if (input.plan.empty())
    throw Error(ErrorKind::kInput, {path}, "these results were written without a plan",
                "runs of this version and of `simcli sweep --shard` can be merged");
  input.runs = std::make_unique<StoredRuns>(*input.results);
  input.next = input.runs->next();
  return input;
}

void check_same_plan(const Input& first, const Input& other) {
  const std::string what = difference(first.plan, other.plan);
  if (!what.empty())
    throw Error(ErrorKind::kInput, {other.path}, fmt::format("not of the plan of {}: {}", first.path, what),
                "shards of one experiment are merged, run with the same options by the same version");
}

/// The run of that id, of whichever files have it next; nullopt if none.
std::optional<StoredRun> take(const std::string& id, std::vector<Input>& inputs, Merged& merged) {
  std::optional<StoredRun> found;
  std::string where;
  for (Input& input : inputs) {
    if (!input.next || input.next->id != id) continue;
    if (found && !found->is_same(*input.next))
      throw Error(ErrorKind::kInput, {input.path},
                  fmt::format("run {} has other rows here than in {}", id.substr(0, 12), where),
                  "one of the files was changed, or written by another build of the same version");
    merged.repeated += found ? 1 : 0;
    where = input.path;
    found = std::exchange(input.next, input.runs->next());
  }
  return found;
}

std::vector<Input> open_inputs(const std::vector<std::string>& paths) {
  std::vector<Input> inputs;
  for (const std::string& path : paths) inputs.push_back(open_input(path));
  return inputs;
}

/// Goes through the runs of all files in the order of the plan.
template <class Write>
Merged walk(const StoredPlan& plan, std::vector<Input> inputs, Write write) {
  Merged merged;
  for (const std::string& id : plan.runs()) {
    ++merged.planned;
    const auto run = take(id, inputs, merged);
    if (!run) continue;
    write(*run);
    ++merged.written;
  }
  return merged;
}

std::vector<std::string> missing_shards(const std::vector<Input>& inputs) {
  std::vector<std::string> missing;
  const std::optional<Shard> any = inputs[0].plan.shard();
  if (!any) return missing;
  for (Shard shard{1, any->count}; shard.index <= shard.count; ++shard.index)
    if (std::ranges::none_of(inputs, [&](const Input& input) {
          return !input.plan.shard() || input.plan.shard()->to_string() == shard.to_string();
        }))
      missing.push_back(shard.to_string());
  return missing;
}

}  // namespace

Merged merge_results(const std::vector<std::string>& inputs, const std::string& output, bool overwrite) {
  const IfExists if_exists = overwrite ? IfExists::kReplace : IfExists::kFail;
  check_output(output, if_exists);
  try {
    const std::vector<Input> files = open_inputs(inputs);
    for (const Input& file : files) check_same_plan(files[0], file);
    for (const std::string& path : inputs)
      if (std::filesystem::exists(output) && std::filesystem::equivalent(path, output))
        throw_input({output}, "the merged results cannot go into one of the files that are merged");
    StoredPlan plan = files[0].plan;
    plan.properties.erase("shard");
    walk(plan, open_inputs(inputs), [](const StoredRun&) {});  // before anything is replaced
    ResultsWriter writer(output, if_exists, plan);
    Merged merged = walk(plan, open_inputs(inputs), [&](const StoredRun& run) { writer.write(run); });
    merged.missing_shards = missing_shards(files);
    writer.close();
    return merged;
  } catch (const SQLite::Exception& failure) {
    throw Error(ErrorKind::kInput, fmt::format("reading results: {}", reason(failure)));
  }
}

}  // namespace corun
