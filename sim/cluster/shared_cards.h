#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/engine/engine.h"

namespace corun {

/// The work of a template under the pod's name, asking for what the pod asks for.
ClientSpec pod_client(const ClientSpec& model, const PodSpec& pod);

/// The cards on which pods do work: a device, a policy and clients each, made when the first such pod comes.
class SharedCards {
 public:
  /// Called when a pod's client has finished; `is_refused`: with an error, since the policy turned it away.
  using Ended = std::function<void(std::uint64_t pod, bool is_refused)>;

  /// `input` and `engine` must outlive the cards.
  SharedCards(const ClusterInput& input, Engine& engine, Ended on_ended);
  ~SharedCards();

  /// The pod's client joins now, on this card.
  void begin(std::uint64_t pod, std::uint32_t node, std::uint32_t card);

 private:
  class Card;
  Card& card_at(std::uint32_t node, std::uint32_t card);

  const ClusterInput& input_;
  Engine& engine_;
  const Ended on_ended_;
  std::vector<std::uint64_t> pods_;  ///< that have a client; by its number
  std::vector<ClientId> clients_;    ///< by pod; means nothing for those that have none
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::unique_ptr<Card>> cards_;
};

}  // namespace corun
