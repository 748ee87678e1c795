/// Exclusive - no sharing: the interactive clients alone, and without any the others one after another.
/// Source:      ours; the "game alone" and "one job after another" baselines of every sharing paper.
/// Hears:       clients joining and leaving.      Needs: nothing.
/// Decides:     while an interactive client is present, only interactive clients are open. Otherwise the best-effort
///              client that joined first is open until it leaves, then the next in joining order.
/// Parameters:  none.
/// Departs:     see deviations

#include <vector>

#include "policies/builtin.h"

namespace corun {

namespace {

class Exclusive : public Policy {
 public:
  Hears hears() const override { return {.submitted = false, .launched = false, .completed = false, .frames = false}; }

  void on_joined(const GpuView& view, ClientId client) override {
    if (view.client(client).role == Role::kInteractive) {
      ++interactive_;
    } else {
      queue_.push_back(client);
    }
  }

  void on_left(const GpuView& view, ClientId client) override {
    if (view.client(client).role == Role::kInteractive) {
      --interactive_;
    } else {
      std::erase(queue_, client);
    }
  }

  void decide(const GpuView& view, Actions& actions) override {
    for (const ClientView& client : view.clients) {
      if (!client.is_present) continue;
      if (may_run(client)) {
        actions.open(client.id);
      } else {
        actions.close(client.id);
        actions.hold(client.id, {interactive_ > 0 ? "interactive_first" : "one_after_another", 0, 0, ""});
      }
    }
  }

 private:
  bool may_run(const ClientView& client) const {
    if (client.role == Role::kInteractive) return true;
    return interactive_ == 0 && client.id == queue_.front();
  }

  std::vector<ClientId> queue_;  // best-effort clients in joining order
  int interactive_ = 0;
};

}  // namespace

PolicyDescriptor exclusive_policy() {
  PolicyDescriptor policy;
  policy.name = "exclusive";
  policy.summary = "Interactive clients have the device to themselves; without any, the others run one after another.";
  policy.source = "ours; the \"game alone\" and \"one job after another\" baselines";
  policy.forgets = true;
  policy.create = [](const Parameters&) { return std::make_unique<Exclusive>(); };
  return policy;
}

}  // namespace corun
