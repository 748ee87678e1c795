// A gate in a program's process, call by call: which launches it holds, what it tells of them, when it gives up.
#include "tracer/gate/gate.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <time.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/tracer/gate/gate_driver.h"
#include "tests/tracer/gate/scheduler_side.h"
#include "tracer/gate/channel/process.h"

namespace corun {
namespace {

using namespace std::chrono_literals;
using gate::Interception;
using gate::LaunchKind;
using gate::Obstacle;
using guest::monotonic_ns;
using testing::comes_true;
using testing::GateDriver;
namespace cbid = gate::cbid;
using Ended = std::vector<std::uint64_t>;

void* thing(std::uintptr_t number) { return reinterpret_cast<void*>(number); }
void* const kItsContext = thing(0x100);
void* const kItsStream = thing(0x10);

class GateTest : public ::testing::Test {
 protected:
  GateTest() { EXPECT_TRUE(gate_.open()); }
  ~GateTest() override { gate_.finish(); }

  void start(Interception interception = Interception::kPreload) {
    ASSERT_TRUE(gate_.start(interception));
    lane().every = 64;
    slot().typical_ns = 1;
  }
  gate::Lane& lane() const { return scheduler_.lane(); }
  gate::Slot& slot() const { return lane().slots[0]; }
  static gate::Call call(std::uint32_t function, const void* parameters, const char* symbol = nullptr) {
    return {function, parameters, symbol, kItsContext};
  }
  /// Before and after a launch of a kernel. Its ticket.
  std::uint64_t launch(void* stream = kItsStream, bool fails = false) {
    const gate::KernelParameters given{thing(1), {2, 3, 4}, {32, 2, 1}, 99, stream};
    const gate::Call made = call(cbid::cuLaunchKernel, &given, "kernel");
    const std::uint64_t ticket = gate_.before(made);
    gate_.after(made, ticket, fails);
    return ticket;
  }
  std::uint64_t copy_and_wait() {
    const std::uint64_t given[] = {1, 2, 3000};
    const gate::Call made = call(cbid::cuMemcpyHtoD_v2, given);
    const std::uint64_t ticket = gate_.before(made);
    gate_.after(made, ticket, false);
    return ticket;
  }
  void pass(std::uint32_t function, const void* parameters, bool fails = false) {
    const gate::Call made = call(function, parameters);
    gate_.after(made, gate_.before(made), fails);
  }
  void begin_capture(void* stream, bool fails = false) {
    if (!fails) driver_.capture(stream);
    pass(cbid::cuStreamBeginCapture_v2, &stream, fails);
  }

  testing::SchedulerSide scheduler_;
  GateDriver& driver_ = testing::kept<GateDriver>();
  gate::Gate& gate_ = testing::kept<gate::Gate>();
};

TEST_F(GateTest, AProcessThatIsGatedSaysInWhichWay) {
  EXPECT_FALSE(gate_.is_on(Interception::kPreload));
  EXPECT_TRUE(gate_.is_on(Interception::kNone));
  ASSERT_TRUE(gate_.start(Interception::kPreload));
  EXPECT_TRUE(gate_.is_on(Interception::kPreload));
  EXPECT_FALSE(gate_.is_on(Interception::kCupti));
  EXPECT_EQ(lane().by_preload, 1u);
  EXPECT_EQ(lane().by_cupti, 0u);
  EXPECT_EQ(scheduler_.common().bell, 1u);
  EXPECT_EQ(slot().process, static_cast<std::uint32_t>(getpid()));
}

TEST_F(GateTest, ByCuptiItIsCountedApart) {
  start(Interception::kCupti);
  EXPECT_EQ(lane().by_preload, 0u);
  EXPECT_EQ(lane().by_cupti, 1u);
  EXPECT_TRUE(gate_.is_on(Interception::kCupti));
}

TEST_F(GateTest, WithoutAFunctionOfTheDriverItIsNotGatedAndSaysSoOnce) {
  driver_.missing = {"cuEventQuery"};
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(gate_.start(Interception::kPreload));
  gate_.give_up(Obstacle::kNoDriver);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "corun: the CUDA driver lacks what a gate needs, this program runs on without one\n");
  EXPECT_EQ(lane().obstacle, Obstacle::kNoDriver);
  EXPECT_EQ(lane().by_preload, 0u);
  EXPECT_EQ(slot().process, gate::kNoProcess) << "it takes no slot";
}

TEST_F(GateTest, WithoutASlotItIsNotGatedEither) {
  for (gate::Slot& each : lane().slots) each.process = 1;
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(gate_.start(Interception::kPreload));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "corun: 32 processes of this client are at the gate, this one runs on without one\n");
  EXPECT_EQ(lane().obstacle, Obstacle::kNoSlot);
  EXPECT_TRUE(gate_.is_on(Interception::kNone));
}

