#include "traces/parts/merge.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "traces/base/error.h"
#include "traces/parts/cuda_rows.h"
#include "traces/parts/graphics_rows.h"
#include "traces/parts/part_target.h"
#include "traces/parts/part_words.h"

namespace corun {
namespace {

using ProcessKey = std::pair<std::uint32_t, std::uint64_t>;  // process id, start: ids are used again
using Uuid = std::array<std::uint8_t, 16>;

// CUPTI's kinds of overhead that are its own; the others (compiling, loading of modules, a full command buffer) are the
// driver's, and would be there without it.
constexpr std::uint32_t kTracersOwn[] = {1u << 16, 2u << 16, 3u << 16, 7u << 16, part::kInCallbacks};

ProcessKey key_of(const PartContent& part) { return {part.process.process, part.process.start_ticks}; }

bool has_anything(const PartContent& part) {
  return !part.kernels.empty() || !part.copies.empty() || !part.memsets.empty() || !part.visits.empty() ||
         !part.frames.empty();
}

class Merge {
 public:
  Merge(std::vector<PartContent> parts, const MergeOptions& options, MergeReport& report)
      : parts_(std::move(parts)),
        options_(options),
        report_(report),
        wanted_{options.first_frame, options.last_frame} {}

  Timeline run() {
    report_ = {};
    name_processes();
    note_endings();
    check_content();
    leave_out_doubled_frames();
    choose_window();
    for (PartContent& part : parts_) add_rows(part);
    name_renderers();
    note_memory_of_frames();
    note_power();
    note_host_use();
    finish();
    return std::move(builder_).seal();
  }

 private:
  // A process id that was used twice gets another number the second time.
  void name_processes() {
    std::map<std::uint32_t, std::uint64_t> uses;
    for (const PartContent& part : parts_) {
      const auto [number, is_new] = processes_.try_emplace(key_of(part));
      if (!is_new) continue;
      number->second = part.process.process + (uses[part.process.process]++ << 32);
      if (const std::string_view name = text_of(part, part.process.program); !name.empty()) {
        builder_.provenance().programs[number->second] = name;
      }
    }
    report_.processes = processes_.size();
    report_.parts = parts_.size();
  }

  void note_endings() {
    for (const PartContent& part : parts_) {
      if (std::string note = ending_of(part); !note.empty()) report_.notes.push_back(std::move(note));
    }
  }

  void check_content() const {
    if (std::any_of(parts_.begin(), parts_.end(), has_anything)) return;
    throw Error(ErrorKind::kInput, SourceLocation{parts_.empty() ? "" : parts_.front().path},
                fmt::format("nothing was recorded in {} parts, expected kernels or frames", parts_.size()),
                fmt::format("{}", fmt::join(report_.notes, "\n")));
  }

  void leave_out_doubled_frames() {
    std::set<ProcessKey> with_vulkan;
    for (const PartContent& part : parts_) {
      if (part.process.source == part::Source::kVulkan && !part.frames.empty()) with_vulkan.insert(key_of(part));
    }
    for (PartContent& part : parts_) {
      const bool is_over_vulkan = std::any_of(part.swapchains.begin(), part.swapchains.end(),
                                              [](const part::SwapchainRecord& s) { return s.is_over_vulkan != 0; });
      if (part.process.source != part::Source::kGl || !is_over_vulkan || !with_vulkan.contains(key_of(part))) continue;
      report_.notes.push_back(fmt::format("{}: its {} frames are left out: GL ran on top of Vulkan, which has them",
                                          describe(part), part.frames.size()));
      part.frames.clear();
      part.visits.clear();
      part.draws.clear();
    }
  }

  void choose_window() {
    if (wanted_.is_all()) return;
    Window window{INT64_MAX, INT64_MIN};
    std::uint64_t frames = 0;
    for (const PartContent& part : parts_) frames += include_frames(part, wanted_, window);
    if (frames == 0) {
      throw_input(SourceLocation{parts_.front().path}, "no frame of {} to {}, expected at least one", wanted_.first,
                  wanted_.last);
    }
    window_ = window;
  }

