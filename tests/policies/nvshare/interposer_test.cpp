// nvshare's library and daemon one by one, at the boundaries of their times and windows.

#include "policies/nvshare/interposer.h"

#include <gtest/gtest.h>

#include "policies/nvshare/lock.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""ns;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""us;
using Message = NvshareInterposer::Message;

Time after(Duration duration) { return kRunStart + duration; }

NvshareInterposer::Settings settings() {
  return {.early_release = 5s, .utilisation_window = 1s, .slip = 1us, .window = {.most = 2048}};
}

OpView kernel(Time submitted = kRunStart) {
  OpView op;
  op.submitted = submitted;
  return op;
}
OpView copy() {
  OpView op;
  op.is_copy = true;
  return op;
}
OpView frame() {
  OpView op;
  op.is_render = true;
  return op;
}

/// One client, its library, and what it can see of the device.
struct Library {
  explicit Library(const NvshareInterposer::Settings& its = settings()) : interposer(its) {}

  GpuView view(Duration now, Duration busy = 0s) {
    DeviceView device;
    device.busy = busy;
    return {after(now), device, clients};
  }
  void grant(Duration now) { interposer.lock_granted(view(now)); }
  void launch(Duration now, const OpView& op) {
    interposer.launched(view(now), op);
    ++clients[0].in_flight;
  }
  void complete(const OpView& op) {
    interposer.completed(op);
    --clients[0].in_flight;
  }
  Message next(Duration now, Duration busy = 0s) { return interposer.next_message(view(now, busy), clients[0]); }
  std::uint32_t passing(std::vector<OpView> ops) {
    waiting = std::move(ops);
    clients[0].waiting = waiting;
    return interposer.passing(clients[0]);
  }

  std::vector<OpView> waiting;
  std::vector<ClientView> clients = std::vector<ClientView>(1);
  NvshareInterposer interposer;
};

TEST(NvshareInterposer, KernelsTakeRoomInTheWindowAndCopiesDoNot) {
  Library library;
  library.grant(0s);
  EXPECT_EQ(library.passing({copy(), copy(), kernel(), copy(), kernel()}), 3U) << "a window of one";
  EXPECT_EQ(library.passing({kernel(), kernel()}), 1U);
  library.launch(0s, copy());
  EXPECT_FALSE(library.interposer.is_silent());
  EXPECT_EQ(library.interposer.admits_ahead(), 1U);
  library.launch(0s, kernel());
  EXPECT_EQ(library.interposer.admits_ahead(), 0U);
  EXPECT_EQ(library.passing({copy()}), 0U) << "copies wait with a host that synchronises";
}

TEST(NvshareInterposer, SaysHowManyKernelsFillTheWindow) {
  Library library;
  library.grant(0s);
  library.launch(0s, kernel());
  const Hold hold = library.interposer.hold(3s);
  EXPECT_EQ(hold.rule, "pending_window");
  EXPECT_EQ(hold.needed, 2.0);
  EXPECT_EQ(hold.available, 1.0);
  library.complete(kernel());
  EXPECT_EQ(library.next(1ms), Message::kNone);
  EXPECT_EQ(library.interposer.hold(3s).rule, "lock");
  EXPECT_EQ(library.interposer.hold(3s).needed, 3e9);
}

TEST(NvshareInterposer, CallSlipsPastADropThatCameNoLongerBeforeItThanTheSlip) {
  Library library;
  library.grant(0s);
  library.interposer.lock_dropped(after(1s));
  EXPECT_EQ(library.passing({kernel(after(1s - 1ns))}), 0U) << "it waited for something else";
  EXPECT_EQ(library.passing({kernel(after(1s)), kernel(after(1s))}), 1U);
  EXPECT_EQ(library.passing({kernel(after(1s + 1us))}), 1U);
  EXPECT_EQ(library.passing({kernel(after(1s + 1us + 1ns))}), 0U);
}

TEST(NvshareInterposer, OneCallSlipsForEachDrop) {
  Library library;
  library.grant(0s);
  library.interposer.lock_dropped(after(1s));
  library.launch(1s, kernel());
  EXPECT_EQ(library.passing({kernel(after(1s))}), 0U);
  library.complete(kernel());
  EXPECT_EQ(library.next(1s), Message::kRelease);
  library.grant(2s);
  EXPECT_EQ(library.passing({kernel(after(1s))}), 1U) << "by its lock";
  library.interposer.lock_dropped(after(3s));
  EXPECT_EQ(library.passing({kernel(after(3s))}), 1U);
}

