#include "sim/run/device_driver.h"

namespace corun {

Time DeviceDriver::next_due() const {
  return completions_.empty() && !report_is_due_ ? device_->next_change() : engine_.now();
}

/// Leaves a steady device behind at a change of which there is nothing to report.
bool DeviceDriver::passes_change() {
  if (!is_steady_ || engine_.is_step_by_step() || report_is_due_ || !completions_.empty()) return false;
  if (device_->next_change() != engine_.now() || !device_->pass_change()) return false;
  moved_to_ = engine_.now();
  is_behind_ = true;
  return true;
}

void DeviceDriver::watch(Time due) {
  if (due == event_time_) return;
  engine_.cancel(event_);
  event_time_ = due;
  if (due != kNever) event_ = engine_.at(due, Phase::kCompletion, &DeviceDriver::on_change, this);
}

void DeviceDriver::reach_change() {
  Time due;
  do {
    event_time_ = kNever;
    if (!passes_change()) {
      report_is_due_ = false;
      catch_up();
      if (!completions_.empty()) report_completions();
      listener_.device_moved();
    }
    due = next_due();
  } while (event_time_ == kNever && engine_.goes_on(due, Phase::kCompletion));
  watch(due);
}

/// What completes while they are reported is reported at the next change, which is now.
void DeviceDriver::report_completions() {
  reporting_.swap(completions_);
  for (const Completion& completion : reporting_) listener_.completed(completion);
  reporting_.clear();
}

}  // namespace corun
