#pragma once

#include "sim/policy/policy.h"

namespace corun {

/// A policy that sets how the device treats each client and leaves the rest to it: every gate is open. It hears
/// nothing but clients joining and leaving.
class DeviceSetting : public Policy {
 public:
  Hears hears() const final { return {.submitted = false, .launched = false, .completed = false, .frames = false}; }

  void decide(const GpuView& view, Actions& actions) final {
    for (const ClientView& client : view.clients) {
      if (!client.is_present) continue;
      set(client, actions);
      actions.open(client.id);
    }
  }

 private:
  /// States how the device shall treat the client; the same answer every time.
  virtual void set(const ClientView& client, Actions& actions) const = 0;
};

}  // namespace corun
