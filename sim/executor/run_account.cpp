#include "sim/executor/run_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace corun::executor {

namespace {

Lateness lateness_of(std::vector<Duration>& late) {
  if (late.empty()) return {};
  std::ranges::sort(late);
  return {late[late.size() / 2], late[late.size() * 99 / 100], late.back()};
}

}  // namespace

void RunAccount::capped(std::string_view client, std::uint32_t sms, Duration took) {
  caps_[std::string(client)].add(took);
  capped_sms_[std::string(client)] = sms;
}

void RunAccount::resized(std::string_view client, Duration took) { resizes_[std::string(client)].add(took); }

void RunAccount::asked_for_priority(std::int32_t level) {
  lowest_priority_ = std::min(lowest_priority_, level);
  highest_priority_ = std::max(highest_priority_, level);
}

void RunAccount::tell(ExecuteReport& report, MpsState mps, std::int32_t levels) {
  report.timers = lateness_of(late_timers_);
  report.launches = lateness_of(late_launches_);
  report.too_short = too_short_;
  tell_of_clients(report.notes);
  tell_of_priorities(report.notes, mps, levels);
  if (prefetches_ > 0)
    report.notes.push_back(
        fmt::format("prefetching was asked for {} and ignored: all memory of a run on hardware is on the device",
                    times(prefetches_)));
}

void RunAccount::tell_of_priorities(std::vector<std::string>& notes, MpsState mps, std::int32_t levels) const {
  if (lowest_priority_ == highest_priority_) return;
  if (lowest_priority_ < 0 || highest_priority_ >= levels)
    notes.push_back(fmt::format("priorities from {} to {} were asked for; this device has 0 to {}", lowest_priority_,
                                highest_priority_, levels - 1));
  notes.emplace_back(
      mps == MpsState::kYes
          ? "priorities are those of the clients' own streams: what they mean between MPS clients is the driver's"
          : "priorities order the kernels of one context: between clients, which take turns, they mean nothing here");
}

void RunAccount::tell_of_clients(std::vector<std::string>& notes) const {
  for (const auto& [client, count] : caps_) {
    const std::uint32_t sms = capped_sms_.at(client);
    notes.push_back(fmt::format("client '{}' {}: a new context took {:.0f} ms at most, for which it stood still",
                                client, sms > 0 ? fmt::format("has {} SMs at most", sms) : "has no cap of SMs any more",
                                to_milliseconds(count.longest)));
  }
  for (std::string& note : kills_.notes()) notes.push_back(std::move(note));
  for (const auto& [client, count] : resizes_)
    notes.push_back(fmt::format("client '{}': its memory was freed and taken anew {}, in {:.1f} ms at most", client,
                                times(count.times), to_milliseconds(count.longest)));
}

}  // namespace corun::executor
