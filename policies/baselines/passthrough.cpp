/// Passthrough - opens every gate and leaves the rest to the device.
/// Source:      ours; what a machine without any sharing software does.
/// Hears:       clients joining and leaving.      Needs: nothing.
/// Decides:     every client that is present may launch whenever it likes.
/// Parameters:  none.
/// Departs:     see deviations

#include "policies/builtin.h"

namespace corun {

namespace {

class Passthrough : public Policy {
 public:
  Hears hears() const override { return {.submitted = false, .launched = false, .completed = false, .frames = false}; }

  void decide(const GpuView& view, Actions& actions) override {
    for (const ClientView& client : view.clients)
      if (client.is_present) actions.open(client.id);
  }
};

}  // namespace

PolicyDescriptor passthrough_policy() {
  PolicyDescriptor policy;
  policy.name = "passthrough";
  policy.summary = "Every client launches whenever it likes; the device alone chooses what runs.";
  policy.source = "ours; what happens without any sharing software";
  policy.forgets = true;
  policy.create = [](const Parameters&) { return std::make_unique<Passthrough>(); };
  return policy;
}

}  // namespace corun
