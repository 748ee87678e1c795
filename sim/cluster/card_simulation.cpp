#include "sim/cluster/card_simulation.h"

#include <algorithm>
#include <utility>

#include "traces/base/error.h"

namespace corun {

namespace {

std::vector<ClientSpec> clients_of(const PodKinds& kinds, const std::vector<std::uint64_t>& pods) {
  std::vector<ClientSpec> clients;
  clients.reserve(pods.size());
  for (const std::uint64_t pod : pods) clients.push_back(kinds.client_of(pod));
  return clients;
}

}  // namespace

CardSimulation::CardSimulation(const CardSharing& sharing, const PodKinds& kinds, std::span<const std::uint64_t> pods,
                               const std::atomic<bool>* interrupt)
    : known_(kinds.known_with(pods)),
      policy_(sharing.make_policy()),
      input_{.device = sharing.device,
             .clients = clients_of(kinds, known_),
             .policy = policy_.get(),
             .policy_name = sharing.policy_name,
             .horizon = {},
             .warmup = {},
             .seed = sharing.seed,
             .tells_exact_durations = sharing.tells_exact_durations,
             .gate = sharing.gate},
      engine_(interrupt),
      simulation_(input_, engine_, *this, [this](ClientId client) { finished(client); }) {
  for (const std::uint64_t pod : known_) clients_.push_back({kinds.of(pod)});
  for (const std::uint64_t pod : pods)
    planned_.push_back(static_cast<std::uint32_t>(std::ranges::lower_bound(known_, pod) - known_.begin()));
}

void CardSimulation::first_has_left(bool had_graphics) {
  clients_[planned_.front()].pod = pods_++;
  simulation_.go_on_after({ClientId{planned_.front()}, had_graphics});
}

/// Clients keep the order of their pods by number, which decides ties.
std::optional<std::uint32_t> CardSimulation::client_for(std::uint32_t kind, std::uint32_t rank) const {
  if (pods_ < planned_.size()) return planned_[pods_];
  std::uint32_t before = 0;
  for (std::uint32_t client = 0; client < clients_.size() && before <= rank; ++client) {
    if (clients_[client].pod) {
      ++before;
    } else if (before == rank && clients_[client].kind == kind) {
      return client;
    }
  }
  return std::nullopt;
}

std::uint32_t CardSimulation::take(std::uint32_t kind, std::uint32_t rank) {
  const auto client = client_for(kind, rank);
  CORUN_ASSERT(client && clients_[*client].kind == kind && !clients_[*client].pod,
               "no client of kind {} for a pod after {} others", kind, rank);
  clients_[*client].pod = pods_++;
  return *client;
}

void CardSimulation::join(std::uint32_t kind, std::uint32_t rank, Time when) {
  if (when == joined_) {
    engine_.run_now(Phase::kTimer);
  } else {
    while (!run(when).empty()) {
    }
    engine_.wait_until(when);
  }
  joined_ = when;
  simulation_.join(ClientId{take(kind, rank)});
}

std::vector<CardSimulation::End> CardSimulation::run(Time last) {
  if (!ended_.empty()) last = engine_.now();  // one that ended as it came
  while (engine_.run_through(last) == StopReason::kStopped) last = engine_.now();
  return std::exchange(ended_, {});
}

void CardSimulation::finished(ClientId client) {
  const Client& its = clients_[client.value];
  ended_.push_back({engine_.now(), *its.pod, engine_.events_fired_now(), its.is_refused});
  engine_.stop();
}

std::optional<LastTurn> CardSimulation::last_turn() const {
  std::optional<LastTurn> turn = simulation_.last_turn();
  if (turn) turn->client = ClientId{clients_[turn->client.value].pod.value_or(0)};
  return turn;
}

}  // namespace corun
