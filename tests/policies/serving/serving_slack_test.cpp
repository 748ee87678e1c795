#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

constexpr std::uint32_t kServer = 0, kTrain = 1;

/// A server that promises 50 ms a token, and a training. A step is one kernel.
class Served {
 public:
  explicit Served(Duration promised_ttft = {}, Duration time_slice = 2ms)
      : world(serving_slack_policy(), values(), clients(promised_ttft), device(time_slice)) {
    world.join(kServer);
    world.join(kTrain);
    world.set_depth(kTrain, 100);
    world.set_most_waiting(kTrain, 100);
  }

  /// The server says that a step has ended, which it is made to say at `when`.
  void says(Time when, std::uint64_t steps, Time oldest = kNever) {
    world.at(when, [=, this] { world.arbiter().tell_server(ClientId{kServer}, {steps, oldest}); });
  }
  void step(Time when, Duration length = 10ms) {
    world.at(when, [=, this] { world.script(kServer, {.name = "step", .duration = length}); });
  }
  void train(Time when, std::size_t kernels, Duration each = 500us) {
    world.at(when, [=, this] {
      for (std::size_t i = 0; i < kernels; ++i)
        world.script(kTrain, {.name = "train", .duration = each, .predicted = each});
    });
  }
  std::vector<Time> begins(std::uint32_t client) const {
    std::vector<Time> times;
    for (const FakeLaunch& launch : world.launches_of(client)) times.push_back(launch.time);
    return times;
  }

  FakeBackend world;

 private:
  static DeviceView device(Duration time_slice) {
    DeviceView device = fake_device();
    device.time_slice = time_slice;
    return device;
  }
  static Parameters values() {
    Parameters parameters = serving_slack_policy().defaults();
    parameters.set("tpot_share", 0.8);
    return parameters;
  }
  static std::vector<ClientView> clients(Duration promised_ttft) {
    std::vector<ClientView> all{fake_client("server"), fake_client("train")};
    all[kServer].promised_tpot = 50ms;
    all[kServer].promised_ttft = promised_ttft;
    return all;
  }
};

const Time kZero = kRunStart;

TEST(ServingSlack, AStepWaitsForItsPaceWhileATrainingRuns) {
  Served served;
  served.step(kZero + 1ms);
  served.says(kZero + 11ms, 1);
  served.step(kZero + 11ms);  // due at once: nothing was paced before
  served.says(kZero + 21ms, 2);
  served.step(kZero + 22ms);
  served.train(kZero + 1ms, 200);
  served.world.run_until(kZero + 100ms);
  EXPECT_EQ(served.begins(kServer), (std::vector{kZero + 1ms, kZero + 11ms, kZero + 51ms}));
  const std::vector<Time> train = served.begins(kTrain);
  EXPECT_EQ(std::ranges::count_if(train, [](Time when) { return when > kZero + 1ms && when < kZero + 21ms; }), 0);
  EXPECT_GT(std::ranges::count_if(train, [](Time when) { return when >= kZero + 21ms && when < kZero + 51ms; }), 55);
}

TEST(ServingSlack, KernelsThatWouldEndBehindTheNextStepsBeginWait) {
  Served served;
  served.step(kZero + 1ms);
  served.says(kZero + 11ms, 1);
  served.step(kZero + 11ms);
  served.says(kZero + 21ms, 2);
  served.step(kZero + 21ms);
  served.train(kZero + 20ms, 20, 7ms);  // four of them fit into 30 ms
  served.world.run_until(kZero + 52ms);
  EXPECT_EQ(served.begins(kTrain).size(), 4U);
  EXPECT_EQ(served.begins(kServer).back(), kZero + 51ms);
}

TEST(ServingSlack, ARequestThatWaitsForItsFirstTokenGetsTheDevice) {
  Served served;
  served.step(kZero + 1ms);
  served.says(kZero + 11ms, 1);
  served.step(kZero + 11ms);
  served.says(kZero + 21ms, 2, kZero + 15ms);
  served.step(kZero + 22ms);
  served.train(kZero + 11ms, 200);
  served.world.run_until(kZero + 40ms);
  EXPECT_EQ(served.begins(kServer).back(), kZero + 22ms);
  const std::vector<Time> train = served.begins(kTrain);
  EXPECT_EQ(std::ranges::count_if(train, [](Time when) { return when < kZero + 32ms; }), 0);
}

