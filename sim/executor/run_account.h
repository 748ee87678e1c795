#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/executor/execute.h"
#include "sim/executor/host/kill_account.h"
#include "sim/executor/worker/channel.h"

namespace corun::executor {

/// Gathers what a run on hardware says about its own accuracy while it goes on.
class RunAccount {
 public:
  void late_timer(Duration late) { late_timers_.push_back(late); }
  void late_launch(Duration late) { late_launches_.push_back(late); }
  void too_short() { ++too_short_; }
  /// A client had no context for so long, because one with another cap was made; `sms` = 0: without a cap.
  void capped(std::string_view client, std::uint32_t sms, Duration took);
  KillAccount& kills() { return kills_; }
  void resized(std::string_view client, Duration took);
  void ignored_prefetch() { ++prefetches_; }
  void asked_for_priority(std::int32_t level);

  /// Fills in what it knows; notes are appended. `levels`: priorities that the device has.
  void tell(ExecuteReport& report, MpsState mps, std::int32_t levels);

 private:
  using ByClient = std::map<std::string, LongestOf, std::less<>>;
  void tell_of_clients(std::vector<std::string>& notes) const;
  void tell_of_priorities(std::vector<std::string>& notes, MpsState mps, std::int32_t levels) const;

  std::vector<Duration> late_timers_, late_launches_;
  std::uint64_t too_short_ = 0, prefetches_ = 0;
  std::int32_t lowest_priority_ = 0, highest_priority_ = 0;
  std::map<std::string, std::uint32_t, std::less<>> capped_sms_;
  ByClient caps_, resizes_;
  KillAccount kills_;
};

}  // namespace corun::executor
