// How fast pending events are kept in order, against the limit (a tournament tree that can do nothing else) and
// what a first attempt would be (a standard priority queue of functions).

#include <benchmark/benchmark.h>

#include <functional>
#include <queue>
#include <random>

#include "sim/engine/engine.h"
#include "tests/bench/yardstick/delays.h"
#include "tests/bench/yardstick/winner_tree.h"

namespace corun {
namespace {

using yardstick::Delays;
using yardstick::WinnerTree;

constexpr double kMeanDelay_ns = 1e8;

void ignore_event(void*, std::uint64_t) {}

/// Hold: take the earliest event out, put one in later; `pending` of them all the time.
void BM_Hold(benchmark::State& state) {
  const auto pending = static_cast<std::size_t>(state.range(0));
  Delays delays(kMeanDelay_ns);
  EventQueue queue;
  for (std::size_t i = 0; i < pending; ++i)
    queue.push(time_from_ns(delays.next()), Phase::kTimer, &ignore_event, &queue, i);
  std::uint64_t sum = 0;
  for (auto _ : state) {
    const EventQueue::Event event = queue.pop();
    sum += event.argument;
    queue.push(event.time + Duration{delays.next()}, Phase::kTimer, event.action, event.subject, event.argument);
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(state.iterations());
}

void BM_HoldLimit(benchmark::State& state) {
  const auto pending = static_cast<std::size_t>(state.range(0));
  Delays delays(kMeanDelay_ns);
  WinnerTree tree(pending);
  for (std::uint32_t i = 0; i < pending; ++i) tree.set(i, static_cast<std::uint64_t>(delays.next()));
  std::uint64_t sum = 0;
  for (auto _ : state) {
    sum += tree.slot();
    tree.set(tree.slot(), tree.time() + static_cast<std::uint64_t>(delays.next()));
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(state.iterations());
}

void BM_HoldNaive(benchmark::State& state) {
  struct Event {
    std::int64_t time;
    std::uint64_t sequence;
    std::function<void()> action;
    bool operator>(const Event& other) const {
      return time != other.time ? time > other.time : sequence > other.sequence;
    }
  };
  const auto pending = static_cast<std::size_t>(state.range(0));
  Delays delays(kMeanDelay_ns);
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue;
  std::uint64_t sequence = 0, sum = 0;
  const auto add = [&](std::int64_t time, std::uint64_t argument) {
    queue.push({time, sequence++, [&sum, argument] { sum += argument; }});
  };
  for (std::size_t i = 0; i < pending; ++i) add(delays.next(), i);
  for (auto _ : state) {
    const Event event = queue.top();
    queue.pop();
    event.action();
    add(event.time + delays.next(), event.sequence);
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(state.iterations());
}

/// Hold, and one other pending event of `pending` is moved to another time: what preemption does.
void BM_Retime(benchmark::State& state) {
  const auto pending = static_cast<std::size_t>(state.range(0));
  Delays delays(kMeanDelay_ns);
  std::minstd_rand pick(1);
  EventQueue queue;
  std::vector<EventHandle> handles(pending);
  const auto push = [&](std::size_t i, Time now) {
    handles[i] = queue.push(now + Duration{delays.next()}, Phase::kTimer, &ignore_event, &queue, i);
  };
  for (std::size_t i = 0; i < pending; ++i) push(i, kRunStart);
  for (auto _ : state) {
    const EventQueue::Event event = queue.pop();
    push(event.argument, event.time);
    const std::size_t other = pick() % pending;
    queue.cancel(handles[other]);
    push(other, event.time);
  }
  state.SetItemsProcessed(state.iterations());
}

void BM_RetimeLimit(benchmark::State& state) {
  const auto pending = static_cast<std::size_t>(state.range(0));
  Delays delays(kMeanDelay_ns);
  std::minstd_rand pick(1);
  WinnerTree tree(pending);
  for (std::uint32_t i = 0; i < pending; ++i) tree.set(i, static_cast<std::uint64_t>(delays.next()));
  for (auto _ : state) {
    const std::uint64_t now = tree.time();
    tree.set(tree.slot(), now + static_cast<std::uint64_t>(delays.next()));
    tree.set(static_cast<std::uint32_t>(pick() % pending), now + static_cast<std::uint64_t>(delays.next()));
  }
  state.SetItemsProcessed(state.iterations());
}

/// One server, random arrivals and services; two events a customer. The yardstick keeps its two next times in
/// variables: no queue of events can be faster.
struct Customers {
  Delays between{1.0 / 0.9 * 1e6, 1}, service{1e6, 2};
  std::vector<std::int64_t> waiting = std::vector<std::int64_t>(1 << 16);  // ring of arrival times
  std::size_t first = 0, last = 0;
  std::int64_t time_in_system = 0;

  bool is_empty() const { return first == last; }
  void arrive(std::int64_t now) { waiting[last++ % waiting.size()] = now; }
  void depart(std::int64_t now) { time_in_system += now - waiting[first++ % waiting.size()]; }
};

struct Station {
  Engine engine;
  Customers customers;
  static void arrive(void* subject, std::uint64_t) {
    auto& [engine, customers] = *static_cast<Station*>(subject);
    if (customers.is_empty()) engine.after(Duration{customers.service.next()}, Phase::kCompletion, &depart, subject);
    customers.arrive(to_ns(engine.now()));
    engine.after(Duration{customers.between.next()}, Phase::kArrival, &arrive, subject);
  }
  static void depart(void* subject, std::uint64_t) {
    auto& [engine, customers] = *static_cast<Station*>(subject);
    customers.depart(to_ns(engine.now()));
    if (!customers.is_empty()) engine.after(Duration{customers.service.next()}, Phase::kCompletion, &depart, subject);
  }
};

constexpr std::int64_t kMm1Length_ns = 200'000'000'000;  // 180,000 customers

void BM_Mm1(benchmark::State& state) {
  std::int64_t events = 0;
  for (auto _ : state) {
    Station station;
    station.engine.after(Duration{1}, Phase::kArrival, &Station::arrive, &station);
    station.engine.run(time_from_ns(kMm1Length_ns));
    events += static_cast<std::int64_t>(station.engine.events_fired());
    benchmark::DoNotOptimize(station.customers.time_in_system);
  }
  state.SetItemsProcessed(events);
}

void BM_Mm1Limit(benchmark::State& state) {
  std::int64_t events = 0;
  for (auto _ : state) {
    Customers customers;
    std::int64_t arrival = 1, departure = INT64_MAX;
    for (; std::min(arrival, departure) < kMm1Length_ns; ++events) {
      if (arrival < departure) {
        if (customers.is_empty()) departure = arrival + customers.service.next();
        customers.arrive(arrival);
        arrival += customers.between.next();
      } else {
        customers.depart(departure);
        departure = customers.is_empty() ? INT64_MAX : departure + customers.service.next();
      }
    }
    benchmark::DoNotOptimize(customers.time_in_system);
  }
  state.SetItemsProcessed(events);
}

void pending(benchmark::internal::Benchmark* bench) { bench->Arg(1)->Arg(100)->Arg(10'000)->Arg(1'000'000); }
BENCHMARK(BM_Hold)->Apply(pending);
BENCHMARK(BM_HoldLimit)->Apply(pending);
BENCHMARK(BM_HoldNaive)->Apply(pending);
BENCHMARK(BM_Retime)->Apply(pending);
BENCHMARK(BM_RetimeLimit)->Apply(pending);
BENCHMARK(BM_Mm1);
BENCHMARK(BM_Mm1Limit);

}  // namespace
}  // namespace corun

BENCHMARK_MAIN();