  void add_rows(PartContent& part) {
    const std::vector<std::uint32_t> devices = add_devices(part);
    PartTarget target{builder_, activity_, processes_.at(key_of(part)), window_,
                      [&](std::uint32_t device) { return device < devices.size() ? devices[device] : device; }};
    report_.lost_records += CudaRows{part, target}.add();
    GraphicsRows{part, target}.add(wanted_);
    add_losses(part);
    add_overhead(part);
    has_calls_ |= part.process.detail == part::Detail::kCalls && has_anything(part);
    has_frames_ |= !part.frames.empty();
  }

  // Processes may see the devices in another order, or not all of them: a device is known by its UUID. Returns the
  // timeline's index of each of the part's.
  std::vector<std::uint32_t> add_devices(const PartContent& part) {
    constexpr std::uint32_t kMostDevices = 1024;
    std::vector<std::uint32_t> of_ordinal;
    for (const part::DeviceRecord& device : part.devices) {
      if (device.device >= kMostDevices) continue;
      Uuid uuid;
      std::copy(std::begin(device.uuid), std::end(device.uuid), uuid.begin());
      if (uuid == Uuid{}) std::copy_n(reinterpret_cast<const std::uint8_t*>(&device.device), 4, uuid.begin());
      while (of_ordinal.size() <= device.device) of_ordinal.push_back(static_cast<std::uint32_t>(of_ordinal.size()));
      const auto [index, is_new] = devices_.try_emplace(uuid, static_cast<std::uint32_t>(devices_.size()));
      of_ordinal[device.device] = index->second;
      if (is_new) builder_.provenance().devices.push_back(described(device, part));
      index_of_[uuid_text(device)] = index->second;
      note_memory(part, device, index->second);
    }
    return of_ordinal;
  }

  // A program sees GPUs that it does not use: it needs memory where it has a context.
  void note_memory(const PartContent& part, const part::DeviceRecord& device, std::uint32_t index) {
    const auto known = options_.memory_in_use.find(uuid_text(device));
    const bool is_used = std::ranges::any_of(
        part.contexts, [&](const part::ContextRecord& context) { return context.device == device.device; });
    if (known == options_.memory_in_use.end() || !is_used) return;
    builder_.note_memory({.device = index, .bytes = known->second, .source = MemorySource::kInUse});
  }

  // Frames do not say which GPU drew them: it is clear where there is one.
  void note_memory_of_frames() {
    const bool is_clear = builder_.provenance().memory_peaks.empty() && options_.memory_in_use.size() == 1;
    if (!is_clear || !has_frames_) return;
    const auto& [uuid, bytes] = *options_.memory_in_use.begin();
    const auto known = index_of_.find(uuid);
    builder_.note_memory(
        {.device = known == index_of_.end() ? 0 : known->second, .bytes = bytes, .source = MemorySource::kInUse});
  }

  std::pair<std::int64_t, std::int64_t> span_of_ops() {
    std::int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (std::uint32_t i = 0; i < builder_.op_count(); ++i) {
      const OpRecord& op = builder_.op(i);
      first_ns = std::min(first_ns, op.start_ns);
      last_ns = std::max(last_ns, op.start_ns + op.duration_ns);
    }
    return {first_ns, last_ns};
  }

  // Of threads that call the driver: others are not replayed.
  void note_host_use() {
    if (!options_.host_between || builder_.op_count() == 0) return;
    const auto [first_ns, last_ns] = span_of_ops();
    for (const HostUse& use : options_.host_between(first_ns, last_ns))
      if (builder_.has_thread({use.process, use.thread})) builder_.provenance().host_use.push_back(use);
  }