TEST(NvshareInterposer, HostThatSynchronisesIsPastItsCallAndSlipsNowhere) {
  Library library;
  library.grant(0s);
  library.launch(0s, kernel());
  library.interposer.lock_dropped(after(1s));
  library.complete(kernel());
  EXPECT_EQ(library.next(1s), Message::kRelease);
  EXPECT_EQ(library.passing({kernel(after(1s))}), 0U);
}

TEST(NvshareInterposer, DroppedLockIsGivenBackWhenAllHasDrained) {
  Library library;
  library.grant(0s);
  library.launch(0s, copy());
  library.launch(0s, copy());
  library.interposer.lock_dropped(after(1s));
  EXPECT_EQ(library.interposer.hold(3s).rule, "drain");
  library.complete(copy());
  EXPECT_EQ(library.next(2s), Message::kNone);
  library.complete(copy());
  EXPECT_EQ(library.next(3s), Message::kRelease);
  EXPECT_EQ(library.next(3s), Message::kNone);
}

TEST(NvshareInterposer, AsksOnceForALockThatItsNextCallNeeds) {
  NvshareInterposer::Settings cuda_alone = settings();
  cuda_alone.intercepts_frames = false;
  Library library(cuda_alone);
  EXPECT_EQ(library.passing({frame(), frame()}), 2U);
  EXPECT_EQ(library.next(0s), Message::kNone) << "frames need none";
  EXPECT_EQ(library.passing({frame(), kernel()}), 1U);
  EXPECT_EQ(library.next(0s), Message::kRequest);
  EXPECT_EQ(library.next(0s), Message::kNone);
  EXPECT_TRUE(library.interposer.is_silent());
}

TEST(NvshareInterposer, AHundredthOfTheUtilisationWindowKeepsAnIdleHoldersLock) {
  for (const Duration busy : {10ms - 1ns, Duration{10ms}}) {
    Library library;
    library.grant(0s);
    EXPECT_EQ(library.interposer.next_look(after(0s)), after(4s)) << "where the last window begins";
    EXPECT_EQ(library.next(4s, 3s), Message::kNone);
    EXPECT_EQ(library.interposer.next_look(after(4s)), after(5s));
    EXPECT_EQ(library.next(5s - 1ns, 3s + busy), Message::kNone);
    EXPECT_EQ(library.next(5s, 3s + busy), busy < 10ms ? Message::kRelease : Message::kNone);
    if (busy >= 10ms) {
      EXPECT_EQ(library.interposer.next_look(after(5s)), after(9s)) << "it looks again in 5 s";
    }
  }
}

TEST(NvshareInterposer, WindowLongerThanTheEarlyReleaseLooksBackToTheLastActivity) {
  NvshareInterposer::Settings longer = settings();
  longer.utilisation_window = 8s;
  Library library(longer);
  library.grant(0s);
  EXPECT_EQ(library.interposer.next_look(after(0s)), after(5s));
  EXPECT_EQ(library.next(5s, 50ms - 1ns), Message::kRelease) << "1 % of 5 s";
}

TEST(NvshareInterposer, WorkOfAnyClientInFlightKeepsTheLock) {
  Library library;
  library.clients.resize(2);
  library.grant(0s);
  library.clients[1].in_flight = 1;
  EXPECT_EQ(library.next(5s), Message::kNone);
  library.clients[1].in_flight = 0;
  EXPECT_EQ(library.next(10s), Message::kRelease);
}

TEST(NvshareInterposer, ProbeThatSynchronisesForATenthOfASecondKeepsTheLock) {
  for (const Duration took : {100ms - 1ns, Duration{100ms}}) {
    NvshareInterposer::Settings timing = settings();
    timing.probes_device = false;
    Library library(timing);
    library.grant(0s);
    EXPECT_EQ(library.interposer.next_look(after(0s)), after(5s));
    library.launch(0s, copy());
    EXPECT_EQ(library.next(5s), Message::kNone);
    EXPECT_EQ(library.interposer.hold(3s).rule, "idle_probe");
    EXPECT_EQ(library.passing({kernel()}), 0U);
    EXPECT_EQ(library.interposer.admits_ahead(), 0U);
    EXPECT_EQ(library.interposer.next_look(after(5s)), kNever);
    library.complete(copy());
    EXPECT_EQ(library.next(5s + took), took < 100ms ? Message::kRelease : Message::kNone);
    if (took >= 100ms) {
      EXPECT_EQ(library.interposer.next_look(after(5s + took)), after(10s + took));
    }
  }
}

