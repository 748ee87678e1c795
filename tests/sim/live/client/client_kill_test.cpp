// One client of a live run whose processes are killed, at any moment of what they do.
#include <rapidcheck/gtest.h>

#include "tests/sim/live/client/one_client.h"

namespace corun {
namespace {

using namespace std::chrono_literals;

class ClientKill : public testing::OneClient {
 protected:
  enum class Step : std::uint8_t { kLaunch, kEnd, kTurnGate, kKill };
  static constexpr std::uint32_t kPerJob = 3;

  void begin() {
    Workload workload;
    workload.names = {"kernel"};
    workload.jobs = {Job{.first_op = 0, .op_count = kPerJob}};
    for (std::uint32_t i = 0; i < kPerJob; ++i) workload.ops.push_back(WorkOp{});
    spec_.workload = std::make_shared<const Workload>(workload);
    join();
  }

  void take(Step step) {
    switch (step) {
      case Step::kLaunch:
        unended_.push_back(launch());
        break;
      case Step::kEnd:
        if (can_end()) end_oldest();
        break;
      case Step::kTurnGate:
        set_open(!policy_.is_open);
        break;
      case Step::kKill:
        kill();
        break;
    }
    client_->poll();
    decide();
  }
  /// A device ends what has passed the gate.
  bool can_end() const { return !unended_.empty() && policy_.launched.size() > facts_.ops.size(); }
  void end_oldest() {
    end({unended_.front()}, 1us);
    unended_.erase(unended_.begin());
    client_->poll();
    ++ended_;
    if (ended_ % kPerJob == 0) ++jobs_;
  }
  /// What was in flight then may yet be said to have ended: by then nobody waits for it.
  void kill() {
    client_->lose_work();
    decide();
    if (!unended_.empty()) end({unended_.front()}, 1us);
    unended_.clear();
    ended_ = 0;
  }

  std::vector<std::uint64_t> unended_;  // in the lane
  std::uint64_t ended_ = 0, jobs_ = 0;  // since the last kill; model
};

RC_GTEST_FIXTURE_PROP(ClientKill, LosesWhatWasBegunAndNothingOfWhatComesAfter, ()) {
  const auto steps = *rc::gen::container<std::vector<Step>>(
      rc::gen::weightedElement<Step>({{6, Step::kLaunch}, {4, Step::kEnd}, {2, Step::kTurnGate}, {1, Step::kKill}}));
  begin();
  for (const Step step : steps) {
    take(step);
    RC_ASSERT(client_->fault().empty());
    if (step == Step::kKill) RC_ASSERT(policy_.launched.size() == facts_.ops.size());
  }
  set_open(true);
  while (can_end()) end_oldest();
  RC_ASSERT(unended_.empty());
  RC_ASSERT(policy_.launched.size() == facts_.ops.size());
  RC_ASSERT(facts_.jobs.size() == jobs_);
}

}  // namespace
}  // namespace corun
