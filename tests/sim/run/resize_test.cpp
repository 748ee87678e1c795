#include <gtest/gtest.h>

#include "tests/support/replay.h"

namespace corun {
namespace {

using namespace std::chrono_literals;
using testing::Facts;

Time after(Duration duration) { return kRunStart + duration; }

/// What a policy sees that a client's owner asks for.
struct Request {
  Time time;
  std::uint32_t client;
  double share;
  std::uint64_t bytes;
  friend bool operator==(const Request&, const Request&) = default;
};

/// Opens every gate and writes down requests.
class Listener : public OpenGates {
 public:
  void on_joined(const GpuView& view, ClientId id) override { joined.push_back(request(view, id)); }
  void on_resized(const GpuView& view, ClientId id) override { resized.push_back(request(view, id)); }

  std::vector<Request> joined, resized;

 private:
  static Request request(const GpuView& view, ClientId id) {
    const ClientView& client = view.client(id);
    return {view.now, id.value, client.requested_share, client.requested_bytes};
  }
};

/// A client that runs a kernel of 10 ms as often as stated and asks for a third and 1 GB at first.
ClientSpec client(const std::string& name, std::uint64_t repeat, std::vector<Resize> resizes = {}) {
  Workload workload;
  workload.names = {"op"};
  WorkOp op;
  op.duration = op.predicted_by_name = op.predicted_by_shape = 10ms;
  workload.ops = {op};
  workload.steps = {HostStep{0ns, StepKind::kSubmit, 0}};
  Job job;
  job.op_count = job.step_count = 1;
  workload.jobs = {job};
  workload.recorded_span = 10ms;
  workload.check();
  ClientSpec spec;
  spec.name = name;
  spec.workload = std::make_shared<Workload>(std::move(workload));
  spec.repeat = repeat;
  spec.requested_share = 0.3;
  spec.requested_bytes = 1'000'000'000;
  spec.resizes = std::move(resizes);
  return spec;
}

struct Outcome {
  Listener heard;
  Facts facts;
  RunResult result;
};

Outcome run(std::vector<ClientSpec> clients, Duration horizon = 10s) {
  Outcome outcome;
  RunInput input{DeviceSpec{}, std::move(clients), &outcome.heard, "listener", horizon, Duration{0}, 1};
  outcome.result = simulate(input, outcome.facts);
  return outcome;
}

TEST(Resize, IsHeardAtItsTimeWithAllThatTheOwnerAsksForThen) {
  const Outcome outcome =
      run({client("a", 10, {{20ms, 0.6, 2'000'000'000}, {50ms, 0.2, 2'000'000'000}}), client("b", 10)});
  const std::vector<Request> expected{{after(20ms), 0, 0.6, 2'000'000'000}, {after(50ms), 0, 0.2, 2'000'000'000}};
  EXPECT_EQ(outcome.heard.resized, expected);
}

TEST(Resize, BeforeTheClientJoinedCountsFromItsJoinAndIsNotHeardByItself) {
  ClientSpec late = client("late", 1, {{20ms, 0.6, 2'000'000'000}});
  late.arrival = 50ms;
  const Outcome outcome = run({client("a", 10), late});
  EXPECT_TRUE(outcome.heard.resized.empty());
  const std::vector<Request> expected{{after(0ms), 0, 0.3, 1'000'000'000}, {after(50ms), 1, 0.6, 2'000'000'000}};
  EXPECT_EQ(outcome.heard.joined, expected);
}

TEST(Resize, AfterTheClientHasFinishedChangesNothingAndDoesNotLengthenTheRun) {
  const Outcome plain = run({client("a", 3), client("b", 5)});
  const Outcome resized = run({client("a", 3, {{5s, 0.6, 0}}), client("b", 5)});
  EXPECT_TRUE(resized.heard.resized.empty());
  EXPECT_EQ(resized.result.end, plain.result.end);
  EXPECT_LE(resized.result.end, after(100ms));
  EXPECT_EQ(resized.result.events, plain.result.events);
  EXPECT_EQ(resized.facts.ops.size(), plain.facts.ops.size());
}

TEST(Resize, AtTheHorizonLiesOutsideTheRun) {
  const Outcome outcome = run({client("a", 0, {{1s, 0.6, 0}})}, 1s);
  EXPECT_TRUE(outcome.heard.resized.empty());
  EXPECT_EQ(outcome.result.end, after(1s));
}

}  // namespace
}  // namespace corun
