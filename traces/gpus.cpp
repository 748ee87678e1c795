#include "traces/gpus.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace corun {

namespace {

/// Operations in order of their starts, counted by GPU.
class GpuUses {
 public:
  void add(std::uint32_t gpu, std::int64_t start_ns, std::int64_t duration_ns) {
    GpuUse& use = uses_[gpu];
    use.gpu = gpu;
    std::int64_t& busy_until_ns = busy_until_ns_.try_emplace(gpu, start_ns).first->second;
    ++use.ops;
    const std::int64_t end_ns = start_ns + duration_ns;
    use.busy_ns += std::max<std::int64_t>(0, end_ns - std::max(start_ns, busy_until_ns));
    busy_until_ns = std::max(busy_until_ns, end_ns);
  }

  std::vector<GpuUse> take(const Provenance& provenance) && {
    std::vector<GpuUse> all;
    for (auto& [gpu, use] : uses_) {
      use.name = device_of(provenance, gpu).name;
      all.push_back(std::move(use));
    }
    return all;
  }

 private:
  std::map<std::uint32_t, GpuUse> uses_;
  std::map<std::uint32_t, std::int64_t> busy_until_ns_;
};

/// By operation of a capture: its number among those that stay, kNoIndex if it goes.
using Renumbered = std::vector<std::uint32_t>;

Renumbered keep_ops(CompactCapture& capture, std::uint32_t gpu) {
  const std::vector<QueueRecord>& queues = capture.rest.queues();
  Renumbered numbers(capture.op_count(), OpRecord::kNoIndex);
  Kinds prototype_of;
  Instants starts;
  Durations durations;
  Indices call_of;
  for (std::uint32_t op = 0; op < numbers.size(); ++op) {
    if (queues[capture.prototype(op).queue].device != gpu) continue;
    numbers[op] = static_cast<std::uint32_t>(prototype_of.size());
    prototype_of.push_back(capture.prototype_of[op]);
    starts.push_back(capture.starts[op]);
    durations.push_back(capture.durations[op]);
    call_of.push_back(capture.call_of[op]);
  }
  capture.prototype_of = std::move(prototype_of);
  capture.starts = std::move(starts);
  capture.durations = std::move(durations);
  capture.call_of = std::move(call_of);
  return numbers;
}

/// Processes whose work stayed; empty = the capture does not tell processes apart.
std::set<std::uint64_t> processes_of(const CompactCapture& capture) {
  std::set<std::uint64_t> processes;
  for (std::size_t op = 0; op < capture.op_count(); ++op)
    processes.insert(capture.rest.queues()[capture.prototype(op).queue].process);
  if (processes.contains(0)) processes.clear();
  return processes;
}

bool is_of_another_gpu(const CompactCapture& capture, const CallRecord& call, std::uint32_t gpu) {
  return call.queue != OpRecord::kNoIndex && capture.rest.queues()[call.queue].device != gpu;
}

}  // namespace

std::vector<GpuUse> gpus_of(const Timeline& timeline) {
  GpuUses uses;
  for (const OpRecord& op : timeline.ops()) uses.add(timeline.queues()[op.queue].device, op.start_ns, op.duration_ns);
  return std::move(uses).take(timeline.provenance());
}

std::vector<GpuUse> gpus_of(const CompactCapture& capture) {
  GpuUses uses;
  for (std::size_t op = 0; op < capture.op_count(); ++op)
    uses.add(capture.rest.queues()[capture.prototype(op).queue].device, capture.starts[op], capture.durations[op]);
  return std::move(uses).take(capture.rest.provenance());
}

CapturedDevice device_of(const Provenance& provenance, std::uint32_t gpu) {
  const std::vector<CapturedDevice>& devices = provenance.devices;
  if (gpu < devices.size()) return devices[gpu];
  const bool are_alike = std::ranges::all_of(devices, [&](const auto& device) { return device == devices.front(); });
  return !devices.empty() && are_alike ? devices.front() : CapturedDevice{};
}

