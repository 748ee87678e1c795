#include "sim/cluster/pod_kinds.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "traces/base/error.h"

namespace corun {

namespace {

bool is_drawn_by_name(const ClientSpec& client) {
  return client.duration_jitter > 0 || client.host_jitter > 0 || client.random_first_job;
}

bool may_stand_for_one_another(const ClusterInput& input) {
  return input.sharing.forgets && std::ranges::none_of(input.sharing.clients, is_drawn_by_name);
}

}  // namespace

const ClientSpec& model_of(const CardSharing& sharing, std::string_view client) {
  const auto model = std::ranges::find(sharing.clients, client, &ClientSpec::name);
  CORUN_ASSERT(model != sharing.clients.end(), "no client '{}'", client);
  return *model;
}

const ClientSpec& model_of(const ClusterInput& input, const PodSpec& pod) {
  CORUN_ASSERT(pod.cards == 1, "pod '{}' with {} cards does the work of '{}'", pod.name, pod.cards, pod.client);
  return model_of(input.sharing, pod.client);
}

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

PodKinds::PodKinds(const ClusterInput& input)
    : input_(input), are_shared_(may_stand_for_one_another(input)), kinds_(input.pods.size()) {
  using Key = std::tuple<std::string, Milli, std::uint64_t, Duration, std::uint64_t>;
  std::map<Key, std::uint32_t> kinds;
  for (std::uint64_t number = 0; number < input.pods.size(); ++number) {
    const PodSpec& pod = input.pods[number];
    if (pod.client.empty()) continue;
    const Key key{pod.client, pod.milli, pod.memory_bytes, pod.runtime, are_shared_ ? UINT64_MAX : number};
    kinds_[number] = kinds.try_emplace(key, static_cast<std::uint32_t>(kinds.size())).first->second;
    by_kind_.resize(kinds.size());
    by_kind_[kinds_[number]].push_back(number);
  }
}

std::vector<std::uint64_t> PodKinds::known_with(std::span<const std::uint64_t> pods) const {
  std::vector<std::uint64_t> known(pods.begin(), pods.end());
  for (std::uint32_t kind = 0; kind < by_kind_.size(); ++kind) {
    const std::vector<std::uint64_t>& all = by_kind_[kind];
    std::ptrdiff_t there = 0;
    auto next = all.begin();
    for (const std::uint64_t pod : pods) {
      if (kinds_[pod] != kind) continue;
      ++there;
      next = std::max(next, std::ranges::upper_bound(all, pod));
    }
    known.insert(known.end(), next, next + std::min(there + 1, all.end() - next));
  }
  std::ranges::sort(known);
  return known;
}

ClientSpec PodKinds::client_of(std::uint64_t pod) const {
  return pod_client(model_of(input_, input_.pods[pod]), input_.pods[pod]);
}

}  // namespace corun
