#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "policies/builtin.h"
#include "tests/support/fake_backend.h"

namespace corun {

/// How a test names its parameter.
void PrintTo(const PolicyDescriptor& policy, std::ostream* out) { *out << policy.name; }

namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

/// A policy at one corner of its parameter space.
struct Corner {
  PolicyDescriptor policy;
  Parameters parameters;
  std::string name;
};

const std::vector<QualityLevel> kMenu{{"high", 1.0, 1.0}, {"medium", 0.62, 0.88}, {"low", 0.33, 0.70}};

/// Two games and two best-effort clients; one game has quality levels, and one best-effort client is a server.
std::vector<ClientView> four_clients() {
  std::vector<ClientView> clients{fake_client("game", Role::kInteractive), fake_client("train"),
                                  fake_client("plain", Role::kInteractive), fake_client("serve")};
  clients[0].frame_period = 16'667us;
  clients[0].quality_menu = kMenu;
  for (ClientView& client : clients) {
    client.working_set_bytes = client.allocated_bytes = 3'000'000'000;
    client.snapshot_bytes = 1'000'000'000;
  }
  clients[0].priority = 2;
  clients[3].priority = 1;
  clients[3].promised_ttft = 10ms;
  clients[3].promised_tpot = 5ms;
  return clients;
}

/// A V100 with all that a policy may ask of it.
DeviceView known_device() {
  DeviceView device = fake_device();
  device.memory_bytes = 16'000'000'000;
  device.context_bytes = 400'000'000;
  device.to_device_bytes_per_s = device.from_device_bytes_per_s = 12'000'000'000;
  device.time_slice = 2ms;
  device.switch_cost = 100us;
  return device;
}

ParameterValue at_end(const ParameterDescriptor& parameter, double end) {
  switch (parameter.type) {
    case ParameterType::kDuration:
      return Duration{std::llround(end)};
    case ParameterType::kInteger:
      return static_cast<std::int64_t>(std::llround(end));
    case ParameterType::kByClient:
      return ByClient{{"game", end}, {"train", end}, {"serve", end}};
    default:
      return end;
  }
}

/// The values of one parameter that a corner may have.
std::vector<ParameterValue> ends_of(const ParameterDescriptor& parameter) {
  if (parameter.type == ParameterType::kBoolean) return {false, true};
  if (parameter.type == ParameterType::kChoice) return {parameter.choices.begin(), parameter.choices.end()};
  std::vector<ParameterValue> ends{at_end(parameter, parameter.minimum), at_end(parameter, parameter.maximum)};
  if (parameter.type == ParameterType::kByClient) ends.push_back(ByClient{{"train", 0.3}, {"serve", 0.5}});
  return ends;
}

/// Defaults, every parameter at each of its ends, and a few random mixtures of ends.
std::vector<Corner> corners_of(const PolicyDescriptor& policy) {
  std::vector<Corner> corners{{policy, policy.defaults(), "defaults"}};
  for (const ParameterDescriptor& parameter : policy.parameters)
    for (const ParameterValue& end : ends_of(parameter)) {
      Parameters values = policy.defaults();
      values.set(parameter.name, end);
      corners.push_back({policy, values, parameter.name + ": " + format_parameter(end)});
    }
  std::mt19937_64 random(policy.parameters.size());
  for (int mixture = 0; mixture < 12 && !policy.parameters.empty(); ++mixture) {
    Parameters values;
    for (const ParameterDescriptor& parameter : policy.parameters) {
      auto ends = ends_of(parameter);
      ends.push_back(parameter.default_value);
      values.set(parameter.name, ends[random() % ends.size()]);
    }
    corners.push_back({policy, values, "mixture " + std::to_string(mixture)});
  }
  return corners;
}

/// All that share a device; those that place pods have no clients to be tried with.
std::vector<PolicyDescriptor> all_policies() {
  PolicyRegistry registry;
  add_builtin_policies(registry);
  std::vector<PolicyDescriptor> policies = registry.all();
  std::erase_if(policies, [](const PolicyDescriptor& policy) { return policy.create == nullptr; });
  return policies;
}

FakeOp random_op(std::mt19937_64& random, bool is_game) {
  static const char* const kNames[] = {"gemm", "add", "conv", "softmax"};
  FakeOp op;
  op.name = kNames[random() % 4];
  op.duration = Duration{static_cast<std::int64_t>(2'000 + random() % 3'000'000)};
  op.is_render = is_game && random() % 8 != 0;
  op.is_copy = !op.is_render && random() % 6 == 0;
  op.blocks = random() % 3 == 0 ? 0 : random() % 100'000;
  if (op.is_copy) {
    op.bytes = random() % 50'000'000;
    op.is_to_device = random() % 2 == 0;
    op.is_from_device = !op.is_to_device;
  }
  op.sm_demand = static_cast<double>(1 + random() % 16) / 16.0;
  op.position = static_cast<std::uint32_t>(random() % 8);
  op.exact = op.duration;
  if (random() % 5 != 0) op.predicted = op.duration + Duration{static_cast<std::int64_t>(random() % 200'000)};
  if (random() % 2 == 0) op.predicted_by_shape = op.duration;
  return op;
}

/// Kernels that take what is expected of them whenever they come again.
std::vector<FakeOp> program_of(std::mt19937_64& random) {
  std::vector<FakeOp> program;
  for (std::uint32_t position = 0; position < 12; ++position) {
    FakeOp op = random_op(random, false);
    op.position = position;
    op.predicted = op.predicted_by_shape = op.duration;
    program.push_back(op);
  }
  return program;
}

enum class Fillers { kRandom, kRepeatThemselves };

/// One random history: clients join and leave and submit at any time, for a fifth of a second; then the games leave,
/// then the others, each when its work is done.
class History {
 public:
  History(const Corner& corner, std::uint64_t seed, Fillers fillers = Fillers::kRandom)
      : world(corner.policy, corner.parameters, four_clients(), known_device()), random_(seed) {
    for (std::uint32_t client = 0; client < 4; ++client) {
      world.set_depth(client, 1 + random_() % 5);
      world.set_most_waiting(client, 1 + random_() % 3);
      world.at(instant(50), [=, this] { world.join(client); });
      const bool is_game = client % 2 == 0, repeats = !is_game && fillers == Fillers::kRepeatThemselves;
      const std::vector<FakeOp> program = repeats ? program_of(random_) : std::vector<FakeOp>{};
      for (std::size_t i = 0; i < 60; ++i) {
        const FakeOp op = repeats ? program[i % program.size()] : random_op(random_, is_game);
        world.at(instant(200), [=, this] { submit(client, op); });
      }
    }
    if (random_() % 2 == 0) {
      const auto leaver = static_cast<std::uint32_t>(random_() % 4);
      world.at(kRunStart + 60ms + Duration{static_cast<std::int64_t>(random_() % 100'000'000)},
               [=, this] { world.leave(leaver); });
    }
    for (std::uint64_t step = 1; step <= 20; ++step)
      world.at(kRunStart + step * 10ms, [this, step] {
        for (std::uint32_t client = 0; client < 4; ++client)
          world.set_memory(client, random_() % 3'000'000'000, step * 100'000'000);
        const Time arrival = step % 4 == 0 ? world.now() - 3ms : kNever;
        world.arbiter().tell_server(ClientId{3}, {.steps = step / 2, .oldest_request = arrival});
        world.request_decision();
      });
    world.at(kRunStart + 200ms, [this] { leave(0), leave(2); });
    world.at(kRunStart + 250ms, [this] { leave(1), leave(3); });
  }

  FakeBackend world;
  std::array<std::vector<FakeOp>, 4> submitted;  // by client

 private:
  Time instant(std::uint64_t span_ms) {
    // Whole tenths of a millisecond, so that many things happen in the same instant.
    return kRunStart + Duration{static_cast<std::int64_t>(random_() % (span_ms * 10)) * 100'000};
  }
  void submit(std::uint32_t client, const FakeOp& op) {
    if (!world.is_present(client)) return;
    submitted[client].push_back(op);
    world.script(client, op);
  }
  void leave(std::uint32_t client) {
    if (world.is_present(client)) world.leave(client);
  }

  std::mt19937_64 random_;
};

class Conformance : public testing::TestWithParam<PolicyDescriptor> {};

constexpr std::uint32_t kManyInstants = 200'000;

void expect_legal_and_clean(FakeBackend& world) {
  ASSERT_NO_THROW(ASSERT_TRUE(world.run_dry(kManyInstants)));
  EXPECT_EQ(world.wake(), kNever);
  for (std::uint32_t client = 0; client < 4; ++client) {
    EXPECT_TRUE(world.is_done(client)) << "client " << client;
    EXPECT_FALSE(world.is_present(client)) << "client " << client;
  }
}

TEST_P(Conformance, ActsLegallyAndLeavesNoWakeUpBehindInAnyHistory) {
  for (const Corner& corner : corners_of(GetParam()))
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      SCOPED_TRACE(corner.name + ", seed " + std::to_string(seed));
      History history(corner, seed);
      expect_legal_and_clean(history.world);
    }
}

/// Puts its adjustable parameters to their ends, at random instants.
void adjust_at_random(const PolicyDescriptor& policy, std::uint64_t seed, FakeBackend& world) {
  std::mt19937_64 random(seed);
  for (const ParameterDescriptor& parameter : policy.parameters) {
    if (!parameter.is_adjustable) continue;
    const auto ends = ends_of(parameter);
    for (int i = 0; i < 10; ++i)
      world.at(kRunStart + Duration{static_cast<std::int64_t>(random() % 2600) * 100'000},
               [&world, name = parameter.name, end = ends[random() % ends.size()]] {
                 world.arbiter().adjust({Duration{0}, name, end});
               });
  }
}

TEST_P(Conformance, TakesAdjustmentsInAnyHistory) {
  if (std::ranges::none_of(GetParam().parameters, &ParameterDescriptor::is_adjustable)) return;
  for (const Corner& corner : corners_of(GetParam()))
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      SCOPED_TRACE(corner.name + ", seed " + std::to_string(seed));
      History history(corner, seed);
      adjust_at_random(GetParam(), seed, history.world);
      expect_legal_and_clean(history.world);
    }
}

/// A live run asks before it starts, and can start no game again.
TEST_P(Conformance, KillsOnlyIfItSaysSoAndNeverAGame) {
  for (const Corner& corner : corners_of(GetParam()))
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      SCOPED_TRACE(corner.name + ", seed " + std::to_string(seed));
      const bool says_so = GetParam().create(corner.parameters)->kills();
      History history(corner, seed);
      history.world.run_dry(kManyInstants);
      for (const DecisionFact& decision : history.world.decisions()) {
        const Action& action = decision.action;
        if (action.kind != Action::Kind::kKill && action.kind != Action::Kind::kSnapshot) continue;
        EXPECT_TRUE(says_so) << to_string(action.kind);
        EXPECT_EQ(action.client.value % 2, 1U) << "a game";
      }
    }
}

bool is_same(const DecisionFact& a, const DecisionFact& b) {
  return a.time == b.time && a.action.kind == b.action.kind && a.action.client == b.action.client &&
         a.action.count == b.action.count;
}

TEST_P(Conformance, SameHistoryGivesTheSameDecisions) {
  for (const Corner& corner : corners_of(GetParam())) {
    SCOPED_TRACE(corner.name);
    History first(corner, 2), second(corner, 2);
    first.world.run_dry(kManyInstants);
    second.world.run_dry(kManyInstants);
    EXPECT_EQ(first.world.launches(), second.world.launches());
    EXPECT_TRUE(std::ranges::equal(first.world.decisions(), second.world.decisions(), is_same));
  }
}

bool is_same_hold(const HoldFact& a, const HoldFact& b) {
  return a.client == b.client && a.begin == b.begin && a.end == b.end && a.hold.rule == b.hold.rule &&
         a.hold.needed == b.hold.needed && a.hold.available == b.hold.available;
}

TEST_P(Conformance, DecisionsThatItDoesWithoutWouldHaveChangedNothing) {
  for (const Corner& corner : corners_of(GetParam()))
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      SCOPED_TRACE(corner.name + ", seed " + std::to_string(seed));
      History spares(corner, seed), asks(corner, seed);
      asks.world.decides_always = true;
      spares.world.run_dry(kManyInstants);
      asks.world.run_dry(kManyInstants);
      EXPECT_EQ(spares.world.launches(), asks.world.launches());
      EXPECT_TRUE(std::ranges::equal(spares.world.decisions(), asks.world.decisions(), is_same));
      EXPECT_TRUE(std::ranges::equal(spares.world.holds(), asks.world.holds(), is_same_hold));
    }
}

TEST_P(Conformance, DecidingTwiceChangesNothingMore) {
  for (const Corner& corner : corners_of(GetParam())) {
    SCOPED_TRACE(corner.name);
    History history(corner, 3);
    FakeBackend& world = history.world;
    world.after_instant = [&] {
      const std::size_t decisions = world.decisions().size();
      const Time wake = world.wake();
      world.arbiter().decide();
      EXPECT_EQ(world.decisions().size(), decisions) << "at " << to_ns(world.now()) << " ns";
      EXPECT_EQ(world.wake(), wake) << "at " << to_ns(world.now()) << " ns";
    };
    world.run_dry(kManyInstants);
  }
}

TEST_P(Conformance, SaysWhyWheneverAnOperationHasToWait) {
  for (const Corner& corner : corners_of(GetParam())) {
    SCOPED_TRACE(corner.name);
    History history(corner, 4);
    FakeBackend& world = history.world;
    world.after_instant = [&] {
      for (std::uint32_t client = 0; client < 4; ++client) {
        if (world.waiting(client) == 0 || world.gate_is_open(client)) continue;
        const Hold* hold = world.arbiter().hold_of(ClientId{client});
        ASSERT_NE(hold, nullptr) << "client " << client << " at " << to_ns(world.now()) << " ns";
        EXPECT_FALSE(hold->rule.empty());
      }
    };
    world.run_dry(kManyInstants);
  }
}

TEST_P(Conformance, AdmitsWhatItPromisedToAdmitUnseen) {
  for (const Corner& corner : corners_of(GetParam())) {
    SCOPED_TRACE(corner.name);
    History history(corner, 5, Fillers::kRepeatThemselves);
    FakeBackend& world = history.world;
    std::mt19937_64 random(9);
    int extra = 500;  // operations, so that it ends
    for (std::uint32_t client = 0; client < 4; ++client) world.set_depth(client, 1000);
    world.after_instant = [&] {
      for (std::uint32_t client = 0; client < 4; ++client) {
        const std::uint32_t promised = world.arbiter().admits_ahead(ClientId{client});
        const std::vector<FakeOp> known = history.submitted[client];
        const std::size_t from = known.empty() ? 0 : random() % known.size();
        const std::size_t behind = std::min<std::size_t>(from + promised, known.size());
        for (std::size_t i = from; i < behind && extra > 0; ++i, --extra) {  // some so many in a row
          world.script(client, known[i]);
          world.arbiter().decide();
          EXPECT_EQ(world.waiting(client), 0U) << "client " << client << " at " << to_ns(world.now()) << " ns";
        }
      }
    };
    world.run_dry(kManyInstants);
  }
}

TEST_P(Conformance, LoneClientIsNeverStarved) {
  for (const Corner& corner : corners_of(GetParam()))
    for (const std::uint32_t client : {0U, 1U}) {
      SCOPED_TRACE(corner.name);
      FakeBackend world(corner.policy, corner.parameters, four_clients(), known_device());
      std::mt19937_64 random(7);
      world.join(client);
      for (int i = 0; i < 100; ++i) world.script(client, random_op(random, client == 0));
      for (std::uint32_t i = 0; i < kManyInstants && !world.is_done(client); ++i) world.run_dry(1);
      EXPECT_TRUE(world.is_done(client));
    }
}

INSTANTIATE_TEST_SUITE_P(EveryPolicy, Conformance, testing::ValuesIn(all_policies()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace corun