GpuMemory memory_of(const Provenance& provenance, std::uint32_t gpu) {
  // A framework's reserve is part of what is allocated through CUDA: of one process the larger figure counts.
  std::map<std::uint64_t, GpuMemory> allocated;
  GpuMemory in_use{.bytes = 0, .source = MemorySource::kInUse};
  for (const MemoryPeak& peak : provenance.memory_peaks) {
    if (peak.device != gpu) continue;
    if (peak.source == MemorySource::kInUse) in_use.bytes = std::max(in_use.bytes, peak.bytes);
    if (peak.source == MemorySource::kInUse) continue;
    GpuMemory& most = allocated[peak.process];
    if (peak.bytes > most.bytes) most = {.bytes = peak.bytes, .source = peak.source};
  }
  if (allocated.empty()) return in_use.bytes > 0 ? in_use : GpuMemory{};
  GpuMemory sum;
  for (const auto& [process, most] : allocated) sum = {.bytes = sum.bytes + most.bytes, .source = most.source};
  return sum;
}

PowerMean power_of(const Provenance& provenance, std::uint32_t gpu) {
  const auto known = std::ranges::find(provenance.power, gpu, &PowerMean::device);
  return known == provenance.power.end() ? PowerMean{} : *known;
}

double load_of(const CompactCapture& capture) {
  std::int64_t first_ns = INT64_MAX, last_ns = 0;
  double sum_ns = 0;
  for (std::size_t op = 0; op < capture.op_count(); ++op) {
    first_ns = std::min(first_ns, capture.starts[op]);
    last_ns = std::max(last_ns, capture.end_of(op));
    sum_ns += static_cast<double>(capture.durations[op]);
  }
  return last_ns > first_ns ? sum_ns / static_cast<double>(last_ns - first_ns) : 0.0;
}

double collective_share_of(const CompactCapture& capture) {
  std::vector<bool> is_one;
  for (const OpRecord& op : capture.prototypes)
    is_one.push_back(op.kind == OpKind::kKernel && is_collective(capture.rest.text(op.name)));
  if (std::ranges::find(is_one, true) == is_one.end()) return 0.0;
  double collective_ns = 0, all_ns = 0;
  for (std::size_t op = 0; op < capture.op_count(); ++op) {
    const auto duration_ns = static_cast<double>(capture.durations[op]);
    all_ns += duration_ns;
    if (is_one[capture.prototype_of[op]]) collective_ns += duration_ns;
  }
  return all_ns > 0 ? collective_ns / all_ns : 0.0;
}

void keep_gpu(CompactCapture& capture, std::uint32_t gpu) {
  std::set<std::uint32_t> calls_of_others;  // blocking copies among them
  for (std::size_t op = 0; op < capture.op_count(); ++op)
    if (capture.rest.queues()[capture.prototype(op).queue].device != gpu) calls_of_others.insert(capture.call_of[op]);
  const Renumbered numbers = keep_ops(capture, gpu);
  const std::set<std::uint64_t> processes = processes_of(capture);
  std::erase_if(capture.other_calls, [&](CompactCapture::OtherCall& other) {
    CallRecord& call = other.call;
    const std::uint64_t process = capture.rest.threads()[call.thread].process;
    if (!processes.empty() && !processes.contains(process)) return true;
    if (is_of_another_gpu(capture, call, gpu)) return true;
    if (call.kind == CallKind::kBlockingCopy) return calls_of_others.contains(other.number);
    if (call.awaited == OpRecord::kNoIndex) return false;
    call.awaited = numbers[call.awaited];
    return call.awaited == OpRecord::kNoIndex;
  });
}

bool is_collective(std::string_view kernel) {
  constexpr std::array<std::string_view, 13> kParts = {"ncclDevKernel",
                                                       "ncclKernel",
                                                       "mscclKernel",
                                                       "mscclpp",
                                                       "nvshmem",
                                                       "oneapi::ccl",
                                                       "cross_device_reduce",
                                                       "one_shot_all_reduce",
                                                       "two_shot_all_reduce",
                                                       "oneShotAllReduce",
                                                       "twoShotAllReduce",
                                                       "allreduce_fusion",
                                                       "multimem_all_reduce"};
  return std::ranges::any_of(kParts,
                             [&](std::string_view part) { return kernel.find(part) != std::string_view::npos; });
}

}  // namespace corun
