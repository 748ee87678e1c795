#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "policies/builtin.h"
#include "sim/run/arrival_order.h"
#include "tests/support/small_scenario.h"
#include "traces/base/error.h"

namespace corun {

/// How a test names its parameter.
void PrintTo(const PolicyDescriptor& policy, std::ostream* out) { *out << policy.name; }

namespace {

using namespace std::chrono_literals;

/// All that happened, a line each: the client, when, and what. Times are in units of `unit` nanoseconds.
class Story : public Recorder {
 public:
  explicit Story(std::int64_t unit) : unit_(unit) {}

  void on_op(const OpFact& op) override {
    tell(op.client, op.end,
         fmt::format("operation {} from {}, {}", op.number, told(to_ns(op.begin)), told(to_ns(op.device_time))));
  }
  void on_job(const JobFact& job) override { tell(job.client, job.end, fmt::format("job {}", job.number)); }
  void on_frame(const FrameFact& frame) override {
    tell(frame.client, frame.gpu_end, fmt::format("frame {} at level {}", frame.number, frame.quality_level));
  }
  void on_decision(const DecisionFact& decision) override {
    const Action& action = decision.action;
    tell(action.client, decision.time,
         fmt::format("{} {} {} {} {}", to_string(action.kind), action.count, told(to_ns(action.duration)), action.level,
                     action.fraction));
  }
  void on_refusal(const RefusalFact& refusal) override { tell(refusal.client, refusal.time, "refused"); }
  void on_kill(const KillFact& kill) override { tell(kill.client, kill.time, "killed"); }

  /// What happened before `end`.
  std::vector<std::string> lines(Time end = kNever) const {
    std::vector<std::string> lines;
    for (const Line& line : lines_)
      if (line.when < end)
        lines.push_back(fmt::format("{}, client {}: {}", told(to_ns(line.when)), line.client.value, line.what));
    return lines;
  }

 private:
  std::string told(std::int64_t time) const {
    return fmt::format("{} ns", static_cast<double>(time) / static_cast<double>(unit_));
  }
  struct Line {
    ClientId client;
    Time when;
    std::string what;
  };
  void tell(ClientId client, Time when, std::string what) { lines_.push_back({client, when, std::move(what)}); }
  std::vector<Line> lines_;
  const std::int64_t unit_;
};

struct Told {
  std::vector<std::string> lines;
  std::string error;  ///< of the policy, "" without one
  friend bool operator==(const Told&, const Told&) = default;
};

/// Relations between runs of one policy. Each holds for every policy, whatever it decides.
class Metamorphic : public ::testing::TestWithParam<PolicyDescriptor> {
 protected:
  Told run(const std::vector<ClientSpec>& clients, Sharing sharing, Duration horizon = 150ms,
           Time until = kNever) const {
    return run_under(GetParam(), clients, sharing, horizon, until);
  }

  static Told run_under(const PolicyDescriptor& descriptor, const std::vector<ClientSpec>& clients, Sharing sharing,
                        Duration horizon = 150ms, Time until = kNever) {
    return tell(descriptor, descriptor.defaults(), testing::small_device(sharing), clients, horizon, until);
  }

  static Told tell(const PolicyDescriptor& descriptor, const Parameters& parameters, const DeviceSpec& device,
                   const std::vector<ClientSpec>& clients, Duration horizon, Time until = kNever,
                   std::int64_t unit = 1) {
    const auto policy = descriptor.create(parameters);
    RunInput input;
    input.device = device;
    input.clients = clients;
    input.policy = policy.get();
    input.policy_name = descriptor.name;
    input.horizon = horizon;
    input.tells_exact_durations = descriptor.needs.oracle;
    Story story(unit);
    Told told;
    try {
      simulate(input, story);
    } catch (const Error& error) {
      told.error = error.what();
    }
    told.lines = story.lines(until);
    return told;
  }

