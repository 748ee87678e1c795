#pragma once

#include <cstdint>

#include "policies/parts/rendering.h"
#include "policies/parts/sleeping_fillers.h"

namespace corun {

/// So many kernel launches of the fillers per frame, whatever they are: the rule of PilotFish's simpler baselines. The
/// games' side grants them when a frame ends; the fillers' side reads that at its next poll. What a frame's grant
/// leaves does not carry over. Copies pass.
class LaunchQuota {
 public:
  LaunchQuota(Duration notify_poll, Duration launch_retry) : notify_poll_(notify_poll), fillers_(launch_retry) {}

  void grant(Time now, std::uint64_t launches) {
    granted_ = launches;
    noticed_ = next_poll(now, notify_poll_);
  }

  void on_launched(const GpuView& view, ClientId client, const OpView& op) {
    if (view.client(client).role == Role::kInteractive) return;
    fillers_.on_launched(client);
    if (op.is_kernel() && left_ > 0) --left_;
  }

  /// With a game: admits what is left. Without one everything is open.
  void decide(const GpuView& view, Actions& actions) {
    notice(view.now);
    if (!close_fillers_while_games_run(view, actions)) return;
    if (fillers_.find_waiting(view)) {
      Rule rule(left_, has_begun_);
      fillers_.admit(view, rule, actions);
    }
    actions.wake_at(noticed_);
  }

  /// No game is there any more: the next one begins with no launches.
  void reset() {
    noticed_ = kNever;
    has_begun_ = false;
    left_ = 0;
  }

 private:
  class Rule : public AdmissionRule {
   public:
    Rule(std::uint64_t left, bool has_begun) : left_(left), has_begun_(has_begun) {}
    Verdict judge(const ClientView&, const OpView& op) const override {
      if (!op.is_kernel() || left_ > 0) return Verdict::pass();
      return {{has_begun_ ? "launches_per_frame" : "no_window_yet", 1, 0, "kernels"}};
    }
    void take(const ClientView&, const OpView& op) override { left_ -= op.is_kernel(); }

   private:
    std::uint64_t left_;
    const bool has_begun_;
  };

  void notice(Time now) {
    if (noticed_ > now) return;
    noticed_ = kNever;
    has_begun_ = true;
    left_ = granted_;
  }

  const Duration notify_poll_;
  SleepingFillers fillers_;
  std::uint64_t granted_ = 0;
  Time noticed_ = kNever;
  std::uint64_t left_ = 0;
  bool has_begun_ = false;  // a grant has been noticed
};

}  // namespace corun
