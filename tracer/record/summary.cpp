#include "tracer/record/summary.h"

#include <algorithm>
#include <map>

#include "tracer/record/host/terminal.h"
#include "traces/host_use.h"
#include "traces/timeline.h"

namespace corun::record {

namespace {

constexpr double kNanosecond = 1e-9;

/// What the lines and the JSON are made from.
struct Figures {
  std::uint64_t kernels = 0, copies = 0, frames = 0;
  std::int64_t span_ns = 0, busy_ns = 0;
  double frames_per_second = 0;  ///< over all swap chains
};

struct Extent {
  std::int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
  std::uint64_t count = 0;

  void add(std::int64_t begin, std::int64_t end) {
    begin_ns = std::min(begin_ns, begin);
    end_ns = std::max(end_ns, end);
    ++count;
  }
  std::int64_t length_ns() const { return count == 0 ? 0 : end_ns - begin_ns; }
};

/// Operations are in order of their start.
std::int64_t union_of(const std::vector<OpRecord>& ops) {
  std::int64_t busy_ns = 0, until_ns = INT64_MIN;
  for (const OpRecord& op : ops) {
    const std::int64_t end_ns = op.start_ns + op.duration_ns;
    busy_ns += std::max<std::int64_t>(0, end_ns - std::max(op.start_ns, until_ns));
    until_ns = std::max(until_ns, end_ns);
  }
  return busy_ns;
}

Figures figures_of(const Timeline& timeline) {
  const TimelineSummary counts = summarize(timeline);
  Figures figures{.kernels = counts.kernels, .copies = counts.memops, .frames = counts.frames};
  Extent whole;
  std::map<std::uint32_t, Extent> swapchains;
  for (const OpRecord& op : timeline.ops()) whole.add(op.start_ns, op.start_ns + op.duration_ns);
  for (const FrameRecord& frame : timeline.frames()) {
    whole.add(frame.present_ns, frame.present_ns);
    swapchains[frame.swapchain].add(frame.present_ns, frame.present_ns);
  }
  figures.span_ns = whole.length_ns();
  figures.busy_ns = union_of(timeline.ops());
  for (const auto& [number, frames] : swapchains)
    if (frames.length_ns() > 0)
      figures.frames_per_second +=
          static_cast<double>(frames.count - 1) / (static_cast<double>(frames.length_ns()) * kNanosecond);
  return figures;
}

double percent(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string line(std::string_view name, const std::string& text) { return fmt::format("  {:<12} {}\n", name, text); }

std::string programs_text(const std::vector<RecordedProcess>& processes) {
  std::string text;
  for (const RecordedProcess& process : processes)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", printable(process.program), process.process);
  return text;
}

std::string untraced_pass_text(const Summary& summary) {
  std::string text = fmt::format("{:.2f} s, with the recording {:.2f} s", *summary.untraced_seconds, *summary.seconds);
  const auto& rate = summary.session.timeline.provenance().untraced_rate;
  if (rate && rate->duration_ns > 0)
    text += fmt::format("; {:.0f} launches/s without it",
                        static_cast<double>(rate->launches) / (static_cast<double>(rate->duration_ns) * kNanosecond));
  return text;
}

}  // namespace

std::string summary_text(const Summary& summary) {
  const Session& session = summary.session;
  const Figures figures = figures_of(session.timeline);
  std::string text = fmt::format("{}  {}\n", printable(summary.output), bytes_text(summary.bytes));
  text += line("program", programs_text(session.processes));
  text += line("span", fmt::format("{:.3f} s", static_cast<double>(figures.span_ns) * kNanosecond));
  if (figures.kernels + figures.copies > 0)
    text += line("kernels", fmt::format("{}, and {} copies and memsets", figures.kernels, figures.copies));
  if (figures.frames > 0)
    text += line("frames", fmt::format("{}, {:.1f} fps", figures.frames, figures.frames_per_second));
  text += line("GPU busy", fmt::format("{:.1f} %", percent(figures.busy_ns, figures.span_ns)));
  text += line("lost", fmt::format("{} records", session.report.lost_records));
  text += line("recording", fmt::format("took {:.1f} ms of the program's time, {:.2f} % of the span",
                                        static_cast<double>(session.report.tracer_ns) * 1e-6,
                                        percent(session.report.tracer_ns, figures.span_ns)));
  if (const std::optional<HostUse> host = busiest_thread(session.timeline.provenance()))
    text += line("host", to_text(*host) + (lacked_cores(*host) ? ": other programs held it up" : ""));
  if (summary.untraced_seconds && summary.seconds) text += line("untraced", untraced_pass_text(summary));
  for (const std::string& note : session.report.notes) text += line("note", printable(note));
  return text;
}

std::string summary_json(const Summary& summary) {
  const Session& session = summary.session;
  const Figures figures = figures_of(session.timeline);
  std::string programs, notes;
  for (const RecordedProcess& process : session.processes)
    programs += fmt::format("{}{{\"process\":{},\"program\":{}}}", programs.empty() ? "" : ",", process.process,
                            json_text(process.program));
  for (const auto* some : {&session.report.notes, &summary.notes})
    for (const std::string& note : *some) notes += (notes.empty() ? "" : ",") + json_text(note);
  std::string text = fmt::format("{{\"schema_version\":1,\"output\":{},\"bytes\":{},\"programs\":[{}]",
                                 summary.output.empty() ? "null" : json_text(summary.output), summary.bytes, programs);
  text += fmt::format(",\"span_ns\":{},\"gpu_busy_ns\":{},\"kernels\":{},\"copies\":{},\"frames\":{}", figures.span_ns,
                      figures.busy_ns, figures.kernels, figures.copies, figures.frames);
  text += fmt::format(",\"frames_per_second\":{:.3f},\"lost_records\":{},\"tracer_ns\":{}", figures.frames_per_second,
                      session.report.lost_records, session.report.tracer_ns);
  if (summary.seconds) text += fmt::format(",\"seconds\":{:.3f}", *summary.seconds);
  if (summary.untraced_seconds) text += fmt::format(",\"bare_seconds\":{:.3f}", *summary.untraced_seconds);
  if (const auto& rate = session.timeline.provenance().untraced_rate)
    text += fmt::format(",\"untraced_rate\":{{\"launches\":{},\"duration_ns\":{},\"jitter_ppm\":{}}}", rate->launches,
                        rate->duration_ns, rate->jitter_ppm);
  return text + fmt::format(",\"co_run\":{},\"notes\":[{}]}}\n", session.timeline.fidelity().co_run, notes);
}

std::string kept_text(const PartsFolder& folder) {
  return fmt::format("{} is kept: it holds parts that could not be read", folder.path());
}

}  // namespace corun::record
