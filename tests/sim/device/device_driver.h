#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "sim/device/device_model.h"

namespace corun::testing {

inline constexpr std::int64_t kUs = 1'000;
inline constexpr std::int64_t kMs = 1'000'000;

/// Drives a device without an engine: every instant at which it changes is visited, and completions are kept.
class DeviceDriver {
 public:
  explicit DeviceDriver(const DeviceSpec& spec, std::uint32_t clients = 0) : device_(make_device(spec)) {
    for (std::uint32_t i = 0; i < clients; ++i) join({});
  }

  ClientId join(const ContextSpec& context) {
    device_->join(ClientId{clients_}, context);
    return ClientId{clients_++};
  }

  /// Called for every completion, after the device has been advanced: closed clients resubmit here.
  std::function<void(const Completion&)> on_completion;

  /// Called whenever the device has been advanced.
  std::function<void()> on_change;

  Time now() const { return now_; }
  DeviceModel& device() { return *device_; }
  const std::vector<Completion>& completions() const { return completions_; }

  /// Submits now. The ticket is the number of operations submitted before.
  Ticket submit(DeviceOp op) {
    op.ticket = next_ticket_++;
    device_->submit(op, now_);
    return op.ticket;
  }
  Ticket submit(std::uint32_t client, std::int64_t duration_ns, std::uint32_t stream = 0,
                OpKind kind = OpKind::kKernel) {
    return submit({.client = ClientId{client},
                   .stream = StreamId{stream},
                   .kind = kind,
                   .duration = Duration{duration_ns},
                   .ready_at = now_});
  }

  /// Visits every change up to and including `end`, then stands at `end`.
  void run_to(std::int64_t end_ns) {
    const Time end = time_from_ns(end_ns);
    while (device_->next_change() <= end) step(device_->next_change());
    if (now_ < end) step(end);
  }
  /// Visits every change until none is left; looks at the device at least every `step_ns` if that is given.
  void drain(std::int64_t step_ns = INT64_MAX) {
    while (device_->next_change() != kNever) {
      const Time change = device_->next_change();
      step(to_ns(change - now_) > step_ns ? now_ + Duration{step_ns} : change);
    }
  }

  const Completion& completion(Ticket ticket) const {
    return *std::find_if(completions_.begin(), completions_.end(),
                         [&](const Completion& c) { return c.ticket == ticket; });
  }
  std::int64_t begin(Ticket ticket) const { return to_ns(completion(ticket).begin); }
  std::int64_t end(Ticket ticket) const { return to_ns(completion(ticket).end); }

 private:
  void step(Time to) {
    const std::size_t before = completions_.size();
    device_->advance(to, completions_);
    now_ = to;
    if (on_change) on_change();
    if (!on_completion) return;
    for (std::size_t i = before; i < completions_.size(); ++i) {
      const Completion done = completions_[i];
      on_completion(done);
    }
  }

  std::unique_ptr<DeviceModel> device_;
  std::vector<Completion> completions_;
  Time now_ = kRunStart;
  std::uint32_t clients_ = 0;
  Ticket next_ticket_ = 0;
};

}  // namespace corun::testing
