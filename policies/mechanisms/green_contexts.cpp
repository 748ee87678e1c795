/// Green contexts - named clients have SMs of their own in a context that all share; the others use what is left.
/// Source:      CUDA Driver API reference, green contexts (device resources of type SM, split by count).
/// Hears:       clients joining and leaving.      Needs: a shared context.
/// Decides:     a named client gets its share of the SMs, rounded up to whole groups, when it joins, in joining order;
///              if so many are not free it waits until others have left. Clients that are not named use the SMs that
///              are left; if there are none they wait. No client uses the SMs of another, idle or not.
/// Parameters:  see the descriptor below.
/// Departs:     see deviations

#include <algorithm>
#include <cmath>
#include <vector>

#include "policies/builtin.h"

namespace corun {

namespace {

class GreenContexts : public Policy {
 public:
  explicit GreenContexts(const Parameters& parameters)
      : shares_(parameters.by_client("shares")), group_(parameters.integer("group")) {}

  Hears hears() const override { return {.submitted = false, .launched = false, .completed = false, .frames = false}; }

  void on_joined(const GpuView& view, ClientId client) override {
    const auto named = shares_.find(view.client(client).name);
    if (named != shares_.end()) asking_.push_back({client, sms_for(named->second, view.device.sm_count), false});
  }

  void on_left(const GpuView&, ClientId client) override {
    std::erase_if(asking_, [&](const Reservation& its) { return its.client == client; });
  }

  void decide(const GpuView& view, Actions& actions) override {
    std::int64_t free = view.device.sm_count;
    for (const Reservation& its : asking_)
      if (its.is_granted) free -= its.sms;
    for (Reservation& its : asking_) {
      if (!its.is_granted && its.sms <= free) {
        its.is_granted = true;
        free -= its.sms;
      }
      if (!its.is_granted) {
        actions.hold(its.client, {"no_free_sms", static_cast<double>(its.sms), static_cast<double>(free), "SMs"});
        continue;
      }
      actions.set_sm_share(its.client, static_cast<double>(its.sms) / view.device.sm_count);
      actions.open(its.client);
    }
    for (const ClientView& client : view.clients)
      if (client.is_present && !shares_.contains(client.name)) use_the_rest(client, free, actions);
  }

 private:
  struct Reservation {
    ClientId client;
    std::int64_t sms;
    bool is_granted;
  };

  std::int64_t sms_for(double share, std::int64_t sm_count) const {
    const double exact = share * static_cast<double>(sm_count) / static_cast<double>(group_);
    const auto groups = static_cast<std::int64_t>(std::ceil(exact - 1e-9));
    return std::min(std::max<std::int64_t>(groups, 1) * group_, sm_count);
  }

  static void use_the_rest(const ClientView& client, std::int64_t free, Actions& actions) {
    if (free > 0) return actions.open(client.id);
    actions.close(client.id);
    actions.hold(client.id, {"no_sms_left", 0, 0, ""});
  }

  const ByClient shares_;
  const std::int64_t group_;
  std::vector<Reservation> asking_;  // named clients that are present, in joining order
};

}  // namespace

PolicyDescriptor green_contexts_policy() {
  PolicyDescriptor policy;
  policy.name = "green_contexts";
  policy.summary = "Named clients have SMs of their own in a context that all share; the others use what is left.";
  policy.source = "CUDA Driver API reference: green contexts";
  policy.deviations = {
      "Green contexts split one program's context; here the clients are parts of one, as under MPS.",
      "A client has one share for all its streams, while it is there.",
      "Real devices may give more SMs than were asked for, in whole clusters.",
      "A kernel that runs when its last SMs are given away stands still until some are free again; real blocks run to "
      "their end.",
  };
  policy.parameters.by_client("shares")
      .range(0.01, 1)
      .means("Fraction of the SMs that only this client's kernels use.")
      .from("ours: no client is named");
  policy.parameters.integer("group", 8)
      .range(1, 64, "SMs")
      .means("Shares are whole groups of so many SMs.")
      .from("driver API reference: 8 on compute capability 9.0, 2 from 7.0 (at least 4 from 8.0)");
  policy.needs.shared_context = true;
  policy.create = [](const Parameters& values) { return std::make_unique<GreenContexts>(values); };
  return policy;
}

}  // namespace corun
