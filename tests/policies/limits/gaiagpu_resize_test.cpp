// What an owner asks for, when its client starts and while it runs, under the limiters.

#include <gtest/gtest.h>

#include "policies/builtin.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

constexpr std::uint64_t kGigabyte = 1'000'000'000;

Time after(Duration duration) { return kRunStart + duration; }

ClientView asking(const std::string& name, double share, std::uint64_t bytes = 0) {
  ClientView client = fake_client(name);
  client.requested_share = share;
  client.requested_bytes = bytes;
  client.allocated_bytes = 3 * kGigabyte;
  return client;
}

Parameters gaiagpu(const std::string& resize, ByClient limits = {}) {
  Parameters parameters = gaiagpu_policy().defaults();
  parameters.set("resize", resize);
  parameters.set("limits", std::move(limits));
  return parameters;
}

Parameters forced_hami() {
  Parameters parameters = hami_policy().defaults();
  parameters.set("throttling", std::string("force"));
  return parameters;
}

/// Two clients that launch kernels of 1 ms back to back from the start on, with as many blocks as the limiter's step
/// can hold well on a V100.
class Busy {
 public:
  Busy(const PolicyDescriptor& policy, const Parameters& parameters, const std::vector<ClientView>& clients,
       const DeviceView& device = fake_device())
      : world(policy, parameters, clients, device) {
    for (std::uint32_t i = 0; i < clients.size(); ++i) {
      world.join(i);
      for (int op = 0; op < 60'000; ++op)
        world.script(i, {.duration = 1ms, .predicted = 1ms, .blocks = policy.name == "hami" ? 1'000U : 16'384U});
    }
  }

  void resize_at(Duration when, std::uint32_t client, double share, std::uint64_t bytes = 0) {
    world.at(after(when), [this, client, share, bytes] { world.arbiter().resize(ClientId{client}, share, bytes); });
  }

  /// Shares in percent that the clients have of [from, to).
  std::vector<double> used(Duration from, Duration to) {
    world.run_until(after(from));
    std::vector<Duration> before;
    for (std::uint32_t i = 0; i < 2; ++i) before.push_back(world.device_time(ClientId{i}));
    world.run_until(after(to));
    std::vector<double> percent;
    for (std::uint32_t i = 0; i < 2; ++i)
      percent.push_back(to_seconds(world.device_time(ClientId{i}) - before[i]) / to_seconds(to - from) * 100);
    return percent;
  }

  FakeBackend world;
};

constexpr double kPoints = 5.0;
constexpr Duration kSettled{2s};  // the sensor's window, and as long for the controller

TEST(Quota, OwnersShareIsTheLimitOfAClientThatTheParameterDoesNotName) {
  for (const auto& [policy, parameters] :
       {std::pair(gaiagpu_policy(), gaiagpu_policy().defaults()), std::pair(hami_policy(), forced_hami()),
        std::pair(block_time_limiter_policy(), block_time_limiter_policy().defaults())}) {
    SCOPED_TRACE(policy.name);
    Parameters with = parameters;
    with.set("limits", ByClient{{"named", 0.5}});
    Busy busy(policy, with, {asking("named", 0.2), asking("unnamed", 0.2)});
    const auto used = busy.used(10s, 40s);
    EXPECT_NEAR(used[0], 50, kPoints);
    EXPECT_NEAR(used[1], 20, kPoints);
  }
}

TEST(Quota, OwnerOfAWholeCardIsNeitherLimitedNorCapped) {
  Busy busy(gaiagpu_policy(), gaiagpu("never"), {asking("whole", 1.0, kGigabyte), asking("part", 0.2)});
  EXPECT_TRUE(busy.world.refusals().empty());
  EXPECT_GT(busy.used(10s, 20s)[0], 99);
}

TEST(Quota, OwnersMemoryIsTheCapOfAClientThatTheParameterDoesNotName) {
  Parameters parameters = gaiagpu("never");
  parameters.set("memory_limits", ByClient{{"named", 4.0}});
  Busy busy(gaiagpu_policy(), parameters, {asking("named", 0.3, kGigabyte), asking("unnamed", 0.3, kGigabyte)});
  busy.world.run_until(after(1s));
  ASSERT_EQ(busy.world.refusals().size(), 1U);
  EXPECT_EQ(busy.world.refusals()[0].reason.rule, "memory_cap");
  EXPECT_EQ(busy.world.refusals()[0].reason.available, 1e9);
  EXPECT_TRUE(busy.world.is_present(0));
}

/// The limiters that follow a resize.
std::vector<std::pair<PolicyDescriptor, Parameters>> dynamic_limiters() {
  return {{gaiagpu_policy(), gaiagpu("at_once")},
          {block_time_limiter_policy(), block_time_limiter_policy().defaults()}};
}

TEST(DynamicAllocation, UseFollowsAStaircaseOfResizesAndTheNeighbourKeepsItsShare) {
  for (const auto& [policy, parameters] : dynamic_limiters()) {
    SCOPED_TRACE(policy.name);
    Busy busy(policy, parameters, {asking("a", 0.3), asking("b", 0.4)});
    busy.resize_at(20s, 0, 0.6);
    busy.resize_at(40s, 0, 0.2);
    for (const auto& [begin, limit] :
         {std::pair(Duration{0s}, 30), std::pair(Duration{20s}, 60), std::pair(Duration{40s}, 20)}) {
      for (const auto& [from, until] : {std::pair(begin + kSettled, begin + 5s), std::pair(begin + 5s, begin + 20s)}) {
        SCOPED_TRACE(begin / 1s);
        const auto used = busy.used(from, until);
        EXPECT_NEAR(used[0], limit, kPoints);
        EXPECT_NEAR(used[1], 40, kPoints);
        EXPECT_LE(used[0] + used[1], 105);
      }
    }
  }
}

TEST(DynamicAllocation, ResizeBeyondWhatTheCardHasLeftIsRefusedAndForgotten) {
  for (const auto& [policy, parameters] : dynamic_limiters()) {
    SCOPED_TRACE(policy.name);
    Busy busy(policy, parameters, {asking("a", 0.3), asking("b", 0.6)});
    busy.resize_at(10s, 0, 0.5);
    EXPECT_NEAR(busy.used(13s, 20s)[0], 30, kPoints) << "60 of 100 are the neighbour's";
    busy.resize_at(20s, 1, 0.2);
    EXPECT_NEAR(busy.used(23s, 30s)[0], 30, kPoints) << "room that comes later is not given by itself";
    busy.resize_at(30s, 0, 0.5);
    EXPECT_NEAR(busy.used(33s, 40s)[0], 50, kPoints);
  }
}

TEST(DynamicAllocation, ClientThatLeftGivesItsShareBack) {
  Busy busy(gaiagpu_policy(), gaiagpu("at_once"), {asking("a", 0.3), asking("b", 0.6)});
  busy.world.at(after(9s), [&] { busy.world.leave(1); });
  busy.resize_at(10s, 0, 0.9);
  EXPECT_GT(busy.used(13s, 20s)[0], 80);
}

TEST(DynamicAllocation, ResizeForMoreMemoryThanTheCardHasLeftIsRefusedAsAWhole) {
  DeviceView device = fake_device();
  device.memory_bytes = 16 * kGigabyte;
  for (const std::uint64_t bytes : {6 * kGigabyte, 7 * kGigabyte}) {
    Busy busy(gaiagpu_policy(), gaiagpu("at_once"), {asking("a", 0.3, 4 * kGigabyte), asking("b", 0.3, 10 * kGigabyte)},
              device);
    busy.resize_at(10s, 0, 0.6, bytes);
    EXPECT_NEAR(busy.used(13s, 30s)[0], bytes == 6 * kGigabyte ? 60 : 30, kPoints) << bytes;
  }
}

TEST(DynamicAllocation, LessMemoryThanItUsesEndsNoRunningClient) {
  Busy busy(gaiagpu_policy(), gaiagpu("at_once"), {asking("a", 0.3, 4 * kGigabyte), asking("b", 0.3)});
  busy.resize_at(10s, 0, 0.3, kGigabyte);
  EXPECT_NEAR(busy.used(13s, 20s)[0], 30, kPoints);
  EXPECT_TRUE(busy.world.refusals().empty());
}

TEST(DynamicAllocation, ClientWithoutALimitGetsOneAndLosesItWithAWholeCard) {
  for (const auto& [policy, parameters] : dynamic_limiters()) {
    SCOPED_TRACE(policy.name);
    Busy busy(policy, parameters, {asking("a", 0.0), asking("b", 0.0)});
    EXPECT_GT(busy.used(5s, 10s)[0], 99);
    busy.resize_at(10s, 0, 0.3);
    EXPECT_NEAR(busy.used(13s, 20s)[0], 30, kPoints);
    busy.resize_at(20s, 0, 1.0);
    EXPECT_GT(busy.used(21s, 30s)[0], 99);
  }
}

TEST(DynamicAllocation, FirstLimitOfAClientWithoutOneIsLessThanItHadAndNeverRefused) {
  Busy busy(gaiagpu_policy(), gaiagpu("at_once"), {asking("a", 0.0), asking("b", 0.8)});
  busy.resize_at(5s, 0, 0.3);
  EXPECT_NEAR(busy.used(8s, 20s)[0], 30, kPoints);
}

TEST(DynamicAllocation, ReleasedLimitersReadALimitOnce) {
  for (const auto& [policy, parameters] :
       {std::pair(gaiagpu_policy(), gaiagpu_policy().defaults()), std::pair(hami_policy(), forced_hami())}) {
    SCOPED_TRACE(policy.name);
    Busy busy(policy, parameters, {asking("a", 0.3), asking("b", 0.3)});
    busy.resize_at(10s, 0, 0.6);
    EXPECT_NEAR(busy.used(13s, 30s)[0], 30, kPoints);
  }
}

TEST(DynamicAllocation, ParameterGoesBeforeAResize) {
  Busy busy(gaiagpu_policy(), gaiagpu("at_once", {{"a", 0.3}}), {asking("a", 0.3), asking("b", 0.3)});
  busy.resize_at(10s, 0, 0.6);
  EXPECT_NEAR(busy.used(13s, 30s)[0], 30, kPoints);
}

TEST(DynamicAllocation, ResizedElasticLimitBeginsAtTheNewRequest) {
  Parameters parameters = gaiagpu("at_once");
  parameters.set("mode", std::string("elastic"));
  Busy busy(gaiagpu_policy(), parameters, {asking("a", 0.3), asking("b", 0.2)});
  EXPECT_GT(busy.used(35s, 40s)[0], 45) << "it has grown";
  busy.resize_at(40s, 0, 0.2);
  EXPECT_LT(busy.used(43s, 46s)[0], 30);
}

}  // namespace
}  // namespace corun
