#include "experiments/commands/trace_gpus.h"

#include <fmt/format.h>

#include <span>

#include "experiments/base/terminal.h"
#include "traces/base/units.h"
#include "traces/counters/bound_by.h"
#include "traces/counters/named_parts.h"
#include "traces/gpus.h"

namespace corun {

namespace {

std::string text_of(const CapturedDevice& device) {
  std::string text = device.name.empty() ? "not stated" : device.name;
  if (device.sm_count > 0) text += fmt::format(", {} SMs", device.sm_count);
  if (device.memory_bytes > 0) text += fmt::format(", {}", format_size(device.memory_bytes));
  return text;
}

std::string busy_text(std::int64_t busy_ns, std::int64_t span_ns) {
  const double percent = span_ns > 0 ? 100.0 * static_cast<double>(busy_ns) / static_cast<double>(span_ns) : 0;
  return fmt::format("{} ({:.1f} % of the span)", format_duration(Duration{busy_ns}), percent);
}

std::string busy_line(const Timeline& timeline, const TimelineSummary& summary) {
  const bool is_known = summary.busy_ns > 0 || !timeline.ops().empty();
  return fact_line("busy", is_known ? busy_text(summary.busy_ns, summary.span_ns) : "not recorded");
}

std::string prefix_of(std::uint32_t gpu, bool names_gpu) { return names_gpu ? fmt::format("GPU {}: ", gpu) : ""; }

std::string memory_line(const Provenance& from, std::uint32_t gpu, bool names_gpu) {
  const GpuMemory memory = memory_of(from, gpu);
  if (memory.bytes == 0) return "";
  return fact_line("memory", fmt::format("{}{} at most at a time, {}", prefix_of(gpu, names_gpu),
                                         format_size(memory.bytes), to_string(memory.source)));
}

std::string power_line(const Provenance& from, std::uint32_t gpu, bool names_gpu) {
  const PowerMean power = power_of(from, gpu);
  if (power.watts == 0) return "";
  const std::string clock = power.sm_mhz > 0 ? fmt::format(" at {:.0f} MHz", power.sm_mhz) : "";
  return fact_line("power", fmt::format("{}{:.0f} W{} on average, what idles included", prefix_of(gpu, names_gpu),
                                        power.watts, clock));
}

std::string counters_lines(const Timeline& timeline) {
  if (timeline.counters().empty()) return "";
  const BoundBy bound = bound_by(timeline);
  return fact_line("bound by", to_text(bound)) + fact_line("mean use", to_text(bound.mean));
}

void add_parts(Json& json, std::span<const NamedPart> parts) {
  json.object();
  for (const NamedPart& part : parts) json.field(part.name, part.part);
  json.end();
}

void add_counters(Json& json, const Timeline& timeline) {
  if (timeline.counters().empty()) return;
  const BoundBy bound = bound_by(timeline);
  json.key("counters").object().field("kernels", bound.kernels).field("counted", bound.counted);
  add_parts(json.key("bound_by"), named_parts(bound));
  add_parts(json.key("mean_use"), named_parts(bound.mean));
  json.end();
}

/// Part of the device time in kernels that wait for other GPUs.
double collective_ratio(const Timeline& timeline) {
  std::vector<bool> is_one;
  for (const std::string& name : timeline.strings()) is_one.push_back(is_collective(name));
  double collective_ns = 0, all_ns = 0;
  for (const OpRecord& op : timeline.ops()) {
    all_ns += static_cast<double>(op.duration_ns);
    const bool counts = op.kind == OpKind::kKernel && !op.name.is_none() && is_one[op.name.value];
    if (counts) collective_ns += static_cast<double>(op.duration_ns);
  }
  return all_ns > 0 ? collective_ns / all_ns : 0;
}

}  // namespace

std::string gpu_report(const Timeline& timeline) {
  const TimelineSummary summary = summarize(timeline);
  const std::vector<GpuUse> gpus = gpus_of(timeline);
  const Provenance& from = timeline.provenance();
  std::string text;
  if (gpus.size() < 2) {
    text += fact_line("device", text_of(device_of(from, gpus.empty() ? 0 : gpus.front().gpu)));
    text += busy_line(timeline, summary);
  }
  for (const GpuUse& use : gpus)
    if (gpus.size() > 1)
      text += fact_line(fmt::format("GPU {}", use.gpu).c_str(),
                        fmt::format("{}: {} operations, busy {}", text_of(device_of(from, use.gpu)), use.ops,
                                    busy_text(use.busy_ns, summary.span_ns)));
  if (gpus.size() > 1)
    text += fact_line("", fmt::format("a client replays one of them: state `gpu: {}` or another", gpus.front().gpu));
  for (const auto line : {memory_line, power_line}) {
    for (const GpuUse& use : gpus) text += line(from, use.gpu, gpus.size() > 1);
    if (gpus.empty()) text += line(from, 0, false);
  }
  text += counters_lines(timeline);
  if (const double ratio = collective_ratio(timeline); ratio > 0)
    text += fact_line("collectives",
                      fmt::format("{:.1f} % of the device time is in kernels that wait for other GPUs: replay "
                                  "needs `accept: [collectives]`",
                                  100 * ratio));
  return text;
}

void add_gpu_report(Json& json, const Timeline& timeline) {
  json.key("gpus").array();
  for (const GpuUse& use : gpus_of(timeline)) {
    const CapturedDevice device = device_of(timeline.provenance(), use.gpu);
    json.object().field("gpu", use.gpu).field("device", device.name).field("sm_count", device.sm_count);
    json.field("memory_bytes", device.memory_bytes).field("operations", use.ops).field("busy_ns", use.busy_ns);
    json.field("peak_memory_bytes", memory_of(timeline.provenance(), use.gpu).bytes);
    const PowerMean power = power_of(timeline.provenance(), use.gpu);
    if (power.watts > 0) json.field("mean_power_w", power.watts).field("sm_clock_mhz", power.sm_mhz);
    json.end();
  }
  json.end().field("collective_ratio", collective_ratio(timeline));
  add_counters(json, timeline);
}

}  // namespace corun
