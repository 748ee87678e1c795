// What the arbiter shows a policy and keeps of what it stated, on the fake device.

#include <gtest/gtest.h>

#include <functional>

#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using namespace std::chrono_literals;

using Decide = std::function<void(const GpuView&, Actions&)>;

class Scripted : public Policy {
 public:
  explicit Scripted(Decide decide) : decide_(std::move(decide)) {}
  void decide(const GpuView& view, Actions& actions) override { decide_(view, actions); }

 private:
  const Decide decide_;
};

PolicyDescriptor policy_of(const Decide& decide) {
  PolicyDescriptor descriptor;
  descriptor.name = "scripted";
  descriptor.create = [decide](const Parameters&) { return std::make_unique<Scripted>(decide); };
  return descriptor;
}

constexpr ClientId kFirst{0}, kSecond{1};

/// Two clients, present from the start; the policy is asked at every millisecond.
class ArbiterTest : public testing::Test {
 protected:
  void run(const Decide& decide, const std::function<void(FakeBackend&)>& script) {
    const PolicyDescriptor descriptor = policy_of(decide);
    world = std::make_unique<FakeBackend>(descriptor, descriptor.defaults(),
                                          std::vector{fake_client("first"), fake_client("second")});
    world->at(kRunStart, [this] { world->join(0), world->join(1); });
    for (int ms = 1; ms <= 10; ++ms) world->at(kRunStart + ms * 1ms, [this] { world->request_decision(); });
    script(*world);
    world->run_dry(100);
  }
  void submit(std::uint32_t client, Duration at) {
    world->at(kRunStart + at, [=, this] { world->script(client, {.duration = 100us}); });
  }

  std::unique_ptr<FakeBackend> world;
};

TEST_F(ArbiterTest, AKeptHoldGoesOnUntilItsOperationsHavePassed) {
  bool is_held_later = true;
  run(
      [](const GpuView& view, Actions& actions) {
        actions.keep_holds();
        if (view.now == kRunStart + 1ms) actions.hold(kFirst, {"rule", 1, 2, "ns"});
        const bool waits = !view.client(kFirst).waiting.empty();
        if (view.now == kRunStart + 5ms && waits) actions.admit(kFirst);
      },
      [&](FakeBackend&) {
        submit(0, 1ms);
        submit(0, 7ms);
        world->at(kRunStart + 8ms, [&] { is_held_later = world->arbiter().hold_of(kFirst) != nullptr; });
      });
  ASSERT_EQ(world->holds().size(), 1U);
  EXPECT_EQ(world->holds()[0].begin, kRunStart + 1ms);
  EXPECT_EQ(world->holds()[0].end, kRunStart + 5ms);
  EXPECT_EQ(world->holds()[0].hold.rule, "rule");
  EXPECT_FALSE(is_held_later);
}

TEST_F(ArbiterTest, AHoldWithoutARuleTakesBackAndOneThatIsNotKeptLapses) {
  for (const bool takes_back : {true, false}) {
    run(
        [&](const GpuView& view, Actions& actions) {
          if (takes_back) actions.keep_holds();
          if (view.now == kRunStart + 1ms) actions.hold(kFirst, {"rule", 0, 0, ""});
          if (takes_back && view.now == kRunStart + 3ms) actions.hold(kFirst, {});
        },
        [&](FakeBackend&) { submit(0, 1ms); });
    ASSERT_EQ(world->holds().size(), 1U);
    EXPECT_EQ(world->holds()[0].end, kRunStart + (takes_back ? 3ms : 2ms));
  }
}

TEST_F(ArbiterTest, ADecisionSeesWhichClientsHaveChangedSinceTheLast) {
  std::map<Duration, std::vector<ClientId>> changed;
  run(
      [&](const GpuView& view, Actions& actions) {
        changed[view.now - kRunStart].assign(view.changed.begin(), view.changed.end());
        if (view.now == kRunStart + 4ms) actions.open(kSecond);
      },
      [&](FakeBackend&) { submit(1, 2ms); });
  EXPECT_EQ(changed[0ms], (std::vector{kFirst, kSecond}));
  EXPECT_TRUE(changed[1ms].empty());
  EXPECT_EQ(changed[2ms], std::vector{kSecond});  // submitted
  EXPECT_TRUE(changed[3ms].empty());
  EXPECT_EQ(changed[4ms], std::vector{kSecond});          // launched, in the second decision of the instant
  EXPECT_EQ(changed[4ms + 100us], std::vector{kSecond});  // completed
  EXPECT_TRUE(changed[5ms].empty());
}

}  // namespace
}  // namespace corun