TEST_F(GateTest, EveryObstacleHasItsLine) {
  const std::pair<Obstacle, const char*> lines[] = {{Obstacle::kNoCupti, "no libcupti.so.13 was found"},
                                                    {Obstacle::kCuptiTaken, "another profiler holds CUPTI"},
                                                    {Obstacle::kNoScheduler, "the scheduler is gone"}};
  for (const auto& [obstacle, line] : lines) {
    auto& its = testing::kept<gate::Gate>();
    ASSERT_TRUE(its.open());
    ::testing::internal::CaptureStderr();
    its.give_up(obstacle);
    EXPECT_NE(::testing::internal::GetCapturedStderr().find(line), std::string::npos);
    EXPECT_EQ(lane().obstacle, obstacle);
  }
}

TEST_F(GateTest, ALaunchThroughAnOpenGateIsToldAndNumbered) {
  slot().turn = 5;
  start();
  scheduler_.open_gate();
  lane().gate.fetch_add(7);
  lane().retired = 7;
  const std::int64_t before = monotonic_ns();
  EXPECT_EQ(launch(), 8u) << "the ticket is one more than the number";
  const gate::Launch& told = scheduler_.launch(7);
  EXPECT_EQ(told.ready, 8u);
  EXPECT_GE(told.submitted_ns, before);
  EXPECT_LE(told.submitted_ns, monotonic_ns());
  EXPECT_EQ(told.kind, LaunchKind::kKernel);
  EXPECT_EQ(lane().name(told.name), "kernel");
  EXPECT_EQ(told.stream, 0u);
  EXPECT_EQ(told.threads, 64u);
  EXPECT_EQ(told.blocks, 24u);
  EXPECT_EQ(told.bytes, 0u);
  EXPECT_EQ(told.shared_bytes, 99u);
  EXPECT_EQ(told.graph_nodes, 0u);
  EXPECT_EQ(told.slot, gate::mark_of_slot(0, 5));
  EXPECT_EQ(slot().in_flight, 1u);
  EXPECT_EQ(launch(thing(0x20)), 9u);
  EXPECT_EQ(scheduler_.launch(8).stream, 1u);
  EXPECT_EQ(slot().in_flight, 2u);
  EXPECT_EQ(lane().let_through, 0u) << "no bound, no patience";
}

TEST_F(GateTest, TheSchedulerIsRungAtEvery1024thLaunchThroughAnOpenGate) {
  start();
  scheduler_.open_gate();
  lane().bound = 0;
  driver_.let_all_pass();
  launch();
  const std::uint32_t bell = scheduler_.common().bell;
  for (int i = 1; i < 1024; ++i) launch();
  EXPECT_EQ(scheduler_.common().bell, bell);
  launch();
  EXPECT_EQ(scheduler_.common().bell, bell + 1);
}

TEST_F(GateTest, ALaunchAtAClosedGateWaitsUntilItsLimitIsBeyondIt) {
  start();
  lane().gate = gate::closed_word(0, 1);
  EXPECT_EQ(launch(), 1u) << "below the limit";
  const std::uint32_t bell = scheduler_.common().bell;
  std::atomic<std::uint64_t> ticket{0};
  std::thread program([&] { ticket = launch(); });
  EXPECT_TRUE(comes_true([&] { return scheduler_.common().bell == bell + 1; })) << "it asks";
  EXPECT_EQ(scheduler_.launch(1).ready, 2u);
  lane().turn.fetch_add(1);
  std::this_thread::sleep_for(30ms);
  scheduler_.beat();
  EXPECT_EQ(ticket, 0u) << "a turn that is not its own";
  EXPECT_EQ(slot().in_flight, 1u) << "it is not in flight";
  lane().gate = gate::closed_word(2, 2);
  lane().turn.fetch_add(1);
  program.join();
  EXPECT_EQ(ticket, 2u);
  EXPECT_EQ(slot().in_flight, 2u);
  EXPECT_EQ(lane().sleepers, 0u);
}

