#pragma once

#include <deque>

#include "sim/policy/view.h"

namespace corun {

/// How long one client's jobs take, from the submission of a job's first operation to the completion of its last: what
/// an interposer measures that knows how many operations a job has (OpView::position).
///
/// Forward every submission and completion of the client.
class JobLatency {
 public:
  void on_submitted(Time now, const OpView& op) {
    if (op.position == 0) begun_.push_back(now);
  }

  void on_completed(Time now, const OpView& op) {
    // A job's first completion says that the job before is over.
    if (op.position == 0 && completed_ != kNever && begun_.size() > 1) {
      latest_ = completed_ - begun_.front();
      begun_.pop_front();
    }
    completed_ = now;
  }

  /// Of the newest job that is known to be over; kUnknownDuration before the second job has begun to complete.
  Duration latest() const { return latest_; }

 private:
  std::deque<Time> begun_;  // submission of the first operation, of jobs that are not known to be over
  Time completed_ = kNever;
  Duration latest_ = kUnknownDuration;
};

}  // namespace corun