  /// Tries a relation on every kind of device.
  template <class Relation>
  void everywhere(Relation relation) const {
    for (const Sharing sharing : {Sharing::kTimeSliced, Sharing::kConcurrent, Sharing::kExclusive}) {
      SCOPED_TRACE(fmt::format("sharing {}", static_cast<int>(sharing)));
      relation(sharing);
    }
  }
};

void expect_same(const Told& one, const Told& other) {
  EXPECT_EQ(one.error, other.error);
  const std::size_t both = std::min(one.lines.size(), other.lines.size());
  for (std::size_t i = 0; i < both; ++i) ASSERT_EQ(one.lines[i], other.lines[i]) << "line " << i;
  EXPECT_EQ(one.lines.size(), other.lines.size());
  EXPECT_GT(one.lines.size(), 10U);
}

TEST_P(Metamorphic, OtherNamesOfClientsChangeNothing) {
  everywhere([&](Sharing sharing) {
    auto clients = testing::small_clients(1);
    const Told before = run(clients, sharing);
    for (ClientSpec& client : clients) client.name = "x" + client.name;
    expect_same(before, run(clients, sharing));
  });
}

/// Facts with clients numbered as in another list.
class Relisted : public Recorder {
 public:
  Relisted(Recorder& to, const std::vector<std::uint32_t>& places) : to_(to), places_(places) {}
  void on_op(const OpFact& fact) override { to_.on_op(relisted(fact)); }
  void on_job(const JobFact& fact) override { to_.on_job(relisted(fact)); }
  void on_frame(const FrameFact& fact) override { to_.on_frame(relisted(fact)); }
  void on_decision(const DecisionFact& fact) override { to_.on_decision({fact.time, relisted(fact.action)}); }
  void on_refusal(const RefusalFact& fact) override { to_.on_refusal(relisted(fact)); }
  void on_kill(const KillFact& fact) override { to_.on_kill(relisted(fact)); }

