#include "sim/live/live_notes.h"

#include <fmt/format.h>

#include "traces/base/units.h"

namespace corun::live {

namespace {

double seconds_of(Time time) { return to_seconds(time - kRunStart); }

/// "" where there is none to report here.
const char* reason(gate::Obstacle obstacle) {
  switch (obstacle) {
    case gate::Obstacle::kNoDriver:
      return "its CUDA driver lacks a function that a gate calls";
    case gate::Obstacle::kNoCupti:
      return "its launches could be seen by CUPTI only, and no libcupti.so.13 was found";
    case gate::Obstacle::kCuptiTaken:
      return "its launches could be seen by CUPTI only, which another profiler holds";
    default:
      return "";
  }
}

std::string note_of_gate(const gate::Lane& lane) {
  const std::string why = reason(lane.obstacle.load());
  const bool is_gated = lane.by_preload.load() + lane.by_cupti.load() > 0;
  if (!why.empty()) return fmt::format("{} without a gate: {}", is_gated ? "was in part" : "ran", why);
  if (is_gated || lane.frame_count.load() > 0 || lane.processes_without_slot.load() > 0) return {};
  return "was never at the gate: it used no CUDA and showed no frames, or says on standard error that it cannot reach "
         "it";
}

/// Figures count from the end of the warm-up, whether there was work or not.
std::string note_of_begin(const LiveClient& client, const gate::Lane& lane, const RunInput& input) {
  const bool is_gated = lane.by_preload.load() + lane.by_cupti.load() > 0;
  if (client.counts().first_work == kNever) return is_gated ? "started CUDA and launched nothing" : "";
  if (input.warmup == Duration{0} || client.counts().first_work < kRunStart + input.warmup) return {};
  return fmt::format("launched nothing until {:.1f} s: its figures count from {:.1f} s, where the warm-up ends",
                     seconds_of(client.counts().first_work), to_seconds(input.warmup));
}

std::string note_of_rate(const LiveClient& client) {
  const std::string why = client.why_rate_is_unknown();
  return why.empty() ? why : why + ": its rate is not known; record its trace anew, or state `iterations` for it";
}

std::string note_of_graphs(const LiveClient& client) {
  if (client.counts().launches == 0 || client.counts().graphs < client.counts().launches) return {};
  return "launches graphs only: each passes its gate as a whole, and no profile tells how long it takes";
}

/// Amounts are what the program wrote: of one that is at fault they may be anything.
std::vector<std::string> notes_of_memory(const gate::Lane& lane, const MemoryTerms& terms) {
  std::vector<std::string> notes;
  const std::uint64_t had = lane.most_allocated.load(), refused = lane.refused_allocations.load();
  if (refused > 0)
    notes.push_back(fmt::format(
        "was refused {} allocation{} of {} and more for its limit of {} of device memory; it had {} at most", refused,
        refused == 1 ? "" : "s", format_size(lane.refused_bytes.load()), format_size(terms.most_bytes),
        format_size(had)));
  if ((terms.most_bytes > 0 || terms.is_managed) && lane.by_cupti.load() > 0)
    notes.emplace_back("came to its driver past the preload: its memory is neither limited nor managed");
  if (const std::uint64_t uncounted = lane.uncounted.load(); terms.most_bytes > 0 && uncounted > 0)
    notes.push_back(fmt::format("has too many allocations at once: {} were not counted against its limit", uncounted));
  if (!terms.is_managed || had == 0) return notes;
  const std::uint64_t never = lane.never_managed.load();
  const std::string but = fmt::format(", but for {} of pools, arrays and mappings over time", format_size(never));
  notes.push_back(fmt::format("had {} of managed memory at most{}", format_size(had), never == 0 ? "" : but));
  return notes;
}

}  // namespace

std::vector<std::string> notes_of(const LiveClient& client, const gate::Lane& lane, const RunInput& input,
                                  const LiveOptions& options) {
  std::vector<std::string> notes;
  const auto add = [&](const std::string& what) {
    if (!what.empty()) notes.push_back(fmt::format("client '{}' {}", client.name(), what));
  };
  add(note_of_gate(lane));
  add(note_of_begin(client, lane, input));
  add(note_of_graphs(client));
  add(note_of_rate(client));
  if (!options.is_gated_by_cupti && lane.by_cupti.load() > 0)
    add("came to its driver past the preload: CUPTI tells its gate of launches");
  if (const std::uint32_t processes_without_slot = lane.processes_without_slot.load(); processes_without_slot > 0)
    add(fmt::format("had too many processes at once: {} of its processes ran without a gate", processes_without_slot));
  for (const std::string& what : notes_of_memory(lane, client.memory())) add(what);
  if (const std::uint64_t lost = lane.frames_lost.load(); lost > 0) add(fmt::format("lost {} frame records", lost));
  return notes;
}

std::string note_of_leaving(const std::string& client, const std::string& ending, Time now, Duration warmup) {
  const bool is_early = now < kRunStart + warmup;
  if (ending.empty() && !is_early) return {};
  return fmt::format("client '{}' ended{}{} after {:.3f} s{}", client, ending.empty() ? "" : " with ", ending,
                     seconds_of(now), is_early ? ", within the warm-up: nothing of it is measured" : "");
}

}  // namespace corun::live