TEST(ServingSlack, AStepThatItsServerAsksForLateIsPacedFromThen) {
  Served served;
  served.step(kZero + 1ms);
  served.says(kZero + 11ms, 1);
  served.step(kZero + 11ms);
  served.says(kZero + 21ms, 2);
  served.step(kZero + 60ms);  // was due at 51 ms
  served.says(kZero + 70ms, 3);
  served.step(kZero + 70ms);
  served.train(kZero + 20ms, 300);
  served.world.run_until(kZero + 120ms);
  EXPECT_EQ(served.begins(kServer), (std::vector{kZero + 1ms, kZero + 11ms, kZero + 60ms, kZero + 100ms}));
}

TEST(ServingSlack, AKernelThatOverrunsShortensTheSlackBehindTheNextStep) {
  Served served;
  served.step(kZero + 1ms);
  served.says(kZero + 11ms, 1);
  served.step(kZero + 11ms);
  served.says(kZero + 21ms, 2);
  served.step(kZero + 22ms, 25ms);  // 10 ms of its own, and 15 ms for the rest of a kernel
  served.world.at(kZero + 21ms,
                  [&] { served.world.script(kTrain, {.name = "train", .duration = 45ms, .predicted = 1ms}); });
  served.says(kZero + 76ms, 3);
  served.step(kZero + 76ms);
  served.train(kZero + 70ms, 300);
  served.world.run_until(kZero + 120ms);
  EXPECT_EQ(served.begins(kServer), (std::vector{kZero + 1ms, kZero + 11ms, kZero + 51ms, kZero + 91ms}));
}

TEST(ServingSlack, AServerThatSaysNothingHasTheDeviceWhenItWantsIt) {
  Served served;
  for (int step = 0; step < 5; ++step) served.step(kZero + 1ms + step * 10ms);
  served.train(kZero + 1ms, 200);
  served.world.run_until(kZero + 51ms);
  EXPECT_EQ(served.begins(kServer).size(), 5U);
  EXPECT_EQ(served.begins(kServer).back(), kZero + 41ms);
  const std::vector<Time> train = served.begins(kTrain);
  EXPECT_EQ(std::ranges::count_if(train, [](Time when) { return when > kZero + 1ms && when < kZero + 51ms; }), 0);
}

TEST(ServingSlack, AServerDoesNotWaitForATrainingWithoutWork) {
  Served served;
  served.train(kZero, 1);
  served.step(kZero + 10ms);
  served.says(kZero + 20ms, 1);
  served.step(kZero + 20ms);
  served.says(kZero + 30ms, 2);
  served.step(kZero + 30ms);
  served.world.run_until(kZero + 60ms);
  EXPECT_EQ(served.begins(kServer), (std::vector{kZero + 10ms, kZero + 20ms, kZero + 30ms}));
}

TEST(ServingSlack, LateFirstTokensShortenThePace) {
  Served served(100ms);
  served.step(kZero + 1ms);
  served.says(kZero + 11ms, 1, kZero);
  served.says(kZero + 100ms, 2);  // the request has waited for 100 ms; 50 are late
  served.step(kZero + 101ms);     // due at once, and sets what is due next
  served.says(kZero + 111ms, 3);
  served.step(kZero + 111ms);
  served.train(kZero, 1000);
  served.world.run_until(kZero + 180ms);
  const Parameters defaults = serving_slack_policy().defaults();
  const double pace = 1.0 - defaults.real("gain") * (1.0 - defaults.real("late_share"));
  EXPECT_NEAR(to_milliseconds(served.begins(kServer).back() - (kZero + 101ms)), 40.0 * pace, 0.01);
}

TEST(ServingSlack, WhereContextsRunAtOnceOthersRunAlongUntilStepsAreAsLongAsTheirInterval) {
  Served served({}, Duration{});
  // Each step takes 5 ms and 0.92 of the time in which the training runs along.
  Duration length = 5ms;
  Time now = kZero + 1ms;
  served.train(kZero, 20'000, 250us);
  for (std::uint64_t step = 1; step <= 60; ++step) {
    served.step(now, length);
    served.says(now + length, step);
    served.world.run_until(now + length);
    const std::vector<Time> train = served.begins(kTrain);
    const auto along = std::ranges::count_if(train, [&](Time when) { return when > now && when < now + length; });
    now += length;
    length = 5ms + along * 230us;
  }
  EXPECT_NEAR(to_milliseconds(length), 40.0, 1.0);
  EXPECT_EQ(served.begins(kServer).size(), 60U) << "no step waits";
}

TEST(ServingSlack, FillersRunFreelyWithoutAServer) {
  Served served;
  served.world.leave(kServer);
  served.train(kZero + 1ms, 50);
  served.world.run_until(kZero + 2ms);
  EXPECT_TRUE(served.world.gate_is_open(kTrain));
  EXPECT_EQ(served.begins(kTrain).size(), 50U);
}

}  // namespace
}  // namespace corun
