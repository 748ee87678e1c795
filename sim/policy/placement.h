#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "traces/base/time.h"

namespace corun {

/// Compute of one card in thousandths; a whole card is 1000. GaiaGPU's 100 vcores of a card are 10 of these each.
using Milli = std::uint32_t;
inline constexpr Milli kWholeCard = 1000;

/// How far apart two cards of a node are: what their data crosses. Smaller is closer.
enum class Link : std::uint8_t {
  kSame = 0,         ///< one card
  kSwitch = 10,      ///< one PCIe switch (PIX)
  kSwitches = 20,    ///< several PCIe switches (PXB)
  kHostBridge = 30,  ///< the host bridge of a socket (PHB)
  kSocket = 40,      ///< between host bridges of a socket (NODE)
  kSystem = 50,      ///< between sockets (SYS)
};

/// One card of a node.
struct CardView {
  Milli free = kWholeCard;
  std::uint64_t free_memory_bytes = 0;  ///< 0 where memory is not stated
  std::uint32_t pods = 0;               ///< that run on it

  bool is_free() const { return free == kWholeCard; }
};

/// One node with its cards, by number.
struct NodeView {
  std::uint32_t index = 0;
  std::string_view name;
  std::string_view model;               ///< of its cards; "" = not stated
  std::uint64_t card_memory_bytes = 0;  ///< of each card; 0 = not stated
  std::int64_t cpu_milli = 0, free_cpu_milli = 0;
  std::int64_t memory_mib = 0, free_memory_mib = 0;
  std::span<const CardView> cards;
  std::span<const Link> links;  ///< cards x cards, row by row; empty = all alike

  Link link(std::size_t a, std::size_t b) const {
    return a == b ? Link::kSame : links.empty() ? Link::kSystem : links[a * cards.size() + b];
  }
};

/// What a pod asks for.
struct PodView {
  std::uint64_t number = 0;  ///< its place in the list of pods
  std::string_view name;
  std::uint32_t cards = 0;         ///< 0 = none
  Milli milli = 0;                 ///< of each of its cards; kWholeCard where it asks for several
  std::uint64_t memory_bytes = 0;  ///< of each of its cards; 0 = not stated, else only stated memory has room for it
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::span<const std::string> models;  ///< that it can use; empty = any
};

/// A kind of pod and how often it comes: what a fragment is, depends on what is asked for.
struct PodShare {
  PodView pod;
  double share = 0.0;  ///< of all pods that ask for cards
};

struct ClusterView {
  Time now;
  std::span<const NodeView> nodes;
  std::span<const PodShare> mix;  ///< the workload's kinds of pods, as known from its history
};

/// Where a pod goes: a node and as many of its cards as the pod asks for, ascending.
struct Placement {
  std::uint32_t node = 0;
  std::vector<std::uint32_t> cards;
  friend bool operator==(const Placement&, const Placement&) = default;
};

/// Whether the node has the model and, now, the host resources and enough cards with room for the pod.
bool fits(const NodeView& node, const PodView& pod);
/// Whether this card has room for the pod's share of a card.
bool fits(const CardView& card, const PodView& pod);

/// A rule that chooses nodes and cards for pods. The same history gives the same placements.
///
/// Called by one thread. A pod without a place waits; the policy is asked again when another pod has left,
/// of pods that ask for the same until it finds one of them no place.
/// Returning cards or a node that do not fit is Error(kPolicy).
class PlacementPolicy {
 public:
  virtual ~PlacementPolicy() = default;

  /// Where `pod` should go; nullopt if nowhere now.
  virtual std::optional<Placement> place(const ClusterView& view, const PodView& pod) = 0;

  /// Which cards of its node the pod gets when its container is allocated, some time after place(), ascending. The
  /// default repeats the choice that place() made; a policy whose allocator looks for itself overrides it. The pod gets
  /// what is returned, chosen or not; nothing for a pod that asks for cards refuses it, and the pod fails.
  virtual std::vector<std::uint32_t> allocate(const ClusterView&, const PodView&, const Placement& chosen) {
    return chosen.cards;
  }

  /// Whether place() and allocate() are asked with books of their own, as those of a scheduler and of the nodes'
  /// managers are. The scheduler's hold the cards that place() chose, the managers' those that allocate() returned and
  /// no host resources, both until the pod's end (PlacementTimes::check_period does not count). Else both have the
  /// same.
  virtual bool has_two_books() const { return false; }
};

}  // namespace corun