/// The end of what is in flight may be what it waits for.
TEST_F(GateTest, ALaunchThatWaitsClosesTheGroupsOfItsContext) {
  start();
  driver_.let_all_pass();
  lane().gate = gate::closed_word(0, 1);
  launch();
  EXPECT_EQ(driver_.record_count(), 1u);
  std::thread program([&] { launch(); });
  EXPECT_TRUE(comes_true([&] { return scheduler_.done() == Ended{0}; }));
  scheduler_.beat();
  scheduler_.open_gate();
  program.join();
}

TEST_F(GateTest, ALaunchWhoseEntryIsInUseWaitsForIt) {
  start();
  lane().gate = gate::kDepth - 1;
  EXPECT_EQ(launch(), gate::kDepth);
  std::atomic<std::uint64_t> ticket{0};
  std::thread program([&] { ticket = launch(); });
  std::this_thread::sleep_for(30ms);
  scheduler_.beat();
  EXPECT_EQ(ticket, 0u);
  EXPECT_NE(scheduler_.launch(gate::kDepth).ready, gate::kDepth + 1);
  lane().retired = 1;
  lane().turn.fetch_add(1);
  program.join();
  EXPECT_EQ(ticket, gate::kDepth + 1);
  EXPECT_EQ(scheduler_.launch(gate::kDepth).ready, gate::kDepth + 1);
}

