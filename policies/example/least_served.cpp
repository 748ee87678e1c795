/// Least served - the client that has had the least device time launches next.
/// Source:      ours; an example of a policy outside the project.
/// Hears:       submissions, completions.      Needs: device time per client.
/// Decides:     while fewer than `in_flight` operations are on the device, the waiting client that has received the
///              least device time launches one.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include <vector>

#include "sim/policy/descriptor.h"

namespace {

using namespace corun;

class LeastServed : public Policy {
 public:
  explicit LeastServed(const Parameters& parameters)
      : most_in_flight_(static_cast<std::uint32_t>(parameters.integer("in_flight"))) {}

  Hears hears() const override { return {.submitted = true, .launched = false, .completed = true, .frames = false}; }

  void decide(const GpuView& view, Actions& actions) override {
    std::uint32_t in_flight = 0;
    for (const ClientView& client : view.clients) in_flight += client.in_flight;
    std::vector<std::uint32_t> admitted(view.clients.size());
    for (; in_flight < most_in_flight_; ++in_flight) {
      const ClientView* next = nullptr;
      for (const ClientView& client : view.clients)
        if (admitted[client.id.value] < client.waiting.size() &&
            (next == nullptr || client.device_time < next->device_time))
          next = &client;
      if (next == nullptr) return;
      ++admitted[next->id.value];
      actions.admit(next->id);
    }
  }

 private:
  const std::uint32_t most_in_flight_;
};

PolicyDescriptor describe() {
  PolicyDescriptor policy;
  policy.name = "least_served";
  policy.summary = "The client that has had the least device time launches next.";
  policy.source = "ours; an example of a policy outside the project";
  policy.parameters.integer("in_flight", 1)
      .range(1, 1024, "operations")
      .means("Operations that may be on the device at a time.")
      .from("ours");
  policy.needs.device_time = true;
  policy.create = [](const Parameters& values) { return std::make_unique<LeastServed>(values); };
  return policy;
}

const PolicyPlugin kPlugin{.describe = describe};

}  // namespace

extern "C" const corun::PolicyPlugin* corun_policy_plugin() { return &kPlugin; }
