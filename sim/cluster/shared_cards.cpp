#include "sim/cluster/shared_cards.h"

#include <algorithm>

#include "sim/run/simulation.h"
#include "traces/base/error.h"

namespace corun {

ClientSpec pod_client(const ClientSpec& model, const PodSpec& pod) {
  ClientSpec client = model;
  client.name = pod.name;
  if (pod.runtime > Duration{0}) client.stay = pod.runtime;
  client.arrival = Duration{0};
  client.random_phase = false;
  client.resizes.clear();
  client.requested_share = static_cast<double>(pod.milli) / kWholeCard;
  client.requested_bytes = pod.memory_bytes;
  return client;
}

/// One card with its clients. Every pod that has a client is known to each; those on other cards never join.
class SharedCards::Card : public Recorder {
 public:
  Card(const CardSharing& sharing, std::vector<ClientSpec> clients, Engine& engine, Simulation::Finished on_finished)
      : policy_(sharing.make_policy()),
        input_{.device = sharing.device,
               .clients = std::move(clients),
               .policy = policy_.get(),
               .policy_name = sharing.policy_name,
               .horizon = {},
               .warmup = {},
               .seed = sharing.seed,
               .tells_exact_durations = sharing.tells_exact_durations,
               .gate = sharing.gate},
        simulation_(input_, engine, *this, std::move(on_finished)),
        is_refused_(input_.clients.size()) {}

  void on_refusal(const RefusalFact& refusal) override { is_refused_[refusal.client.value] = true; }
  bool is_refused(ClientId client) const { return is_refused_[client.value]; }
  Simulation& simulation() { return simulation_; }

 private:
  const std::unique_ptr<Policy> policy_;
  const RunInput input_;
  Simulation simulation_;
  std::vector<bool> is_refused_;
};

SharedCards::SharedCards(const ClusterInput& input, Engine& engine, Ended on_ended)
    : input_(input), engine_(engine), on_ended_(std::move(on_ended)), clients_(input.pods.size()) {
  for (std::size_t pod = 0; pod < input.pods.size(); ++pod) {
    if (input.pods[pod].client.empty()) continue;
    clients_[pod] = ClientId{static_cast<std::uint32_t>(pods_.size())};
    pods_.push_back(pod);
  }
}

SharedCards::~SharedCards() = default;

void SharedCards::begin(std::uint64_t pod, std::uint32_t node, std::uint32_t card) {
  card_at(node, card).simulation().join(clients_[pod]);
}

SharedCards::Card& SharedCards::card_at(std::uint32_t node, std::uint32_t card) {
  std::unique_ptr<Card>& made = cards_[{node, card}];
  if (made != nullptr) return *made;
  std::vector<ClientSpec> clients;
  for (const std::uint64_t pod : pods_) {
    const PodSpec& spec = input_.pods[pod];
    const auto model = std::ranges::find(input_.sharing.clients, spec.client, &ClientSpec::name);
    CORUN_ASSERT(model != input_.sharing.clients.end() && spec.cards == 1,
                 "pod '{}' with {} cards does the work of '{}'", spec.name, spec.cards, spec.client);
    clients.push_back(pod_client(*model, spec));
  }
  made = std::make_unique<Card>(input_.sharing, std::move(clients), engine_, [this, node, card](ClientId client) {
    on_ended_(pods_[client.value], cards_.at({node, card})->is_refused(client));
  });
  return *made;
}

}  // namespace corun
