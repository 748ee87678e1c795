#include "experiments/commands/results/run_timeline.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "experiments/results/chrome_trace.h"
#include "experiments/results/file.h"
#include "experiments/results/run_tracks.h"
#include "traces/exporters/perfetto.h"
#include "traces/reader.h"

namespace corun {

namespace {

std::string encode(const Tracks& tracks, const std::string& output) {
  if (ending_of(output) == ".json") return encode_chrome(tracks);
  if (ending_of(output) == ".pftrace" || ending_of(output) == ".perfetto-trace") return encode_perfetto(tracks);
  refuse_ending(output, "timelines are written as .pftrace (Perfetto) or .json (Chrome); tables need --table");
}

}  // namespace

void add_timeline_options(Command& command, TimelineChoice& options) {
  command.option("FILE", &options.file, "Capture of any known format, or results file").required();
  command.option("--run", &options.run, "Run of the results: POLICY, SCENARIO.POLICY, SCENARIO.POLICY.SEED or its id");
}

std::string encode_timeline(const TimelineChoice& timeline, const std::string& output) {
  const bool is_of_results = !timeline.run.empty() || holds_results(timeline.file);
  if (!is_of_results) return encode(TimelineTracks(load_timeline(timeline.file)), output);
  const auto results = open_results(timeline.file);
  std::string encoded;
  reading(timeline.file,
          [&] { encoded = encode(RunTracks(*results, find_run(*results, timeline.file, timeline.run)), output); });
  return encoded;
}

std::string ending_of(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending;
}

void refuse_ending(const std::string& path, const char* expected) {
  throw Error(ErrorKind::kInput, {path}, fmt::format("`{}` names no format", ending_of(path)), expected);
}

}  // namespace corun
