#include "sim/run/device_driver.h"

#include <utility>

namespace corun {

void DeviceDriver::watch() {
  const Time due = completions_.empty() && !report_is_due_ ? device_->next_change() : engine_.now();
  if (due == event_time_) return;
  engine_.cancel(event_);
  event_time_ = due;
  if (due != kNever) event_ = engine_.at(due, Phase::kCompletion, &DeviceDriver::on_change, this);
}

void DeviceDriver::reach_change() {
  event_time_ = kNever;
  report_is_due_ = false;
  catch_up();
  if (!completions_.empty()) report_completions();
  listener_.device_moved();
  watch();
}

/// What completes while they are reported is reported at the next change, which is now.
void DeviceDriver::report_completions() {
  std::vector<Completion> reporting = std::exchange(completions_, std::exchange(reported_, {}));
  for (const Completion& completion : reporting) listener_.completed(completion);
  reporting.clear();
  reported_ = std::move(reporting);
}

}  // namespace corun
