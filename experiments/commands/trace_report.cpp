#include "experiments/commands/trace_report.h"

#include <algorithm>
#include <map>

#include "experiments/base/terminal.h"
#include "experiments/commands/game_report.h"
#include "experiments/commands/program_report.h"
#include "experiments/commands/trace_gpus.h"
#include "traces/base/units.h"
#include "traces/host_use.h"

namespace corun {

namespace {

struct NamedFlag {
  const char* name;
  bool Fidelity::*flag;
  const char* meaning;
};

constexpr NamedFlag kFlags[] = {
    {"has_durations", &Fidelity::has_durations, "device times are measured"},
    {"has_calls", &Fidelity::has_calls, "host calls are recorded"},
    {"has_frames", &Fidelity::has_frames, "frames are recorded"},
    {"per_frame", &Fidelity::per_frame, "every frame is there"},
    {"integer_microseconds", &Fidelity::integer_microseconds, "times are whole microseconds"},
    {"has_times", &Fidelity::has_times, "start times are recorded"},
    {"host_gaps_inflated", &Fidelity::host_gaps_inflated, "the profiler slowed the host down: state a `solo_rate`"},
    {"co_run", &Fidelity::co_run, "other programs used the device"},
};

std::string fidelity_text(const Fidelity& fidelity) {
  std::vector<std::string> facts;
  for (const NamedFlag& flag : kFlags) {
    const bool is_expected = flag.flag == &Fidelity::per_frame && !fidelity.has_frames;
    if (fidelity.*flag.flag && !is_expected) facts.emplace_back(flag.meaning);
  }
  return fmt::format("{}", fmt::join(facts, "; "));
}

/// The names that take most device time.
std::string top_names(const Timeline& timeline) {
  std::map<std::uint32_t, std::pair<std::int64_t, std::uint64_t>> by_name;
  std::int64_t total = 0;
  for (const OpRecord& op : timeline.ops()) {
    auto& [duration, count] = by_name[op.name.value];
    duration += op.duration_ns;
    total += op.duration_ns;
    ++count;
  }
  std::vector<std::pair<std::uint32_t, std::pair<std::int64_t, std::uint64_t>>> sorted(by_name.begin(), by_name.end());
  std::ranges::stable_sort(sorted, std::greater<>(), [](const auto& entry) { return entry.second.first; });
  if (sorted.size() > 5) sorted.resize(5);
  std::string text;
  for (const auto& [name, figures] : sorted) {
    std::string label = printable(timeline.text(StringId{name}));
    if (label.size() > 80) label = label.substr(0, 77) + "...";
    const double share = total > 0 ? 100.0 * static_cast<double>(figures.first) / static_cast<double>(total) : 0;
    text += fmt::format("  {:>5.1f} %  {:>8}x  {}\n", share, figures.second, label);
  }
  return text;
}

std::string programs_text(const Provenance& from) {
  std::vector<std::string> programs;
  for (const auto& [process, name] : from.programs) programs.push_back(fmt::format("{} ({})", name, process));
  return fmt::format("{}", fmt::join(programs, ", "));
}

std::string rate_text(const UntracedRate& rate) {
  return fmt::format("{:.6g} launches/s in an untraced pass of {} (jitter {:.1f} %)", rate.launches_per_s(),
                     format_duration(Duration{rate.duration_ns}), rate.jitter_ppm * 1e-4);
}

void add_host_use(Json& json, const Provenance& from) {
  json.key("host_use").array();
  for (const HostUse& use : from.host_use)
    json.object()
        .field("process", use.process)
        .field("thread", use.thread)
        .field("span_ns", use.span_ns)
        .field("running_ns", use.running_ns)
        .field("waiting_ns", use.waiting_ns)
        .end();
  json.end();
}

std::string device_name(const Timeline& timeline) {
  const auto& devices = timeline.provenance().devices;
  return devices.empty() ? "" : devices.front().name;
}

}  // namespace

std::string trace_report(const Timeline& timeline, const std::string& path) {
  const TimelineSummary summary = summarize(timeline);
  const Provenance& from = timeline.provenance();
  std::string text = fact_line("trace", path);
  text += fact_line("format", from.source_format + (from.source_version.empty() ? "" : " " + from.source_version));
  text += fact_line("contents", fmt::format("{} kernels, {} memops, {} frames, {} streams", summary.kernels,
                                            summary.memops, summary.frames, summary.streams));
  text += fact_line("span", format_duration(Duration{summary.span_ns}));
  text += gpu_report(timeline);
  if (!timeline.draws().empty())
    text += fact_line("draws", fmt::format("{}, of frames whose composition was sampled", timeline.draws().size()));
  text += fact_line("fidelity", fidelity_text(timeline.fidelity()));
  text += program_report(timeline);
  if (!from.programs.empty()) text += fact_line("programs", programs_text(from));
  if (from.untraced_rate) text += fact_line("untraced", rate_text(*from.untraced_rate));
  if (!timeline.ops().empty() && !timeline.fidelity().has_frames && !from.untraced_rate)
    text +=
        fact_line("to measure",
                  "its rate alone without a recorder: state it as `solo_rate`, or record again with `simtrace record "
                  "--rate-pass -o x.corun -- COMMAND`; without it, rates are a range");
  if (const std::optional<HostUse> host = busiest_thread(from)) text += fact_line("host", to_text(*host));
  if (from.tracer_ns > 0)
    text += fact_line("tracer", format_duration(Duration{from.tracer_ns}) + " of host time, as measured by itself");
  for (const auto& [label, words] : game_report(timeline)) text += fact_line(label, words);
  for (const std::string& note : from.notes) text += fact_line("note", note);
  for (const auto& [reason, count] : from.skipped) text += fact_line("skipped", fmt::format("{} x {}", count, reason));
  for (const std::string& example : from.skipped_examples) text += fact_line("", example);
  if (!timeline.ops().empty()) text += "most device time\n" + top_names(timeline);
  return text;
}

void add_trace_report(Json& json, const Timeline& timeline, const std::string& output) {
  const TimelineSummary summary = summarize(timeline);
  const Provenance& from = timeline.provenance();
  json.object().field("schema_version", 1).field("format", from.source_format).field("version", from.source_version);
  json.field("source_file", from.source_file)
      .field("content_hash", from.content_hash)
      .field("device", device_name(timeline));
  json.field("kernels", summary.kernels).field("memops", summary.memops).field("frames", summary.frames);
  json.field("draws", timeline.draws().size());
  json.field("streams", summary.streams).field("span_ns", summary.span_ns).field("busy_ns", summary.busy_ns);
  json.key("skipped").object();
  for (const auto& [reason, count] : from.skipped) json.field(reason, count);
  json.end().key("skipped_examples").array();
  for (const std::string& example : from.skipped_examples) json.value(example);
  json.end();
  add_gpu_report(json, timeline);
  add_host_use(json, from);
  json.key("fidelity").object();
  for (const NamedFlag& flag : kFlags) json.field(flag.name, timeline.fidelity().*flag.flag);
  json.end();
  add_game_report(json, timeline);
  json.key("notes").array();
  for (const std::string& note : from.notes) json.value(note);
  json.end().key("programs").object();
  for (const auto& [process, name] : from.programs) json.field(fmt::format("{}", process), name);
  json.end().field("tracer_ns", from.tracer_ns);
  if (from.untraced_rate) {
    json.key("untraced_rate").object().field("launches", from.untraced_rate->launches);
    json.field("duration_ns", from.untraced_rate->duration_ns)
        .field("jitter_ppm", from.untraced_rate->jitter_ppm)
        .end();
  }
  add_program_report(json, timeline);
  if (!output.empty()) json.field("output", output);
  json.end();
}

}  // namespace corun
