#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/device/op_table.h"

namespace corun {

/// How the SMs are divided between clients before any kernel is looked at: each client's part of the device, its cap
/// there, and its priority.
struct SmDivision {
  struct Client {
    std::int32_t priority = 0;
    std::size_t part = 0;
  };

  std::vector<Client> clients;
  std::vector<SmShare> caps;  ///< by client, of its part, for its kernels together: room or, under kMaxMin, throughput
  std::vector<double> fractions{1.0};  ///< of the device's SMs, by part; [0]: what no client has for itself
  bool has_parts = false;              ///< not all SMs are one part
  bool has_caps = false;               ///< some client has fewer SMs than its part
  bool has_priorities = false;         ///< not all clients have the same

  const Client& client_of(const ActiveOp& kernel) const { return clients[kernel.client.value]; }
  std::size_t part_of(const ActiveOp& kernel) const { return has_parts ? client_of(kernel).part : 0; }
};

/// Kernels past their dispatch gap, in order of dispatch.
using Kernels = std::span<ActiveOp* const>;

/// Kernels in the order in which they are served; empty: in order of dispatch.
using ServiceOrder = std::span<const std::size_t>;
inline std::size_t served_at(ServiceOrder order, std::size_t place) { return order.empty() ? place : order[place]; }

/// What the caps of clients leave their kernels, one kernel after another.
class CapUse {
 public:
  void restart(const SmDivision& division) { left_ = division.caps; }
  /// The part of `asked` that the cap of the kernel's client leaves it.
  SmShare take(const ActiveOp& kernel, SmShare asked) {
    SmShare& left = left_[kernel.client.value];
    const SmShare taken = std::min(asked, left);
    left -= taken;
    return taken;
  }

 private:
  std::vector<SmShare> left_;  ///< by client
};

/// A part [0, 1] of a share, no less than one unit of something.
inline SmShare part_of_share(SmShare share, double part) {
  return share == 0 ? 0 : std::max<SmShare>(1, static_cast<SmShare>(part * static_cast<double>(share)));
}

}  // namespace corun