 private:
  template <class Fact>
  Fact relisted(Fact fact) const {
    fact.client = ClientId{places_[fact.client.value]};
    return fact;
  }
  Recorder& to_;
  const std::vector<std::uint32_t>& places_;
};

/// What happens where the clients are listed in the order of `places`, told as if they were not.
Told listed_as(const PolicyDescriptor& descriptor, const DeviceSpec& device, const std::vector<ClientSpec>& clients,
               const std::vector<std::uint32_t>& places, std::uint64_t seed) {
  const auto policy = descriptor.create(descriptor.defaults());
  RunInput input;
  input.device = device;
  input.policy = policy.get();
  input.policy_name = descriptor.name;
  input.horizon = 100ms;
  for (const std::uint32_t place : places) input.clients.push_back(clients[place]);
  input.seed = seed;
  input.tells_exact_durations = descriptor.needs.oracle;
  Story story(1);
  Relisted relisted(story, places);
  Told told;
  try {
    const RunResult result = simulate_in_arrival_order(input, relisted);
    told.lines.resize(clients.size());
    for (std::size_t i = 0; i < places.size(); ++i)
      told.lines[places[i]] = fmt::format("{} jobs in {} ns", result.jobs_finished[i], to_ns(result.device_time[i]));
  } catch (const Error& error) {
    told.error = error.what();
  }
  std::ranges::copy(story.lines(), std::back_inserter(told.lines));
  return told;
}

TEST_P(Metamorphic, TheOrderInWhichClientsAreListedChangesNothing) {
  everywhere([&](Sharing sharing) {
    DeviceSpec device = testing::small_device(sharing);
    for (const TurnOrder order : {TurnOrder::kAsWoken, TurnOrder::kFixed})
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        device.turn_order = order;
        std::vector<ClientSpec> clients = testing::small_clients(seed);
        clients.push_back(clients[1]);  // a twin, which comes at the same time
        clients.back().name = "twin";
        clients[0].random_phase = seed == 2;
        std::vector<std::uint32_t> places{0, 1, 2, 3, 4};
        const Told before = listed_as(GetParam(), device, clients, places, seed);
        if (!before.error.empty()) return;  // it names clients by number
        std::ranges::reverse(places);
        expect_same(before, listed_as(GetParam(), device, clients, places, seed));
        std::ranges::rotate(places, places.begin() + 2);
        expect_same(before, listed_as(GetParam(), device, clients, places, seed));
      }
  });
}

TEST_P(Metamorphic, AClientThatNeverComesChangesNothing) {
  everywhere([&](Sharing sharing) {
    auto clients = testing::small_clients(1);
    const Told before = run(clients, sharing);
    clients.push_back(clients[1]);
    clients.back().name = "absent";
    clients.back().arrival = 1h;
    expect_same(before, run(clients, sharing));
  });
}

TEST_P(Metamorphic, AShorterRunIsTheBeginningOfALongerOne) {
  everywhere([&](Sharing sharing) {
    const auto clients = testing::small_clients(2);
    const Told shorter = run(clients, sharing, 60ms, kRunStart + 60ms);
    const Told longer = run(clients, sharing, 150ms, kRunStart + 60ms);
    expect_same({shorter.lines, ""}, {longer.lines, ""});
  });
}

/// A workload whose jobs come `times` times in it.
std::shared_ptr<const Workload> repeated(const Workload& once, std::uint32_t times) {
  auto all = std::make_shared<Workload>(once);
  const auto ops = static_cast<std::uint32_t>(once.ops.size()), steps = static_cast<std::uint32_t>(once.steps.size());
  const auto awaits = static_cast<std::uint32_t>(once.awaits.size());
  for (std::uint32_t pass = 1; pass < times; ++pass) {
    for (WorkOp op : once.ops) {
      op.awaits_begin += pass * awaits;
      all->ops.push_back(op);
    }
    for (const std::uint32_t awaited : once.awaits) all->awaits.push_back(awaited + pass * ops);
    for (HostStep step : once.steps) {
      if (step.kind == StepKind::kSubmit || step.kind == StepKind::kWaitOp) step.target += pass * ops;
      all->steps.push_back(step);
    }
    for (Job job : once.jobs) {
      job.first_op += pass * ops;
      job.first_step += pass * steps;
      job.recorded_start += pass * once.recorded_span;
      all->jobs.push_back(job);
    }
  }
  all->recorded_span *= times;
  return all;
}

TEST_P(Metamorphic, WorkThatIsRepeatedIsWorkThatIsWrittenTwice) {
  everywhere([&](Sharing sharing) {
    auto clients = testing::small_clients(3);
    for (ClientSpec& client : clients) client.repeat = 2;
    const Told before = run(clients, sharing);
    for (ClientSpec& client : clients) {
      client.workload = repeated(*client.workload, 2);
      client.repeat = 1;
    }
    expect_same(before, run(clients, sharing));
  });
}

/// The work alone, without what the policy decided.
std::vector<std::string> operations(const Told& told) {
  std::vector<std::string> lines;
  std::ranges::copy_if(told.lines, std::back_inserter(lines),
                       [](const std::string& line) { return line.find(": operation ") != std::string::npos; });
  return lines;
}

TEST_P(Metamorphic, AClientAloneRunsAsWithoutAPolicyWhereNothingIsHeldBackForOthers) {
  // These may hold back a lone client, too: by its share, by the size of an instance, by how much may be in flight.
  const std::set<std::string> holds_back{
      "block_time_limiter", "gaiagpu", "hami", "mig", "nvshare", "xsched_fair", "xsched_lax", "xsched_utilization"};
  PolicyRegistry registry;
  add_builtin_policies(registry);
  everywhere([&](Sharing sharing) {
    std::vector<ClientSpec> alone{testing::small_clients(1)[1]};
    const auto with_policy = operations(run(alone, sharing));
    const auto without = operations(run_under(*registry.find("passthrough"), alone, sharing));
    EXPECT_GT(with_policy.size(), 5U);
    const bool is_the_same = with_policy == without;
    EXPECT_TRUE(is_the_same || holds_back.contains(GetParam().name));
  });
}

/// Times of a workload, k times as long.
std::shared_ptr<const Workload> slower(const Workload& once, std::int64_t k) {
  auto scaled = std::make_shared<Workload>(once);
  const auto stretch = [k](Duration& time) { time = time == kUnknownDuration ? time : time * k; };
  for (auto* ops : {&scaled->ops, &scaled->left_out})
    ops->change([&](WorkOp& op) {
      for (Duration* time :
           {&op.duration, &op.dispatch_gap, &op.launch_latency, &op.predicted_by_name, &op.predicted_by_shape})
        stretch(*time);
    });
  for (std::size_t i = 0; i < scaled->steps.size(); ++i) scaled->steps.set_gap(i, scaled->steps[i].gap * k);
  for (Job& job : scaled->jobs) job.recorded_start = kRunStart + (job.recorded_start - kRunStart) * k;
  stretch(scaled->recorded_span);
  stretch(scaled->present_period);
  stretch(scaled->limiter_period);
  return scaled;
}

std::vector<ClientSpec> slower(std::vector<ClientSpec> clients, std::int64_t k) {
  for (ClientSpec& client : clients) {
    client.workload = slower(*client.workload, k);
    for (Duration* time : {&client.pacing.period, &client.stay, &client.arrival}) *time *= k;
  }
  return clients;
}

DeviceSpec slower(DeviceSpec device, std::int64_t k) {
  for (Duration* time : {&device.time_slice, &device.graphics_slice, &device.switch_cost, &device.context_create})
    *time *= k;
  device.to_device_bytes_per_s /= static_cast<std::uint64_t>(k);
  device.from_device_bytes_per_s /= static_cast<std::uint64_t>(k);
  return device;
}

bool is_rate(const std::string& unit) { return unit == "fps" || unit.ends_with("/s"); }

/// Durations k times as long, rates a k-th.
Parameters slower(const PolicyDescriptor& policy, std::int64_t k) {
  Parameters values = policy.defaults();
  for (const ParameterDescriptor& parameter : policy.parameters) {
    ParameterValue value = parameter.default_value;
    if (auto* time = std::get_if<Duration>(&value)) *time *= k;
    if (auto* real = std::get_if<double>(&value); real && is_rate(parameter.unit)) *real /= static_cast<double>(k);
    values.set(parameter.name, value);
  }
  return values;
}

// Exact, so only where nothing is rounded: kernels that share SMs end at the nearest nanosecond, hence no concurrent
// device, and times are even to begin with, since a lower quality level halves them.
TEST_P(Metamorphic, EverythingTwiceAsSlowGivesTheSameTwiceAsLate) {
  const std::map<std::string, std::string> rounds{
      {"block_time_limiter", "a pause ends at the next whole nanosecond"},
      {"mig", "an instance computes at a fraction of the device's speed"},
      {"xsched_utilization", "nine tenths of what is saved are whole nanoseconds"},
  };
  bool is_the_same = true;
  for (const Sharing sharing : {Sharing::kTimeSliced, Sharing::kExclusive}) {
    SCOPED_TRACE(fmt::format("sharing {}", static_cast<int>(sharing)));
    DeviceSpec device = testing::small_device(sharing);
    device.time_slice = 50us;  // ends within kernels
    const auto at_speed = [&](std::int64_t k) {
      return tell(GetParam(), slower(GetParam(), k), slower(device, k), slower(testing::small_clients(4), k), 150ms * k,
                  kNever, k);
    };
    const Told before = at_speed(2), after = at_speed(4);
    is_the_same = is_the_same && before == after;
    if (!rounds.contains(GetParam().name)) expect_same(before, after);
  }
  EXPECT_NE(is_the_same, rounds.contains(GetParam().name)) << "no exception any more?";
}

std::vector<PolicyDescriptor> all_policies() {
  PolicyRegistry registry;
  add_builtin_policies(registry);
  std::vector<PolicyDescriptor> policies = registry.all();
  std::erase_if(policies, [](const PolicyDescriptor& policy) { return policy.create == nullptr; });
  return policies;
}

INSTANTIATE_TEST_SUITE_P(EveryPolicy, Metamorphic, ::testing::ValuesIn(all_policies()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace corun
