#include "policies/parts/residents.h"

#include <gtest/gtest.h>

#include "policies/parts/rendering.h"
#include "policies/parts/turns.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""ns;
using std::chrono_literals::operator""s;

constexpr std::uint64_t kGb = 1'000'000'000;

Time after(Duration duration) { return kRunStart + duration; }

/// Clients that ask for the device, whose memory is never counted.
struct Crowd {
  explicit Crowd(const std::vector<std::uint64_t>& working_sets, bool together = true)
      : residents({.overhead = 0.05,
                   .shortest_turn = 50ms,
                   .longest_turn = 30s,
                   .together = together,
                   .thrash_bytes_per_s = 100e6}),
        clients(working_sets.size()) {
    device.memory_bytes = 16 * kGb;
    device.to_device_bytes_per_s = 10 * kGb;
    for (std::uint32_t i = 0; i < clients.size(); ++i) {
      clients[i].id = ClientId{i};
      clients[i].working_set_bytes = working_sets[i];
      clients[i].is_present = true;
      clients[i].waiting = waiting;
    }
  }
  GpuView view(Duration now) const { return {after(now), device, clients}; }
  std::vector<std::uint32_t> members(Duration now) {
    residents.settle(view(now));
    std::vector<std::uint32_t> all;
    for (const ClientId member : residents.members()) all.push_back(member.value);
    return all;
  }

  const std::vector<OpView> waiting = std::vector<OpView>(1);
  DeviceView device;
  Residents residents;
  std::vector<ClientView> clients;
};

using Members = std::vector<std::uint32_t>;

TEST(Residents, ClientsThatJustFitAreResidentTogether) {
  Crowd crowd({10 * kGb, 6 * kGb});
  EXPECT_EQ(crowd.members(0s), (Members{0, 1}));
  EXPECT_EQ(crowd.residents.room(crowd.view(0s)), 0.0);
  Crowd larger({10 * kGb, 6 * kGb + 1});
  EXPECT_EQ(larger.members(0s), (Members{0}));
  EXPECT_EQ(larger.residents.room(larger.view(0s)), 6e9);
}

TEST(Residents, EveryPresentClientsContextTakesRoom) {
  Crowd crowd({10 * kGb, 5 * kGb + kGb / 5, kGb});
  crowd.device.context_bytes = 4 * kGb / 10;
  crowd.clients[2].waiting = {};
  EXPECT_EQ(crowd.members(0s), (Members{0}));
  EXPECT_EQ(crowd.residents.room(crowd.view(0s)), 16e9 - 3 * 0.4e9 - 10e9);
  crowd.clients[2].is_present = false;
  EXPECT_EQ(crowd.members(1ms), (Members{0, 1})) << "5.2 GB are left";
}

TEST(Residents, NeedIsTheWorkingSetOrWhatTheClientAllocates) {
  ClientView client;
  client.allocated_bytes = 7;
  EXPECT_EQ(Residents::need(client), 7.0);
  client.working_set_bytes = 1;
  EXPECT_EQ(Residents::need(client), 1.0);
}

TEST(Residents, OneClientAtATimeWhereTheyMayNotBeTogether) {
  Crowd crowd({kGb, kGb}, false);
  EXPECT_EQ(crowd.members(0s), (Members{0}));
}

TEST(Residents, TurnEndsWhenItsMemoryHasPaidAndTheNextClientComes) {
  Crowd crowd({10 * kGb, 10 * kGb});
  EXPECT_EQ(crowd.members(0s), (Members{0}));
  // 10 GB take 1 s; 21 s of residence keep that to 5 % of the rest.
  EXPECT_EQ(crowd.residents.next_look(crowd.view(0s)), after(21s));
  EXPECT_EQ(crowd.members(21s - 1ns), (Members{0}));
  crowd.clients[0].in_flight = 1;
  EXPECT_EQ(crowd.members(21s), (Members{0}));
  EXPECT_TRUE(crowd.residents.is_leaving()) << "until it has drained";
  crowd.clients[0].in_flight = 0;
  EXPECT_EQ(crowd.members(22s), (Members{1}));
  EXPECT_FALSE(crowd.residents.is_leaving());
  EXPECT_EQ(crowd.residents.next_look(crowd.view(22s)), after(43s)) << "the first one asks again";
}

TEST(Residents, IdleSetGivesWayAfterTheTimeThatAChangeCosts) {
  Crowd crowd({10 * kGb, 10 * kGb});
  EXPECT_EQ(crowd.members(0s), (Members{0}));
  crowd.clients[0].waiting = {};
  EXPECT_EQ(crowd.members(5s), (Members{0}));
  EXPECT_EQ(crowd.residents.next_look(crowd.view(5s)), after(6s));
  EXPECT_EQ(crowd.members(6s - 1ns), (Members{0}));
  EXPECT_EQ(crowd.members(6s), (Members{1}));
}