TEST_F(GateTest, WithoutASchedulerThatEntryStaysAsItIs) {
  start();
  lane().gate = gate::kDepth;
  lane().launches[0].ready = 1;
  scheduler_.end_door();
  scheduler_.beat(100'000'000);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(launch(), 0u);
  EXPECT_NE(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(lane().launches[0].ready, 1u);
  EXPECT_EQ(slot().in_flight, 0u);
  EXPECT_TRUE(scheduler_.done().empty());
}

/// Else the time until its call returns would count for nothing.
TEST_F(GateTest, AGroupBeginsBeforeTheCallOfItsFirstLaunch) {
  start();
  scheduler_.open_gate();
  const gate::KernelParameters given{thing(1), {1, 1, 1}, {1, 1, 1}, 0, kItsStream};
  const gate::Call made = call(cbid::cuLaunchKernel, &given);
  const std::uint64_t ticket = gate_.before(made);
  ASSERT_EQ(driver_.record_count(), 1u);
  EXPECT_EQ(driver_.records()[0].stream, kItsStream);
  gate_.after(made, ticket, false);
  EXPECT_EQ(driver_.record_count(), 1u);
}

TEST_F(GateTest, WhatIsInFlightOfAllProcessesIsBounded) {
  start();
  scheduler_.open_gate();
  lane().slots_used = 3;
  lane().slots[1].in_flight = 2;
  lane().slots[3].in_flight = 50;  // has never been taken
  lane().bound = 4;
  driver_.let_all_pass();
  EXPECT_EQ(launch(), 1u);
  EXPECT_EQ(launch(), 2u) << "three are in flight";
  lane().slots[2].in_flight = 2;
  std::atomic<bool> has_passed{false};
  std::thread program([&] { has_passed = launch() != 0; });
  EXPECT_TRUE(comes_true([&] { return scheduler_.done().size() == 2; })) << "what is open is closed, and seen to end";
  std::this_thread::sleep_for(5ms);
  EXPECT_FALSE(has_passed) << "four are in flight";
  lane().slots[1].in_flight = 1;
  program.join();
  EXPECT_TRUE(has_passed);
  EXPECT_EQ(lane().let_through, 0u);
}

std::int64_t thread_time_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

std::int64_t ns_of(const std::function<void()>& what) {
  const std::int64_t begin = monotonic_ns();
  what();
  return monotonic_ns() - begin;
}

TEST_F(GateTest, WhereNothingEndsForATenthOfASecondALaunchIsLetThrough) {
  start();
  scheduler_.open_gate();
  lane().bound = 1;
  EXPECT_LT(ns_of([&] { launch(); }), gate::Gate::kPatienceNs);
  EXPECT_EQ(lane().let_through, 0u);
  std::thread beats([&] {
    for (int i = 0; i < 30; ++i, std::this_thread::sleep_for(10ms)) scheduler_.beat();
  });
  const std::int64_t busy_before = thread_time_ns(), took = ns_of([&] { launch(); });
  EXPECT_LT(thread_time_ns() - busy_before, gate::Gate::kPatienceNs / 2) << "it sleeps between its looks";
  EXPECT_GE(took, gate::Gate::kPatienceNs);
  EXPECT_LT(took, 10 * gate::Gate::kPatienceNs);
  EXPECT_EQ(lane().let_through, 1u);
  EXPECT_EQ(slot().in_flight, 2u);
  beats.join();
}

TEST_F(GateTest, SoIsTheTimeThatWhatIsInFlightTakes) {
  start();
  scheduler_.open_gate();
  lane().bound_ns = 1000;
  lane().slots_used = 2;
  lane().slots[1].in_flight = 1;
  lane().slots[1].typical_ns = 5000;
  launch();
  EXPECT_EQ(lane().let_through, 0u) << "one launch runs, however long it is";
  lane().slots[1].typical_ns = 999;
  slot().typical_ns = 0;
  launch();
  EXPECT_EQ(lane().let_through, 0u) << "less than the bound";
  slot().in_flight = 0;
  lane().slots[1].in_flight = 2;
  lane().slots[1].typical_ns = 500;
  launch();
  EXPECT_EQ(lane().let_through, 1u) << "as long as the bound";
}

TEST_F(GateTest, ALaunchIntoACaptureIsNone) {
  start();
  begin_capture(kItsStream);
  EXPECT_EQ(launch(), 0u) << "though the gate is closed";
  EXPECT_EQ(launch(), 0u);
  EXPECT_EQ(lane().captured, 2u);
  EXPECT_EQ(gate::launches_of(lane().gate), 0u);
  EXPECT_EQ(slot().in_flight, 0u);
  driver_.end_captures();
  scheduler_.open_gate();
  EXPECT_EQ(launch(), 1u);
}

TEST_F(GateTest, ACaptureEndsWithItsEnd) {
  start();
  scheduler_.open_gate();
  void *stream = kItsStream, *other = thing(0x20);
  begin_capture(stream);
  pass(cbid::cuStreamEndCapture, &other);
  EXPECT_EQ(launch(), 0u) << "the end of one that does not take place";
  pass(cbid::cuStreamEndCapture, &stream, true);
  EXPECT_EQ(launch(), 0u) << "an end that has failed and left it going";
  const gate::Call end = call(cbid::cuStreamEndCapture, &stream);
  const std::uint64_t ticket = gate_.before(end);
  driver_.end_captures();
  gate_.after(end, ticket, false);
  driver_.capture(stream);
  EXPECT_EQ(launch(), 1u) << "no capture is known any more";
  begin_capture(stream, true);
  EXPECT_EQ(launch(), 2u) << "one that was refused";
}

TEST_F(GateTest, ALaunchOfNothingIsNone) {
  start();
  const gate::KernelParameters nothing{thing(1), {0, 1, 1}, {1, 1, 1}, 0, kItsStream};
  const gate::Call made = call(cbid::cuLaunchKernel, &nothing);
  EXPECT_EQ(gate_.before(made), 0u);
  gate_.after(made, 0, true);
  EXPECT_EQ(gate::launches_of(lane().gate), 0u);
}

TEST_F(GateTest, ACopyThatBlocksEndsWithItsCallAfterWhatItWaitedFor) {
  start();
  scheduler_.open_gate();
  driver_.let_all_pass();
  launch();
  EXPECT_EQ(copy_and_wait(), 2u);
  EXPECT_EQ(scheduler_.done(), (Ended{0, 1}));
  EXPECT_EQ(scheduler_.launch(1).kind, LaunchKind::kCopyToDevice);
  EXPECT_EQ(scheduler_.launch(1).bytes, 3000u);
  EXPECT_EQ(scheduler_.launch(1).name, gate::kNoName);
  EXPECT_EQ(lane().unobserved, 0u);
  EXPECT_EQ(slot().in_flight, 0u);
}

TEST_F(GateTest, ALaunchThatFailsHasEnded) {
  start();
  scheduler_.open_gate();
  EXPECT_EQ(launch(kItsStream, true), 1u);
  EXPECT_EQ(scheduler_.done(), (Ended{0}));
  EXPECT_EQ(slot().in_flight, 0u);
}

TEST_F(GateTest, AWaitOfTheProgramShowsWhatHasEnded) {
  start();
  scheduler_.open_gate();
  launch();
  driver_.let_all_pass();
  const gate::Call wait = call(cbid::cuCtxSynchronize, nullptr);
  const std::uint64_t ticket = gate_.before(wait);
  EXPECT_EQ(ticket, 0u);
  EXPECT_EQ(driver_.record_count(), 2u) << "its group is closed before it waits";
  gate_.after(wait, ticket, false);
  EXPECT_EQ(scheduler_.done(), (Ended{0}));
}

TEST_F(GateTest, AGraphIsOneLaunchOfAllItsKernels) {
  start();
  scheduler_.open_gate();
  driver_.graphs[thing(5)] = {{{2, 1, 1}}, {{3, 1, 1}}};
  void* executable = thing(6);
  const gate::MadeGraph made{&executable, thing(5)};
  const struct {
    const void* graph;
    void* stream;
  } given{executable, kItsStream};
  const auto launch_graph = [&] {
    pass(cbid::cuGraphLaunch, &given);
    return scheduler_.launch(gate::launches_of(lane().gate) - 1).graph_nodes;
  };
  pass(cbid::cuGraphInstantiateWithFlags, &made, true);
  EXPECT_EQ(launch_graph(), 0u) << "it could not be made";
  pass(cbid::cuGraphInstantiateWithFlags, &made);
  EXPECT_EQ(launch_graph(), 2u);
  EXPECT_EQ(scheduler_.launch(1).blocks, 5u);
  EXPECT_EQ(scheduler_.launch(1).kind, LaunchKind::kGraph);
  EXPECT_EQ(scheduler_.launch(1).name, gate::kNoName);
  pass(cbid::cuGraphExecDestroy, &executable);
  EXPECT_EQ(launch_graph(), 0u);
  const gate::MadeGraph nowhere{nullptr, thing(5)};
  pass(cbid::cuGraphInstantiateWithFlags, &nowhere);
}

TEST_F(GateTest, WithAStreamOrAContextItsLaunchesGo) {
  start();
  scheduler_.open_gate();
  driver_.let_all_pass();
  void *stream = kItsStream, *context = kItsContext;
  launch();
  pass(cbid::cuStreamDestroy_v2, &stream);
  EXPECT_TRUE(comes_true([&] { return scheduler_.done() == Ended{0}; }));
  EXPECT_EQ(lane().unobserved, 0u);
  launch();
  pass(cbid::cuCtxDestroy_v2, &context);
  EXPECT_EQ(scheduler_.done(), (Ended{0, 1}));
  EXPECT_EQ(lane().unobserved, 1u);
  int device = 0;
  launch();
  pass(cbid::cuDevicePrimaryCtxReset_v2, &device);
  EXPECT_EQ(lane().unobserved, 2u);
  launch();
  pass(cbid::cuDevicePrimaryCtxRelease_v2, &device, true);
  EXPECT_EQ(lane().unobserved, 2u) << "it was not given back";
  pass(cbid::cuDevicePrimaryCtxRelease_v2, &device);
  EXPECT_EQ(lane().unobserved, 3u);
}

TEST_F(GateTest, AfterTheRunAllPassesInSilence) {
  start();
  lane().is_over = 1;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(launch(), 0u);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_FALSE(gate_.is_on(Interception::kPreload));
  EXPECT_EQ(scheduler_.done(), (Ended{0})) << "it is not waited for";
  EXPECT_EQ(lane().unobserved, 1u);
  EXPECT_EQ(lane().obstacle, Obstacle::kNone);
}

TEST_F(GateTest, WithoutASchedulerAllPassesAndThatIsSaid) {
  start();
  scheduler_.end_door();
  scheduler_.beat(100'000'000);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(launch(), 0u);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "corun: the scheduler is gone, this program runs on without a gate\n");
  EXPECT_FALSE(gate_.is_on(Interception::kPreload));
  EXPECT_EQ(lane().obstacle, Obstacle::kNoScheduler);
}

TEST_F(GateTest, AProgramThatEndsCallsItsDriverNoMore) {
  start();
  scheduler_.open_gate();
  launch();
  gate_.finish();
  EXPECT_FALSE(gate_.is_on(Interception::kPreload));
  const void* const none = nullptr;
  const std::size_t before = driver_.record_count();
  pass(cbid::cuCtxSynchronize, &none);
  EXPECT_EQ(driver_.record_count(), before);
}

TEST_F(GateTest, AChildOfAForkEndsNothingOfItsParents) {
  start();
  const pid_t child = fork();
  if (child == 0) {
    gate_.finish();
    _exit(gate_.is_on(Interception::kPreload) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << "the gate is of the process that started it";
  gate_.abandon();
  EXPECT_TRUE(gate_.is_on(Interception::kNone));
}

}  // namespace
}  // namespace corun
