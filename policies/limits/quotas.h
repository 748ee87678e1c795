#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sim/policy/descriptor.h"
#include "sim/policy/view.h"

namespace corun {

/// What a client may have of one device.
struct Quota {
  std::optional<double> share;  ///< of compute, (0, 1]; none = no limit
  std::optional<double> bytes;  ///< of memory; none = no cap

  /// The artifacts leave a client with a whole device, or without a limit, alone.
  bool limits_compute() const { return share && *share < 1.0; }
};

/// The share that `limits` names for the client, else the one that its owner asks for.
std::optional<double> stated_share(const ByClient& limits, const ClientView& client);

/// Bookkeeping of what the clients present were given of one device, as GaiaGPU's manager does it: shares in whole
/// percent, and a client with a whole device has no memory cap.
///
/// Single-threaded; nothing is thrown.
class Quotas {
 public:
  /// What the parameters say of a client goes before what its owner asks for; shares of the device, GiB of memory.
  explicit Quotas(ByClient shares, ByClient gibibytes = {})
      : shares_(std::move(shares)), gibibytes_(std::move(gibibytes)) {}

  /// Gives a client that joins what is stated for it, whatever is left: whether it fits, its placement has decided.
  const Quota& join(const GpuView& view, ClientId client);
  void leave(ClientId client) { given_[client.value] = {}; }

  /// Gives a client that is present what is stated for it now. False, and nothing changes, if it asks for more of
  /// something than it has, and than the limits of the others leave of the device.
  bool resize(const GpuView& view, ClientId client);

  const Quota& of(ClientId client) const { return given_[client.value]; }

 private:
  Quota stated(const ClientView& client) const;
  bool has_room(const GpuView& view, ClientId client, const Quota& wanted) const;

  const ByClient shares_, gibibytes_;
  std::vector<Quota> given_;  // by client
};

}  // namespace corun