TEST(NvshareInterposer, WithoutAntiThrashItHasTheLockForEver) {
  NvshareInterposer::Settings off = settings();
  off.is_on = false;
  Library library(off);
  EXPECT_EQ(library.passing({kernel()}), 1U);
  EXPECT_EQ(library.next(60s), Message::kNone);
  EXPECT_EQ(library.interposer.next_look(after(0s)), kNever);
}

/// Size of the next window after one of `size` kernels at most, whose synchronisation took so long.
std::uint32_t size_after(std::uint32_t size, Duration took, std::uint32_t most = 2048) {
  PendingKernelWindow window({.most = most});
  Time now = kRunStart;
  const auto fill = [&](Duration for_so_long) {
    while (!window.synchronises()) window.kernel_launched(now);
    now += for_so_long;
    window.drained(now);
  };
  while (window.size() < size) fill(1ms);
  fill(took);
  EXPECT_FALSE(window.synchronises());
  EXPECT_EQ(window.pending(), 0U);
  EXPECT_EQ(window.room(), window.size());
  return window.size();
}

TEST(PendingKernelWindow, HalvesFromOneSecondOnAndRestartsFromTenOn) {
  EXPECT_EQ(size_after(8, 1s - 1ns), 16U);
  EXPECT_EQ(size_after(8, 1s), 4U);
  EXPECT_EQ(size_after(8, 10s - 1ns), 4U);
  EXPECT_EQ(size_after(8, 10s), 1U);
  EXPECT_EQ(size_after(1, 1s), 1U) << "half of one is one";
}

TEST(PendingKernelWindow, GrowsToTheMostAndNoFurther) {
  EXPECT_EQ(size_after(4, 1ms, 6), 6U);
  EXPECT_EQ(size_after(6, 1ms, 6), 6U);
  EXPECT_EQ(size_after(6, 1s, 6), 3U);
}

TEST(PendingKernelWindow, SynchronisationThatGoesOnIsTimedFromItsFirstKernel) {
  PendingKernelWindow window({});
  window.kernel_launched(kRunStart);
  window.kernel_launched(kRunStart + 500ms);
  EXPECT_EQ(window.pending(), 2U);
  EXPECT_EQ(window.room(), 0U);
  window.drained(kRunStart + 1s);
  EXPECT_EQ(window.size(), 1U) << "it took one second";
}

TEST(PendingKernelWindow, WithoutAMostThereIsNone) {
  PendingKernelWindow window({.most = 0});
  EXPECT_TRUE(window.is_unlimited());
  for (int i = 0; i < 10; ++i) window.kernel_launched(kRunStart);
  EXPECT_FALSE(window.synchronises());
  EXPECT_EQ(window.room(), UINT32_MAX);
  EXPECT_FALSE(PendingKernelWindow({.most = 1}).is_unlimited());
}

TEST(NvshareLock, QuantumThatDropsNobodyAloneEndsWhenAnotherAsks) {
  NvshareLock lock(1s, false);
  lock.request(ClientId{0});
  EXPECT_TRUE(lock.has_news(after(0s)));
  EXPECT_EQ(lock.quantum_left(after(0s)), 0s) << "it is free";
  EXPECT_EQ(lock.grant(after(0s)), ClientId{0});
  EXPECT_FALSE(lock.has_news(after(0s)));
  EXPECT_EQ(lock.quantum_left(after(400ms)), 600ms);
  EXPECT_EQ(lock.next_drop(after(0s)), kNever);
  EXPECT_EQ(lock.drop(after(2s)), std::nullopt);
  EXPECT_EQ(lock.quantum_left(after(2s)), 0s);
  lock.request(ClientId{1});
  EXPECT_EQ(lock.next_drop(after(2s)), kNever) << "it is due already";
  EXPECT_TRUE(lock.has_news(after(2s)));
  EXPECT_EQ(lock.drop(after(2s)), ClientId{0});
}

TEST(NvshareLock, ClientThatWaitsMayLeaveTheQueueAndTheHolderKeepsTheLock) {
  NvshareLock lock(1s, true);
  for (std::uint32_t client = 0; client < 3; ++client) lock.request(ClientId{client});
  EXPECT_EQ(lock.grant(after(0s)), ClientId{0});
  lock.release(ClientId{1});
  EXPECT_EQ(lock.grant(after(0s)), std::nullopt);
  lock.release(ClientId{0});
  EXPECT_EQ(lock.grant(after(3s)), ClientId{2});
  EXPECT_EQ(lock.quantum_left(after(3s)), 1s) << "each has a quantum of its own";
  EXPECT_EQ(lock.drop(after(4s)), ClientId{2});
}

}  // namespace
}  // namespace corun
