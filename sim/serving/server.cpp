#include "sim/serving/server.h"

#include <algorithm>

namespace corun {

Server::Server(const ServerSpec& spec, const std::vector<CapturedStep>& steps, Time begin)
    : spec_(spec), begin_(begin), batch_(spec.limits), costs_(steps, spec.pads), times_(spec.requests.size()) {
  const std::size_t at_once = std::min<std::size_t>(spec_.concurrency, spec_.requests.size());
  while (next_request_ < at_once) arrive(next_request_++, begin);
}

void Server::arrive(std::size_t request, Time when) {
  times_[request] = {request, when, kNever, kNever};
  if (!batch_.arrive(request, spec_.requests[request].prompt, spec_.requests[request].output)) ++rejected_;
}

void Server::admit_arrivals(Time now) {
  if (spec_.concurrency > 0) return;
  while (next_request_ < spec_.requests.size() && begin_ + spec_.requests[next_request_].arrival <= now) {
    arrive(next_request_, begin_ + spec_.requests[next_request_].arrival);
    ++next_request_;
  }
}

Time Server::next_step(Time now, StepLoop loop) {
  admit_arrivals(now);
  if (batch_.has_step(loop)) return now;
  const bool begins_requests = loop != StepLoop::kDecodes;
  return begins_requests && comes_more() ? begin_ + spec_.requests[next_request_].arrival : kNever;
}

StepReplay Server::begin_step(StepLoop loop) {
  StepSize& step = begun_[static_cast<std::size_t>(loop)];
  step = *batch_.begin_step(loop);
  if (step.decoded() > 0 && !spec_.pads) {
    std::uint32_t& context = step.kind == StepSize::Kind::kDecode ? step.context : step.decode_context;
    context = static_cast<std::uint32_t>(batch_.decoded_context() / step.decoded());
  }
  return costs_.next(step);
}

Time Server::oldest_unanswered() const {
  const std::optional<std::size_t> oldest = batch_.oldest_unanswered();
  return oldest ? times_[*oldest].arrival : kNever;
}

std::vector<RequestTimes> Server::end_step(Time now, StepLoop loop) {
  const BatchFormer::Progress progress = batch_.end_step(loop);
  ++steps_;
  for (const std::size_t request : progress.began) times_[request].first_token = now;
  std::vector<RequestTimes> ended;
  for (const std::size_t request : progress.ended) {
    times_[request].end = now;
    ended.push_back(times_[request]);
    if (spec_.concurrency > 0 && next_request_ < spec_.requests.size()) arrive(next_request_++, now);
  }
  return ended;
}

}  // namespace corun
