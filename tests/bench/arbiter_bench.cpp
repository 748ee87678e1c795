// What a decision of each policy costs: eight clients on a made-up device, one of them a game, run through the arbiter
// without engine and device model. The yardstick is the same backend under `passthrough`, which opens gates and hears
// nothing.

#include <benchmark/benchmark.h>

#include <memory>
#include <random>

#include "policies/builtin.h"
#include "tests/support/fake_backend.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

constexpr std::uint32_t kClients = 8;

std::vector<ClientView> eight_clients() {
  static const std::vector<QualityLevel> kMenu{{"high", 1.0, 1.0}, {"medium", 0.62, 0.88}, {"low", 0.33, 0.70}};
  std::vector<ClientView> clients{fake_client("game", Role::kInteractive)};
  clients[0].frame_period = 16'667us;
  clients[0].quality_menu = kMenu;
  while (clients.size() < kClients) clients.push_back(fake_client("program" + std::to_string(clients.size())));
  for (ClientView& client : clients) client.requested_share = 1.0 / kClients;
  return clients;
}

FakeOp next_op(std::mt19937_64& random, bool is_game) {
  FakeOp op;
  op.duration = is_game ? Duration{4ms} : Duration{static_cast<std::int64_t>(2'000 + random() % 20'000)};
  op.predicted = op.predicted_by_shape = op.exact = op.duration;
  op.is_render = is_game;
  op.blocks = 1 + random() % 1000;
  return op;
}

/// A backend whose clients always have their next operation ready.
std::unique_ptr<FakeBackend> backend_for(const PolicyDescriptor& policy) {
  auto backend = std::make_unique<FakeBackend>(policy, policy.defaults(), eight_clients());
  for (std::uint32_t c = 0; c < kClients; ++c) backend->join(c);
  std::mt19937_64 random(1);
  for (std::uint32_t c = 0; c < kClients; ++c)
    for (int i = 0; i < (c == 0 ? 8 : 400); ++i) backend->script(c, next_op(random, c == 0));
  return backend;
}

/// Making the backend and what its clients launch takes as long under a policy that launches nothing: it is not timed.
void BM_Policy(benchmark::State& state, const PolicyDescriptor& policy) {
  std::int64_t launches = 0;
  std::unique_ptr<FakeBackend> backend;
  for (auto _ : state) {
    state.PauseTiming();
    backend = backend_for(policy);
    state.ResumeTiming();
    backend->run_until(backend->now() + Duration{50ms});
    launches += static_cast<std::int64_t>(backend->launches().size());
  }
  state.SetItemsProcessed(launches);
}

}  // namespace
}  // namespace corun

int main(int argc, char** argv) {
  corun::PolicyRegistry registry;
  corun::add_builtin_policies(registry);
  for (const corun::PolicyDescriptor& policy : registry.all())
    if (policy.create)
      benchmark::RegisterBenchmark(("BM_Policy/" + policy.name).c_str(),
                                   [policy](benchmark::State& state) { corun::BM_Policy(state, policy); });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
