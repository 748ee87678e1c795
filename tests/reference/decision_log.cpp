#include <chrono>
#include <cstdio>
#include <string>

#include "policies/builtin.h"
#include "tests/support/small_scenario.h"
#include "traces/base/error.h"

/// Prints what happens in small scenarios: every decision, every operation's end and every frame, under every policy,
/// on every kind of device. Built twice, with the project's event queue and with the reference's, it must print the
/// same.
namespace corun {
namespace {

class Log : public Recorder {
 public:
  void on_op(const OpFact& op) override {
    std::printf("%ld end %u.%lu begun %ld ran %ld\n", to_ns(op.end), op.client.value, op.number, to_ns(op.begin),
                to_ns(op.device_time));
  }
  void on_frame(const FrameFact& frame) override {
    std::printf("frame %u.%lu shown %ld level %u\n", frame.client.value, frame.number, to_ns(frame.present),
                frame.quality_level);
  }
  void on_decision(const DecisionFact& decision) override {
    const Action& action = decision.action;
    std::printf("%ld %s %u count %u for %ld level %d fraction %.17g\n", to_ns(decision.time),
                std::string(to_string(action.kind)).c_str(), action.client.value, action.count, to_ns(action.duration),
                action.level, action.fraction);
  }
  void on_hold(const HoldFact& hold) override {
    std::printf("held %u from %ld to %ld: %s\n", hold.client.value, to_ns(hold.begin), to_ns(hold.end),
                std::string(hold.hold.rule).c_str());
  }
  void on_refusal(const RefusalFact& refusal) override {
    std::printf("%ld refused %u\n", to_ns(refusal.time), refusal.client.value);
  }
  void on_kill(const KillFact& kill) override {
    std::printf("%ld killed %u lost %ld restored %ld\n", to_ns(kill.time), kill.client.value, to_ns(kill.lost),
                to_ns(kill.restored));
  }
};

void run(const PolicyDescriptor& descriptor, Sharing sharing, std::uint64_t seed) {
  std::printf("== %s, sharing %d, seed %lu\n", descriptor.name.c_str(), static_cast<int>(sharing), seed);
  const auto policy = descriptor.create(descriptor.defaults());
  RunInput input{.device = testing::small_device(sharing),
                 .clients = testing::small_clients(seed),
                 .policy = policy.get(),
                 .policy_name = descriptor.name,
                 .horizon = std::chrono::milliseconds(150),
                 .seed = seed,
                 .tells_exact_durations = descriptor.needs.oracle};
  Log log;
  try {
    const RunResult result = simulate(input, log);
    std::printf("%lu events, busy %ld ns\n", result.events, to_ns(result.usage.busy));
  } catch (const Error& error) {
    std::printf("error: %s\n", error.what());
  }
}

}  // namespace
}  // namespace corun

int main() {
  corun::PolicyRegistry policies;
  corun::add_builtin_policies(policies);
  for (const corun::PolicyDescriptor& policy : policies.all())
    for (const auto sharing : {corun::Sharing::kTimeSliced, corun::Sharing::kConcurrent, corun::Sharing::kExclusive})
      for (const std::uint64_t seed : {1UL, 2UL})
        if (policy.create != nullptr) corun::run(policy, sharing, seed);
}
