#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/serving/batch_former.h"
#include "sim/serving/requests.h"
#include "sim/serving/step_costs.h"
#include "traces/base/time.h"

namespace corun {

/// Times that a request's owner is promised; 0 = none.
struct ServiceLevel {
  Duration ttft{};  ///< from its arrival to its first token
  Duration tpot{};  ///< from its first token to its last, by the tokens after the first
  bool is_stated() const { return ttft > Duration{0} || tpot > Duration{0}; }
};

/// A server as its owner configures it, and who asks it.
struct ServerSpec {
  BatchLimits limits;
  bool pads = false;              ///< its engine computes captured sizes only: the next larger one (graphs)
  std::uint32_t concurrency = 0;  ///< so many requests are there at all times: each end is an arrival. 0 = as they come
  std::vector<ServedRequest> requests;  ///< in the order of their arrivals
  ServiceLevel level;
  std::vector<std::string> notes;  ///< what was assumed, one sentence each; results repeat them
};

/// What a request has been through.
struct RequestTimes {
  std::size_t request = 0;  ///< its number
  Time arrival, first_token, end;
};

/// The state of a server in a run: its requests, its batch, and what the next step is.
///
/// Steps of a loop do not overlap: the engine reads the tokens of one before it forms the next. Of a server that reads
/// prompts while it decodes the two loops are asked one by one; the end of a step may give the other loop its next one.
class Server {
 public:
  /// `spec` must outlive it. `begin` is when it starts to serve: arrivals count from there.
  Server(const ServerSpec& spec, const std::vector<CapturedStep>& steps, Time begin);

  /// When the loop's next step may begin, at or after `now`; kNever = it has none until the other loop has ended one,
  /// if there is one.
  Time next_step(Time now, StepLoop loop = StepLoop::kAll);
  /// Begins it, at the instant that next_step() gave.
  StepReplay begin_step(StepLoop loop = StepLoop::kAll);
  /// Ends it; returns the requests that ended with it, in order.
  std::vector<RequestTimes> end_step(Time now, StepLoop loop = StepLoop::kAll);
  /// Nothing is left to do, and no request comes any more.
  bool has_served() const { return batch_.is_idle() && !comes_more(); }

  std::uint64_t steps() const { return steps_; }  ///< that have ended
  /// Arrival of the oldest request that it knows of and that has no token yet; kNever = there is none.
  Time oldest_unanswered() const;
  /// The loop's step that was begun last.
  const StepSize& step(StepLoop loop = StepLoop::kAll) const { return begun_[static_cast<std::size_t>(loop)]; }
  const BatchFormer& batch() const { return batch_; }
  std::uint64_t rejected() const { return rejected_; }

 private:
  void admit_arrivals(Time now);
  void arrive(std::size_t request, Time when);
  bool comes_more() const { return spec_.concurrency == 0 && next_request_ < spec_.requests.size(); }

  const ServerSpec& spec_;
  const Time begin_;
  BatchFormer batch_;
  StepCosts costs_;
  std::size_t next_request_ = 0;
  std::uint64_t rejected_ = 0;
  StepSize begun_[3];  ///< by loop
  std::uint64_t steps_ = 0;
  std::vector<RequestTimes> times_;  ///< by request
};

}  // namespace corun
