#include "sim/calibration/fits/prediction.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "sim/device/device_model.h"

namespace corun::calibration {

namespace {

class Rehearsal {
 public:
  Rehearsal(const DeviceSpec& spec, const std::vector<Program>& programs, Duration length)
      : device_(make_device(spec)), programs_(programs), states_(programs.size()), end_(kRunStart + length) {
    for (std::uint32_t i = 0; i < programs.size(); ++i) {
      device_->join(ClientId{i}, {});
      if (!programs[i].at.empty()) states_[i].due = kRunStart + programs[i].at.front();
    }
  }

  std::vector<Progress> run() {
    submit_due();
    for (Time next = next_instant(); next < end_; next = next_instant()) {
      step(next);
      submit_due();
    }
    step(end_);
    return progress();
  }

 private:
  struct State {
    std::size_t ops_done = 0;
    std::size_t jobs_submitted = 0;
    Time due = kRunStart;        ///< when the next job may be submitted
    std::deque<Time> submitted;  ///< jobs in flight
    std::optional<Time> begin;   ///< of the oldest of them
    std::vector<Time> ends;
    std::vector<double> waits_ns, takes_ns;
  };

  Time next_instant() const {
    Time next = device_->next_change();
    for (std::size_t i = 0; i < programs_.size(); ++i)
      if (may_submit(i) && states_[i].due > now_) next = std::min(next, states_[i].due);
    return next;
  }

  void step(Time to) {
    completions_.clear();
    device_->advance(to, completions_);
    now_ = to;
    for (const Completion& completion : completions_) {
      State& state = states_[completion.client.value];
      if (!state.begin) state.begin = completion.begin;
      if (++state.ops_done % programs_[completion.client.value].ops.size() == 0) end_job(state, completion.end);
    }
  }

  static void end_job(State& state, Time end) {
    const Time submitted = state.submitted.front();
    state.submitted.pop_front();
    state.waits_ns.push_back(static_cast<double>(to_ns(*state.begin - submitted)));
    state.takes_ns.push_back(static_cast<double>(to_ns(end - submitted)));
    state.ends.push_back(end);
    state.begin.reset();
  }

  bool may_submit(std::size_t client) const {
    const Program& program = programs_[client];
    if (!program.at.empty()) return states_[client].jobs_submitted < program.at.size();
    return states_[client].submitted.size() < program.ahead;
  }

  void submit_due() {
    for (std::uint32_t i = 0; i < programs_.size(); ++i)
      while (may_submit(i) && states_[i].due <= now_) submit(i);
  }

  void submit(std::uint32_t client) {
    const Program& program = programs_[client];
    for (const Duration duration : program.ops) {
      DeviceOp op;
      op.ticket = next_ticket_++;
      op.client = ClientId{client};
      op.kind = program.kind;
      op.duration = duration;
      op.ready_at = now_;
      op.shape = program.shape;
      device_->submit(op, now_);
    }
    State& state = states_[client];
    state.submitted.push_back(now_);
    ++state.jobs_submitted;
    if (program.at.empty()) {
      state.due = std::max(now_, state.due + program.period);
    } else if (state.jobs_submitted < program.at.size()) {
      state.due = kRunStart + program.at[state.jobs_submitted];
    }
  }

  std::vector<Progress> progress() const {
    std::vector<Progress> all;
    const double length = to_seconds(end_ - kRunStart);
    for (std::uint32_t i = 0; i < programs_.size(); ++i) {
      const std::vector<Time>& ends = states_[i].ends;
      Progress its;
      its.jobs_per_s = static_cast<double>(ends.size()) / length;
      its.device_share = to_seconds(device_->device_time(ClientId{i})) / length;
      if (ends.size() > 1)
        its.job_ns = static_cast<double>(to_ns(ends.back() - ends.front())) / static_cast<double>(ends.size() - 1);
      its.waits_ns = states_[i].waits_ns;
      its.takes_ns = states_[i].takes_ns;
      all.push_back(its);
    }
    return all;
  }

  std::unique_ptr<DeviceModel> device_;
  const std::vector<Program>& programs_;
  std::vector<State> states_;
  std::vector<Completion> completions_;
  const Time end_;
  Time now_ = kRunStart;
  Ticket next_ticket_ = 0;
};

}  // namespace

std::vector<Progress> predict(const DeviceSpec& spec, const std::vector<Program>& programs, Duration length) {
  return Rehearsal(spec, programs, length).run();
}

}  // namespace corun::calibration
