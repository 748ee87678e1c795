#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/cluster/cluster.h"

namespace corun {

/// The template of that name.
const ClientSpec& model_of(const CardSharing& sharing, std::string_view client);
/// That of a pod, which has one card.
const ClientSpec& model_of(const ClusterInput& input, const PodSpec& pod);

/// The work of a template under the pod's name, asking for what the pod asks for.
ClientSpec pod_client(const ClientSpec& model, const PodSpec& pod);

/// Pods of one kind do the same on a card: the same work, with the same requests and runtime. Where the policy between
/// them may tell them apart, or something of a pod is drawn by its name, each is a kind of its own.
class PodKinds {
 public:
  /// `input` must outlive it.
  explicit PodKinds(const ClusterInput& input);

  bool are_shared() const { return are_shared_; }                    ///< not each a kind of its own
  std::uint32_t of(std::uint64_t pod) const { return kinds_[pod]; }  ///< of a pod with a client

  /// The pods that a simulated card knows on which `pods` are or were, by number: these, and of each kind the next ones
  /// after its last, as many as it has there and one. All others where each is a kind of its own.
  std::vector<std::uint64_t> known_with(std::span<const std::uint64_t> pods) const;
  ClientSpec client_of(std::uint64_t pod) const;

 private:
  const ClusterInput& input_;
  const bool are_shared_;
  std::vector<std::uint32_t> kinds_;                 ///< by pod; means nothing for those without a client
  std::vector<std::vector<std::uint64_t>> by_kind_;  ///< pods, by number
};

}  // namespace corun
