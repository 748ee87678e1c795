#include "tracer/record/session.h"

#include <algorithm>

#include "traces/base/error.h"
#include "traces/parts/part_words.h"
#include "traces/reader.h"

namespace corun::record {

namespace {

using Memory = std::map<std::string, std::int64_t>;

std::vector<PartContent> read_parts(const std::vector<std::string>& paths, std::vector<std::string>& notes,
                                    bool& has_unreadable) {
  std::vector<PartContent> parts;
  for (const std::string& path : paths) {
    try {
      parts.push_back(read_part(read_source(path).bytes, path));
    } catch (const Error& error) {
      notes.push_back(fmt::format("a part is left out: {}", error.message()));
      has_unreadable |= total_bytes({path}) > 0;
    }
  }
  return parts;
}

bool has_anything(const PartContent& part) {
  return !part.kernels.empty() || !part.copies.empty() || !part.memsets.empty() || !part.frames.empty();
}

std::string sentence_about(part::EndReason reason) {
  switch (reason) {
    case part::EndReason::kNoCupti:
      return "libcupti was not found: `simtrace doctor` lists where it is looked for";
    case part::EndReason::kCuptiVersion:
      return "the libcupti that was found is of another major version";
    case part::EndReason::kOtherSubscriber:
      return "another profiler (nsys, ncu, the PyTorch profiler) is attached, and only one is possible";
    case part::EndReason::kCuptiFailed:
      return "CUPTI refused to record";
    case part::EndReason::kWriteFailed:
      return "the parts could not be written: is the disk full?";
    case part::EndReason::kOutOfMemory:
      return "the program had no memory left for the recording";
    default:
      return "";
  }
}

void explain_emptiness(const std::vector<PartContent>& parts, std::vector<std::string>& notes) {
  for (const PartContent& part : parts) {
    const std::string sentence = part.end ? sentence_about(part.end->reason) : "";
    if (!sentence.empty() && std::ranges::find(notes, sentence) == notes.end()) notes.push_back(sentence);
  }
}

/// Where the parts name no GPU (frames alone), the driver may say on which one the programs worked; else every foreign
/// program counts.
bool had_neighbours(const std::vector<PartContent>& parts, const Memory& memory) {
  std::vector<std::string> own;
  for (const PartContent& part : parts) {
    for (const part::DeviceRecord& device : part.devices) {
      const auto is_on_it = [&](const part::ContextRecord& context) { return context.device == device.device; };
      const std::string uuid = std::ranges::any_of(part.contexts, is_on_it) ? uuid_text(device) : "";
      if (!uuid.empty()) own.push_back(kNeighboursOn + uuid);
    }
  }
  if (own.empty()) {
    for (const auto& [name, value] : memory)
      if (name.starts_with(kWorkedOn)) own.push_back(kNeighboursOn + name.substr(std::string_view(kWorkedOn).size()));
  }
  return std::ranges::any_of(memory, [&](const auto& entry) {
    return entry.first.starts_with(kNeighboursOn) && (own.empty() || std::ranges::find(own, entry.first) != own.end());
  });
}

/// Launches as an untraced pass counts them: those of the driver, whether or not inside a call of the runtime.
std::uint64_t driver_launches(const PartContent& part) {
  return static_cast<std::uint64_t>(std::ranges::count_if(part.calls, [](const part::CallRecord& call) {
    return call.is_driver != 0 && (call.role == part::CallRole::kLaunch || call.role == part::CallRole::kGraphLaunch);
  }));
}

std::uint64_t launches_before(const PartContent& bare, std::int64_t instant_ns) {
  std::uint64_t launches = 0;
  for (const part::LaunchCountRecord& count : bare.launch_counts)
    if (count.at_ns <= instant_ns) launches = std::max(launches, count.launches);
  return launches;
}

/// The part that `has` what is asked for, if it is the only one.
template <class Predicate>
const PartContent* only_part(const std::vector<PartContent>& parts, Predicate has) {
  const auto found = std::ranges::find_if(parts, has);
  if (found == parts.end() || std::ranges::count_if(parts, has) != 1) return nullptr;
  return &*found;
}

std::optional<UntracedRate> rate_of_untraced_pass(const PartsFolder& folder, const std::vector<PartContent>& parts,
                                                  const Memory& memory, std::vector<std::string>& notes,
                                                  bool& has_unreadable) {
  const std::vector<PartContent> untraced_parts = read_parts(folder.untraced_parts(), notes, has_unreadable);
  if (untraced_parts.empty()) return std::nullopt;
  const PartContent* bare = only_part(untraced_parts, [](const PartContent& p) { return !p.launch_counts.empty(); });
  const PartContent* traced = only_part(parts, [](const PartContent& p) { return driver_launches(p) > 0; });
  if (bare == nullptr || traced == nullptr) {
    notes.push_back("the untraced pass gives no rate: it takes one process, no more, that launches in both passes");
    return std::nullopt;
  }
  const std::uint64_t launches = driver_launches(*traced);
  const bool is_delayed = memory.contains(kUntracedFrom);
  const std::uint64_t before = is_delayed ? launches_before(*bare, memory.at(kUntracedFrom)) : 0;
  // A recording from the start on contains loading and warming up, whose rate is not the one that replay needs.
  const std::uint64_t skipped = is_delayed ? 0 : launches / 2;
  try {
    return untraced_rate(*bare, before + skipped + 1, before + launches);
  } catch (const Error& error) {
    notes.push_back("the untraced pass gives no rate: " + error.message());
    return std::nullopt;
  }
}

MergeOptions merge_options(const std::vector<PartContent>& parts, const Memory& memory) {
  MergeOptions options;
  if (memory.contains(kFirstFrame)) options.first_frame = static_cast<std::uint64_t>(memory.at(kFirstFrame));
  if (memory.contains(kLastFrame)) options.last_frame = static_cast<std::uint64_t>(memory.at(kLastFrame));
  options.other_contexts = had_neighbours(parts, memory);
  const std::string_view on = kMemoryOn;
  for (const auto& [name, value] : memory) {
    if (name.starts_with(on) && value > 0)
      options.memory_in_use[name.substr(on.size())] = static_cast<std::uint64_t>(value);
  }
  return options;
}

/// Where frames are asked for and none is there, the reason is in `notes`.
bool has_wanted_frames(const std::vector<PartContent>& parts, const MergeOptions& options,
                       std::vector<std::string>& notes) {
  if (options.first_frame <= 1 && options.last_frame == UINT64_MAX) return true;
  std::uint64_t latest = 0;
  for (const PartContent& part : parts) {
    for (const part::FrameRecord& frame : part.frames) {
      if (frame.frame >= options.first_frame && frame.frame <= options.last_frame) return true;
      latest = std::max(latest, frame.frame);
    }
  }
  notes.push_back(fmt::format("no frame of {} to {} was shown{}", options.first_frame, options.last_frame,
                              latest == 0 ? "" : fmt::format("; the last one seen was {}", latest)));
  return false;
}

/// A program that goes on has its part ended here: it was not killed.
void end_part_of_living(PartContent& part, std::vector<std::string>& notes) {
  notes.push_back(
      fmt::format("{}: goes on without having ended its part: up to one second is missing", describe(part)));
  part.end = part::EndRecord{{}, 0, part::EndReason::kWindow, 0, 0, 0};
}

void list_processes(std::vector<PartContent>& parts, Session& session, std::vector<std::string>& notes) {
  for (PartContent& part : parts) {
    const auto name = part.texts.find(part.process.program);
    const RecordedProcess process{part.process.process, name == part.texts.end() ? "" : name->second};
    if (std::ranges::find(session.processes, process) == session.processes.end()) session.processes.push_back(process);
    if (part.end || !writer_of(part.path).is_alive) continue;
    session.still_writing.push_back(process.process);
    end_part_of_living(part, notes);
  }
}

}  // namespace

Session merge_session(const PartsFolder& folder, const PowerBetween& power_between, const HostBetween& host_between) {
  Session session;
  std::vector<std::string> notes;
  std::vector<PartContent> parts = read_parts(folder.parts(), notes, session.has_unreadable);
  const Memory memory = folder.memory();
  list_processes(parts, session, notes);
  MergeOptions options = merge_options(parts, memory);
  options.power_between = power_between;
  options.host_between = host_between;
  session.has_anything = std::ranges::any_of(parts, has_anything) && has_wanted_frames(parts, options, notes);
  if (session.has_anything) {
    options.untraced_rate = rate_of_untraced_pass(folder, parts, memory, notes, session.has_unreadable);
    session.timeline = merge_parts(std::move(parts), options, session.report);
  } else {
    session.report.parts = parts.size();
    explain_emptiness(parts, notes);
  }
  session.report.notes.insert(session.report.notes.end(), notes.begin(), notes.end());
  return session;
}

}  // namespace corun::record