TEST(Residents, WorkEndsTheIdleTimeOfASet) {
  Crowd crowd({10 * kGb, 10 * kGb});
  EXPECT_EQ(crowd.members(0s), (Members{0}));
  crowd.clients[0].waiting = {};
  EXPECT_EQ(crowd.members(5s), (Members{0}));
  crowd.clients[0].in_flight = 1;
  EXPECT_EQ(crowd.members(5'500ms), (Members{0}));
  crowd.clients[0].in_flight = 0;
  EXPECT_EQ(crowd.members(5'600ms), (Members{0}));
  EXPECT_EQ(crowd.members(6'600ms - 1ns), (Members{0}));
  EXPECT_EQ(crowd.members(6'600ms), (Members{1}));
}

TEST(Residents, LoneSetStaysForEver) {
  Crowd crowd({10 * kGb});
  EXPECT_EQ(crowd.members(0s), (Members{0}));
  EXPECT_EQ(crowd.members(100s), (Members{0}));
  EXPECT_EQ(crowd.residents.next_look(crowd.view(100s)), kNever);
}

TEST(Residents, MemoryThatIsMissingIsBroughtInWhereMemoryIsScarce) {
  Crowd crowd({10 * kGb, 10 * kGb});
  crowd.clients[1].resident_bytes = 10 * kGb;
  EXPECT_EQ(crowd.members(0s), (Members{0}));
  ASSERT_EQ(crowd.residents.take_to_load().size(), 1U);
  EXPECT_TRUE(crowd.residents.take_to_load().empty()) << "said once";
  EXPECT_EQ(crowd.residents.loading(crowd.view(0s)), ClientId{0});
  EXPECT_EQ(crowd.residents.next_look(crowd.view(0s)), after(10ms)) << "no event says that it is there";
  crowd.clients[0].resident_bytes = 10 * kGb - 4097;
  crowd.residents.settle(crowd.view(10ms));
  EXPECT_EQ(crowd.residents.loading(crowd.view(10ms)), ClientId{0});
  crowd.clients[0].resident_bytes = 10 * kGb - 4096;
  crowd.residents.settle(crowd.view(20ms));
  EXPECT_EQ(crowd.residents.loading(crowd.view(20ms)), std::nullopt) << "a page is rounding";
}

TEST(Residents, WhereAllFitsNothingIsBroughtIn) {
  Crowd crowd({8 * kGb, 8 * kGb});
  crowd.clients[1].resident_bytes = 8 * kGb;
  EXPECT_EQ(crowd.members(0s), (Members{0, 1}));
  EXPECT_TRUE(crowd.residents.take_to_load().empty());
}

TEST(ThrashDetector, PagesInMoreThanItsRateAllowsInTwoLooksATenthOfASecondApart) {
  for (const std::uint64_t more : {0U, 1U}) {
    ThrashDetector detector(100e6);
    std::vector<ClientView> clients(1);
    const std::vector<ClientId> one{ClientId{0}};
    const auto look = [&](Duration now, std::uint64_t paged) {
      clients[0].paged_bytes = paged;
      return detector.look(GpuView{after(now), {}, clients}, one);
    };
    const std::uint64_t step = 10'000'000 + more;
    EXPECT_EQ(detector.next_look(after(0s)), after(100ms));
    EXPECT_FALSE(look(0s, 0));
    EXPECT_FALSE(look(99ms, kGb)) << "too early to look";
    EXPECT_FALSE(look(100ms, step));
    EXPECT_EQ(detector.next_look(after(150ms)), after(200ms));
    EXPECT_EQ(look(200ms, 2 * step), more > 0);
    EXPECT_EQ(look(250ms, 2 * step), more > 0) << "until it looks again";
    detector.forget();
    EXPECT_FALSE(look(300ms, 3 * step));
  }
}

TEST(Turns, GoRoundFromTheClientThatWasServedLast) {
  std::vector<ClientView> clients(3);
  for (std::uint32_t i = 0; i < 3; ++i) clients[i].id = ClientId{i}, clients[i].is_present = true;
  const GpuView view{kRunStart, {}, clients};
  const auto any = [](const ClientView&) { return true; };
  Turns turns;
  EXPECT_EQ(turns.next(view, any), ClientId{0});
  turns.serve(ClientId{1});
  EXPECT_EQ(turns.next(view, any), ClientId{2});
  turns.serve(ClientId{2});
  EXPECT_EQ(turns.next(view, any), ClientId{0});
  clients[0].is_present = false;
  EXPECT_EQ(turns.next(view, any), ClientId{1});
  EXPECT_EQ(turns.next(view, [](const ClientView& client) { return client.id == ClientId{2}; }), ClientId{2});
  EXPECT_EQ(turns.next(view, [](const ClientView&) { return false; }), std::nullopt);
}

TEST(Rendering, PollSeesWhatHappensAtTheEndOfItsPeriod) {
  EXPECT_EQ(next_poll(after(0s), 10ms), after(0s));
  EXPECT_EQ(next_poll(after(1ns), 10ms), after(10ms));
  EXPECT_EQ(next_poll(after(10ms), 10ms), after(10ms));
  EXPECT_EQ(next_poll(after(10ms + 1ns), 10ms), after(20ms));
  EXPECT_EQ(next_poll(after(7ns), Duration{0}), after(7ns)) << "at once";
}

}  // namespace
}  // namespace corun