  // While foreign programs ran, power is theirs as well.
  void note_power() {
    if (!options_.power_between || options_.other_contexts || builder_.op_count() == 0) return;
    const auto [first_ns, last_ns] = span_of_ops();
    const std::map<std::string, PowerMean> means = options_.power_between(first_ns, last_ns);
    for (auto [uuid, mean] : means) {
      const auto known = index_of_.find(uuid);
      const bool is_clear = known != index_of_.end() || (index_of_.empty() && means.size() == 1);
      if (!is_clear) continue;
      mean.device = known == index_of_.end() ? 0 : known->second;
      builder_.provenance().power.push_back(mean);
    }
  }

  static CapturedDevice described(const part::DeviceRecord& device, const PartContent& part) {
    return {.name = std::string{text_of(part, device.name)},
            .sm_count = device.sm_count,
            .memory_bytes = device.memory_bytes,
            .max_threads_per_sm = device.max_threads_per_sm,
            .registers_per_sm = device.registers_per_sm,
            .shared_memory_per_sm_bytes = device.shared_memory_per_sm_bytes};
  }

  // Where no part of CUDA describes the device, frames have at least its name.
  void name_renderers() {
    std::vector<CapturedDevice>& devices = builder_.provenance().devices;
    if (!devices.empty()) return;
    std::set<std::string_view> names;
    for (const PartContent& part : parts_) {
      for (const part::SwapchainRecord& swapchain : part.swapchains) names.insert(text_of(part, swapchain.renderer));
    }
    for (std::string_view name : names) {
      if (!name.empty()) devices.push_back({.name = std::string{name}});
    }
  }

  void add_losses(const PartContent& part) {
    std::map<std::string, std::uint64_t>& skipped = builder_.provenance().skipped;
    for (const auto& [reason, count] : part.lost) {
      skipped[std::string{to_string(reason)}] += count;
      report_.lost_records += count;
    }
    if (part.unknown_records > 0) skipped["of a type that this version does not know"] += part.unknown_records;
  }

  void add_overhead(const PartContent& part) {
    for (const part::OverheadRecord& overhead : part.overheads) {
      const bool is_own = std::ranges::find(kTracersOwn, overhead.kind) != std::end(kTracersOwn);
      const bool is_inside = Window{}.holds(overhead.end_ns) && window_.holds(overhead.start_ns);
      if (is_own && is_inside) add_span(report_.tracer_ns, overhead.end_ns - overhead.start_ns);
    }
    for (const part::FrameRecord& frame : part.frames) {
      if (wanted_.holds(frame.frame)) add_span(report_.tracer_ns, frame.tracer_ns);
    }
  }

  void finish() {
    Fidelity& fidelity = builder_.fidelity();
    fidelity.has_calls = has_calls_;
    fidelity.has_frames = has_frames_;
    fidelity.co_run = options_.other_contexts || activity_.has_overlap();
    Provenance& provenance = builder_.provenance();
    provenance.source_format = "corun";
    provenance.source_version = fmt::format("{}", parts_.front().process.version);
    provenance.source_file = options_.source_file;
    provenance.content_hash = options_.content_hash;
    provenance.clock = "monotonic";
    provenance.untraced_rate = options_.untraced_rate;
    provenance.tracer_ns = report_.tracer_ns;
    report_.notes.insert(report_.notes.end(), provenance.notes.begin(), provenance.notes.end());
    provenance.notes = report_.notes;
  }

  std::vector<PartContent> parts_;
  const MergeOptions& options_;
  MergeReport& report_;
  const FrameRange wanted_;
  Window window_;
  TimelineBuilder builder_;
  Activity activity_;
  std::map<ProcessKey, std::uint64_t> processes_;
  std::map<Uuid, std::uint32_t> devices_;
  std::map<std::string, std::uint32_t> index_of_;  // the same, by the uuid as text
  bool has_calls_ = false;
  bool has_frames_ = false;
};

}  // namespace

Timeline merge_parts(std::vector<PartContent> parts, const MergeOptions& options, MergeReport& report) {
  return Merge{std::move(parts), options, report}.run();
}

}  // namespace corun
