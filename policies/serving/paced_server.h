#pragma once

#include <algorithm>
#include <cstdint>

#include "policies/serving/late_share.h"
#include "sim/policy/view.h"

namespace corun {

inline Duration part_of(Duration whole, double part) {
  return Duration{static_cast<std::int64_t>(static_cast<double>(whole.count()) * part)};
}

/// When the steps of a server shall begin, so that it keeps what it promises and others have the rest.
///
/// The interval from step to step is a share of the promised TPOT (of the promised TTFT, where no TPOT is promised),
/// times a number that falls while too many first tokens are late. Its owner says when steps begin and end, and asks
/// for requests to be counted whenever the view may have changed. Single-threaded; nothing is thrown.
class PacedServer {
 public:
  struct Settings {
    double tpot_share;  ///< of the promised TPOT: the longest interval
    double late_after;  ///< of the promised TTFT: a first token that takes longer is late
    double late_share;  ///< of requests: how many may be late
    double gain;        ///< of LateShare
  };

  explicit PacedServer(const Settings& settings) : settings_(settings), pace_(settings.late_share, settings.gain) {}

  /// A request waits for its first token.
  static bool is_urgent(const ClientView& client) { return client.server.oldest_request != kNever; }
  /// It never said that a step has ended.
  static bool is_silent(const ClientView& client) { return client.server.steps == 0; }
  /// Its newest step has begun, and it has not said that it has ended.
  bool is_in_step(const ClientView& client) const { return begun_ == client.server.steps + 1; }
  /// Its next step shall begin, as long as no request waits.
  Time due() const { return due_; }

  /// From step to step.
  Duration interval(const ClientView& client) const {
    const bool has_tpot = client.promised_tpot > Duration::zero();
    const Duration promised = has_tpot ? client.promised_tpot : part_of(client.promised_ttft, settings_.late_after);
    const double pace = client.promised_ttft > Duration::zero() ? pace_.value() : 1.0;
    return part_of(promised, settings_.tpot_share * pace);
  }

  /// Late requests are counted when they are, the others when they get their first token.
  void count_requests(Time now, const ClientView& client) {
    const auto is_late = [&] { return now - waits_ > part_of(client.promised_ttft, settings_.late_after); };
    if (waits_ != client.server.oldest_request) {
      if (waits_ != kNever && !is_counted_) pace_.answered(is_late());
      waits_ = client.server.oldest_request;
      is_counted_ = false;
    }
    if (waits_ == kNever || is_counted_ || !is_late()) return;
    pace_.answered(true);
    is_counted_ = true;
  }

  /// A step begins that was not held.
  void begin(const ClientView& client, Time now) {
    begun_ = client.server.steps + 1;
    begun_at_ = is_urgent(client) ? kNever : now;
    due_ = is_urgent(client) || is_silent(client) ? std::max(due_, now) : now + interval(client);
  }
  /// The step that waits at the gate begins. If it is late, but for its server, the next one is due as if it were not.
  void begin_paced(const ClientView& client, Time now) {
    const Time in_time = std::min(now, std::max(due_, client.waiting.front().submitted));
    begin(client, now);
    due_ = in_time + interval(client);
  }
  /// Where steps are not held: the step that was begun last has ended. Its length says for how much of the next one
  /// others may run along, by integral control.
  void end(const ClientView& client, Time now) {
    if (begun_at_ == kNever) return;
    const Duration most = interval(client), error = most - (now - begun_at_);
    shared_ = std::clamp(shared_ + part_of(error, kStepGain), Duration::zero(), most);
    begun_at_ = kNever;
  }
  /// Until when others may run along with the step that has begun; kRunStart = not at all.
  Time shared_until(const ClientView& client) const {
    return begun_at_ == kNever ? kRunStart : begun_at_ + std::min(shared_, interval(client));
  }

 private:
  static constexpr double kStepGain = 0.25;  // of the error of a step's length

  Settings settings_;
  LateShare pace_;           // times the longest interval
  Time waits_ = kNever;      // arrival of the request that is counted next
  bool is_counted_ = false;  // as late, already
  std::uint64_t begun_ = 0;  // steps
  Time begun_at_ = kNever;   // the newest of these; kNever = its length says nothing
  Time due_;
  Duration shared_{};
};

}  // namespace corun
