#pragma once

#include "sim/policy/policy.h"

namespace corun {

/// The policy that opens every gate, so that the device alone decides.
class OpenGates : public Policy {
 public:
  Hears hears() const override { return Hears{false, false, false, false}; }
  void decide(const GpuView& view, Actions& actions) override {
    for (const ClientView& client : view.clients)
      if (client.is_present) actions.open(client.id);
  }
};

}  // namespace corun
