#pragma once

#include <cstdint>
#include <vector>

#include "sim/device/device_model.h"

namespace corun {

/// The order in which a client touches the blocks of its working set, pass after pass.
class TouchOrder {
 public:
  /// `client` seeds random orders, so that clients differ.
  TouchOrder(Access access, std::uint32_t blocks, ClientId client);

  std::uint32_t block(std::uint64_t touch);  ///< the `touch`-th one since the client began

 private:
  void draw(std::uint64_t pass);

  const Access access_;
  const std::uint32_t blocks_;
  const std::uint32_t seed_;
  std::uint64_t drawn_pass_ = UINT64_MAX;
  std::vector<std::uint32_t> drawn_;  ///< the order of that pass
};

}  // namespace corun
