#include "sim/engine/engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "traces/base/error.h"

namespace corun {
namespace {

struct Log {
  Engine engine;
  std::vector<std::pair<std::int64_t, std::uint64_t>> fired;

  static void note(void* self, std::uint64_t name) {
    auto& log = *static_cast<Log*>(self);
    log.fired.emplace_back(to_ns(log.engine.now()), name);
  }
};

TEST(Engine, FiresInOrderOfTimeAndTellsTheTimeOfEachEvent) {
  Log log;
  log.engine.at(time_from_ns(20), Phase::kTimer, Log::note, &log, 2);
  log.engine.at(time_from_ns(10), Phase::kTimer, Log::note, &log, 1);
  EXPECT_EQ(log.engine.run(kNever), StopReason::kDrained);
  EXPECT_EQ(log.fired, (std::vector<std::pair<std::int64_t, std::uint64_t>>{{10, 1}, {20, 2}}));
  EXPECT_EQ(log.engine.events_fired(), 2u);
}

TEST(Engine, AnEventAtTheEndDoesNotFireUntilTheEndMovesOn) {
  Log log;
  log.engine.at(time_from_ns(99), Phase::kTimer, Log::note, &log, 1);
  log.engine.at(time_from_ns(100), Phase::kCompletion, Log::note, &log, 2);
  EXPECT_EQ(log.engine.run(time_from_ns(100)), StopReason::kHorizon);
  EXPECT_EQ(log.fired.size(), 1u);
  EXPECT_EQ(log.engine.now(), time_from_ns(100));
  EXPECT_EQ(log.engine.run(time_from_ns(101)), StopReason::kDrained);
  EXPECT_EQ(log.fired.back(), (std::pair<std::int64_t, std::uint64_t>{100, 2}));
}

TEST(Engine, AnEventScheduledForItsOwnInstantFiresByPhaseBeforeLaterPhases) {
  Log log;
  const auto decide = [](void* self, std::uint64_t) {
    auto& inner = *static_cast<Log*>(self);
    Log::note(self, 1);
    inner.engine.after(Duration{}, Phase::kCompletion, Log::note, self, 2);
  };
  log.engine.at(time_from_ns(5), Phase::kArrival, decide, &log);
  log.engine.at(time_from_ns(5), Phase::kDecide, Log::note, &log, 3);
  log.engine.run(kNever);
  ASSERT_EQ(log.fired.size(), 3u);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(log.fired[i], (std::pair<std::int64_t, std::uint64_t>{5, i + 1}));
}

TEST(Engine, AnIdleEventIsCountedAfterWhatPrecedesDecisionsOfItsInstantUnlessTakenBack) {
  struct Counts {
    Engine engine;
    std::vector<std::uint64_t> before;  ///< events fired, at each event
  } counts;
  const auto note = [](void* self, std::uint64_t idle) {
    auto& its = *static_cast<Counts*>(self);
    its.before.push_back(its.engine.events_fired());
    if (idle == 0) return;
    const std::uint64_t name = its.engine.add_idle();
    EXPECT_TRUE(its.engine.is_idle_pending(name));
    EXPECT_EQ(its.engine.next_time(), its.engine.now());
    if (idle == 2) its.engine.cancel_idle();
    EXPECT_EQ(its.engine.is_idle_pending(name), idle == 1);
  };
  counts.engine.at(time_from_ns(5), Phase::kArrival, note, &counts, 1);
  counts.engine.at(time_from_ns(5), Phase::kTimer, note, &counts, 0);
  counts.engine.at(time_from_ns(5), Phase::kSample, note, &counts, 2);
  counts.engine.at(time_from_ns(6), Phase::kCompletion, note, &counts, 1);
  EXPECT_EQ(counts.engine.run(kNever), StopReason::kDrained);
  EXPECT_EQ(counts.before, (std::vector<std::uint64_t>{1, 2, 4, 5}));
  EXPECT_EQ(counts.engine.events_fired(), 6U) << "the last idle event fires before the run ends";
  EXPECT_EQ(counts.engine.next_time(), kNever);
}

/// An action that goes on every ten nanoseconds as long as it may, then schedules itself.
struct Walk : Log {
  static void step(void* self, std::uint64_t name) {
    auto& walk = *static_cast<Walk*>(self);
    do {
      note(static_cast<Log*>(&walk), name);
    } while (walk.engine.goes_on(walk.engine.now() + Duration{10}, Phase::kTimer));
    walk.engine.after(Duration{10}, Phase::kTimer, step, self, name);
    ++walk.scheduled;
  }
  int scheduled = 0;
};

TEST(Engine, GoesOnToWhatWouldBeTheNextEventAndCountsIt) {
  Walk walk;
  walk.engine.at(time_from_ns(10), Phase::kTimer, Walk::step, &walk, 1);
  EXPECT_EQ(walk.engine.run(time_from_ns(50)), StopReason::kHorizon);
  EXPECT_EQ(walk.fired, (std::vector<std::pair<std::int64_t, std::uint64_t>>{{10, 1}, {20, 1}, {30, 1}, {40, 1}}));
  EXPECT_EQ(walk.engine.events_fired(), 4U);
  EXPECT_EQ(walk.engine.now(), time_from_ns(50)) << "the event at the end is scheduled, and does not fire";
  EXPECT_EQ(walk.scheduled, 1);
  EXPECT_EQ(walk.engine.run(time_from_ns(51)), StopReason::kHorizon);
  EXPECT_EQ(walk.engine.events_fired(), 5U);
}

TEST(Engine, DoesNotGoOnPastAnotherEventNorATie) {
  Walk walk;
  walk.engine.at(time_from_ns(10), Phase::kTimer, Walk::step, &walk, 1);
  walk.engine.at(time_from_ns(20), Phase::kTimer, Log::note, static_cast<Log*>(&walk), 2);
  walk.engine.at(time_from_ns(30), Phase::kCompletion, Log::note, static_cast<Log*>(&walk), 3);
  walk.engine.at(time_from_ns(40), Phase::kDecide, Log::note, static_cast<Log*>(&walk), 4);
  walk.engine.run(time_from_ns(41));
  EXPECT_EQ(walk.fired, (std::vector<std::pair<std::int64_t, std::uint64_t>>{
                            {10, 1}, {20, 2}, {20, 1}, {30, 3}, {30, 1}, {40, 1}, {40, 4}}));
  EXPECT_EQ(walk.engine.events_fired(), 7U);
}

TEST(Engine, DoesNotGoOnWhenStoppedOrInterruptedOrStepByStepOrOutsideOfRun) {
  std::atomic<bool> interrupt = false;
  Engine engine(&interrupt);
  EXPECT_FALSE(engine.goes_on(time_from_ns(1), Phase::kTimer));
  const auto ask = [](void* self, std::uint64_t ends) {
    auto& asked = *static_cast<Engine*>(self);
    EXPECT_TRUE(asked.goes_on(asked.now(), Phase::kTimer));
    if (ends == 0) asked.stop();
    if (ends == 1) asked.go_step_by_step();
    EXPECT_FALSE(asked.goes_on(asked.now(), Phase::kTimer));
  };
  engine.at(time_from_ns(1), Phase::kTimer, ask, &engine, 0);
  EXPECT_EQ(engine.run(time_from_ns(9)), StopReason::kStopped);
  engine.at(time_from_ns(2), Phase::kTimer, ask, &engine, 1);
  engine.run(time_from_ns(9));
  EXPECT_EQ(engine.events_fired(), 4U);
}

TEST(Engine, AnActionThatIsInterruptedSchedulesWhatItWouldGoOnTo) {
  std::atomic<bool> interrupt = false;
  Engine engine(&interrupt);
  struct Asked {
    Engine& engine;
    std::atomic<bool>& interrupt;
  } asked{engine, interrupt};
  engine.at(
      time_from_ns(1), Phase::kTimer,
      [](void* self, std::uint64_t) {
        auto& [its_engine, its_interrupt] = *static_cast<Asked*>(self);
        its_interrupt = true;
        EXPECT_FALSE(its_engine.goes_on(time_from_ns(2), Phase::kTimer));
        its_engine.at(
            time_from_ns(2), Phase::kTimer, [](void*, std::uint64_t) {}, nullptr);
      },
      &asked);
  EXPECT_THROW(engine.run(time_from_ns(9)), Interrupted);
}

TEST(Engine, GoingOnAtOneInstantForEverIsAZeroTimeLoopToo) {
  Engine engine;
  engine.at(
      time_from_ns(1), Phase::kTimer,
      [](void* self, std::uint64_t) {
        auto& its = *static_cast<Engine*>(self);
        while (its.goes_on(its.now(), Phase::kTimer)) {
        }
      },
      &engine);
  EXPECT_THROW(engine.run(time_from_ns(9)), Error);
}

TEST(Engine, ACancelledEventDoesNotFire) {
  Log log;
  const EventHandle handle = log.engine.at(time_from_ns(5), Phase::kTimer, Log::note, &log, 1);
  EXPECT_TRUE(log.engine.cancel(handle));
  EXPECT_FALSE(log.engine.cancel(handle));
  EXPECT_EQ(log.engine.run(kNever), StopReason::kDrained);
  EXPECT_TRUE(log.fired.empty());
}

TEST(Engine, StopReturnsAfterThePresentEventAndRunGoesOnFromThere) {
  Log log;
  const auto stop = [](void* self, std::uint64_t) { static_cast<Log*>(self)->engine.stop(); };
  log.engine.at(time_from_ns(1), Phase::kTimer, stop, &log);
  log.engine.at(time_from_ns(1), Phase::kTimer, Log::note, &log, 1);
  EXPECT_EQ(log.engine.run(kNever), StopReason::kStopped);
  EXPECT_TRUE(log.fired.empty());
  EXPECT_EQ(log.engine.run(kNever), StopReason::kDrained);
  EXPECT_EQ(log.fired.size(), 1u);
}

TEST(Engine, EndsBeforeTheNextEventWhenItIsInterrupted) {
  std::atomic<bool> interrupt = false;
  Engine engine(&interrupt);
  struct Count {
    std::atomic<bool>& interrupt;
    int fired = 0;
    static void fire(void* self, std::uint64_t) {
      auto& count = *static_cast<Count*>(self);
      count.interrupt = ++count.fired == 3;
    }
  } count{interrupt};
  for (int at = 1; at <= 9; ++at) engine.at(time_from_ns(at), Phase::kTimer, Count::fire, &count);
  EXPECT_THROW(engine.run(kNever), Interrupted);
  EXPECT_EQ(count.fired, 3);
}

TEST(Engine, ALoopInZeroTimeIsReportedWithItsTimeAndItsLastEightPhases) {
  Engine engine;
  struct Spin {
    Engine& engine;
    static void wake(void* self, std::uint64_t) {
      auto& spin = *static_cast<Spin*>(self);
      spin.engine.after(Duration{}, Phase::kDecide, wake, self);
    }
  } spin{engine};
  engine.at(time_from_ns(42), Phase::kDecide, Spin::wake, &spin);
  try {
    engine.run(kNever);
    FAIL() << "the loop was not noticed";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kPolicy);
    const std::string said = error.what();
    EXPECT_NE(said.find("42 ns"), std::string::npos) << said;
    EXPECT_NE(said.find("decide, decide"), std::string::npos) << said;
    std::size_t named = 0;
    for (std::size_t at = said.find("decide"); at != std::string::npos; at = said.find("decide", at + 1)) ++named;
    EXPECT_EQ(named, 8u) << said;
  }
}

TEST(Engine, EventsOfManyInstantsAreNoLoopHoweverManyTheyAre) {
  struct Clock {
    Engine engine;
    std::uint64_t left = Engine::kMaxEventsPerInstant + 10;
    static void tick(void* self, std::uint64_t) {
      auto& clock = *static_cast<Clock*>(self);
      if (--clock.left > 0) clock.engine.after(Duration{1}, Phase::kTimer, tick, self);
    }
  } clock;
  clock.engine.at(time_from_ns(1), Phase::kTimer, Clock::tick, &clock);
  EXPECT_EQ(clock.engine.run(kNever), StopReason::kDrained);
  EXPECT_EQ(clock.left, 0u);
}

TEST(EngineDeathTest, SchedulingInThePastIsABrokenPromise) {
  Log log;
  const auto back = [](void* self, std::uint64_t) {
    static_cast<Log*>(self)->engine.at(time_from_ns(9), Phase::kTimer, Log::note, self);
  };
  log.engine.at(time_from_ns(10), Phase::kTimer, back, &log);
  EXPECT_DEATH(log.engine.run(kNever), "promise broken");
}

}  // namespace
}  // namespace corun
