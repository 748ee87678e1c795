#include <chrono>

#include "sim/run/run.h"
#include "sim/workload/synthetic/synthetic.h"
#include "tests/fuzz/harness.h"

namespace corun::fuzz {
namespace {

using namespace std::chrono_literals;

/// A policy whose actions are the input; behind its end all gates are open and nothing more is asked for.
class Scripted : public Policy {
 public:
  explicit Scripted(Numbers& numbers) : numbers_(numbers) {}

  void decide(const GpuView& view, Actions& actions) override {
    for (int left = numbers_.byte() % 4; left > 0; --left) act(view, actions);
    if (numbers_.is_empty()) return open_all(view, actions);
    actions.wake_at(view.now + Duration{1 + numbers_.byte() * 10'000});
  }

 private:
  void act(const GpuView& view, Actions& actions) {
    const ClientId client{numbers_.byte() % 4U};
    const double fraction = numbers_.byte() / 128.0;
    const bool is_there = client.value < view.clients.size() && view.client(client).is_present;
    switch (numbers_.byte() % 15) {
      case 0:
        return actions.open(client);
      case 1:
        return actions.close(client);
      case 2:
        return actions.admit(client, numbers_.byte() % 3);
      case 3:
        return actions.set_quality(client, numbers_.byte() % 3);
      case 4:
        return actions.shadow(client, numbers_.byte() % 3);
      case 5:
        return is_there && !view.client(client).gate_is_open ? actions.snapshot(client) : actions.close(client);
      case 6:
        return actions.kill(client);
      case 7:
        return actions.refuse(client);
      case 8:
        return actions.prefetch(client);
      case 9:
        return actions.set_slice(client, Duration{static_cast<std::int64_t>(numbers_.word()) - 1000});
      case 10:
        return actions.set_priority(client, static_cast<std::int32_t>(numbers_.word()));
      case 11:
        return actions.set_sm_cap(client, fraction);
      case 12:
        return actions.set_sm_share(client, fraction - 0.1);
      case 13:
        return actions.set_instance(client, fraction - 0.1);
      default:
        return actions.hold(client, {"rule", fraction, 1.0 / fraction, "ns"});
    }
  }

  static void open_all(const GpuView& view, Actions& actions) {
    for (const ClientView& client : view.clients)
      if (client.is_present && !client.is_copying) actions.open(client.id);
  }

  Numbers& numbers_;
};

DeviceSpec device(Numbers& numbers) {
  DeviceSpec spec;
  spec.sm_count = 8;
  spec.sharing = static_cast<Sharing>(numbers.byte() % 3);
  spec.graphics = static_cast<GraphicsScheduling>(numbers.byte() % 3);
  spec.lone_slice = static_cast<LoneSlice>(numbers.byte() % 3);
  spec.turn_order = static_cast<TurnOrder>(numbers.byte() % 2);
  spec.spatial_rule = static_cast<SpatialRule>(numbers.byte() % 2);
  spec.time_slice = 200us;
  spec.switch_cost = 20us;
  spec.launch_queue_depth = 1 + numbers.byte() % 8;
  spec.context_create = 100us;
  const bool pages = numbers.byte() % 2 == 0;
  spec.memory_bytes = 1'000'000;
  spec.to_device_bytes_per_s = spec.from_device_bytes_per_s = 1'000'000'000;
  if (pages) spec.handover_bandwidth_bytes_per_s = spec.thrash_bandwidth_bytes_per_s = 500'000'000;
  return spec;
}

ClientSpec client(std::string name, Workload workload) {
  ClientSpec spec;
  spec.name = std::move(name);
  spec.workload = std::make_shared<Workload>(std::move(workload));
  spec.context.working_set_bytes = spec.snapshot_bytes = 600'000;
  return spec;
}

std::vector<ClientSpec> clients() {
  RandomStream random(1, "fuzz");
  std::vector<ClientSpec> list;
  list.push_back(client("kernels", make_kernels({.duration = 70us, .count = 20, .blocks = 40})));
  list.push_back(client("program", make_program({{{.gpu = 1ms, .kernel = 90us, .duty = 0.5}, {.host = 200us}}})));
  list.push_back(client("game", make_game(*game_profile("light"), 2ms, 4, random)));
  list.back().role = Role::kInteractive;
  list.back().pacing = {.mode = Pacing::Mode::kVsync, .period = 2ms};
  list.back().quality_menu = {{"high", 1.0, 1.0}, {"low", 0.5, 0.8}};
  return list;
}

/// Whatever a policy asks for: it is done, or refused as the policy's fault. No promise of ours is broken by it.
void run(std::string_view bytes) {
  static const std::vector<ClientSpec> kClients = clients();
  Numbers numbers(bytes.substr(0, 4096));
  RunInput input{.device = device(numbers), .clients = kClients, .policy_name = "scripted", .horizon = 20ms};
  Scripted policy(numbers);
  input.policy = &policy;
  Recorder facts;
  try {
    simulate(input, facts);
  } catch (const Error& error) {
    promise(error.kind() == ErrorKind::kPolicy || error.kind() == ErrorKind::kUnsupported, "the policy is at fault");
  }
}

}  // namespace
}  // namespace corun::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  corun::fuzz::run(corun::fuzz::text_of(data, size));
  return 0;
}
