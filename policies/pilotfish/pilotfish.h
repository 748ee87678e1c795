#pragma once

#include <vector>

#include "policies/parts/duration_predictor.h"
#include "policies/parts/launches_ahead.h"
#include "policies/parts/sleeping_fillers.h"
#include "policies/pilotfish/guarantee.h"
#include "policies/pilotfish/link.h"
#include "policies/pilotfish/memory.h"
#include "policies/pilotfish/window.h"
#include "policies/pilotfish/work.h"
#include "sim/policy/descriptor.h"

namespace corun {

/// The policy pilotfish: which kernels of fillers run between frames. See pilotfish.cpp.
///
/// Another policy may be made of it: that one hears what this one hears, opens the games' gates, and has this one
/// decide for the fillers alone, under a further rule.
class PilotFish : public Policy {
 public:
  explicit PilotFish(const Parameters& parameters);

  void on_joined(const GpuView& view, ClientId client) override;
  void on_left(const GpuView& view, ClientId client) override;
  void on_submitted(const GpuView& view, ClientId client, const OpView& op) override;
  void on_launched(const GpuView& view, ClientId client, const OpView& op) override;
  void on_completed(const GpuView& view, ClientId client, const OpView& op, Duration device_time) override;
  void on_frame(const GpuView& view, ClientId client, FrameEvent event) override;
  void on_copied(const GpuView& view, ClientId client, CopyEvent event) override;
  bool decides_after(const GpuView& view, ClientId client, OpEvent event) const override;
  void decide(const GpuView& view, Actions& actions) override;
  std::uint32_t admits_ahead(const GpuView& view, const ClientView& client) const override;
  bool kills() const override { return guarantee_.kills(); }

  /// As decide(), of fillers alone: nothing is said of games. An operation passes if `also` lets it pass, too.
  void decide_fillers(const GpuView& view, AdmissionRule& also, Actions& actions);
  /// As admits_ahead(), of operations that take no more than `most` together.
  std::uint32_t admits_ahead_within(Duration most, const GpuView& view, const ClientView& client) const;
  /// How long the kernel will take; kUnknownDuration if nothing is known of it.
  Duration predict(ClientId filler, const OpView& kernel) const { return predictor_.predict(filler, kernel); }
  /// Predicted work of the filler that is in flight.
  Duration in_flight(ClientId filler) const { return work_.of(filler); }
  /// False for a filler that waits for memory, however much time there is.
  bool fits_in_memory(ClientId filler) const;

 private:
  struct Promised {
    std::uint64_t kernels = 0;
    bool has_unknown = false;
  };
  class Round;

  static bool is_of_game(const GpuView& view, ClientId client);
  void notice_window(const GpuView& view);
  void settle_gates(const GpuView& view, Actions& actions);
  void admit(const GpuView& view, AdmissionRule* also, Actions& actions);
  Duration period(const ClientView& game) const;
  void learn(ClientId client, const OpView& op, Duration device_time);
  Time earliest_next_begin(const GpuView& view) const;
  Duration room(const GpuView& view) const;
  /// Whether an operation of the filler may be refused whatever room there is.
  bool may_wait(const GpuView& view, const ClientView& filler) const;
  /// Whether it is the window's own end that is near, rather than what there is to spend.
  bool room_shrinks(const GpuView& view) const;
  std::string_view why_no_room(const GpuView& view) const;
  /// What a launch takes from the window: its prediction; if there is none, nothing or all that is left.
  Duration charge(const GpuView& view, Duration predicted) const;

  const Duration target_period_;
  const Duration allowance_;  // beyond the window; negative is a margin
  const Duration initial_slice_;
  const bool charges_unfinished_;
  const bool is_absolute_;
  const bool gates_on_rendering_;
  const bool uses_gaps_;
  const bool runs_unknown_;
  const bool requires_memory_fit_;
  const std::uint64_t max_in_flight_;  // 0 = no limit

  bool has_game_ = false;
  bool were_gated_ = false;  // fillers, in the newest decision
  FrameWindow window_;
  FrameGaps gaps_;
  DurationPredictor predictor_;
  UnfinishedWork work_;
  FrameGuarantee guarantee_;
  LinkReserve link_;
  MemoryFit memory_;
  LaunchesAhead ahead_;
  SleepingFillers fillers_;
  std::vector<Promised> promised_;  // by client, in one decision
};

}  // namespace corun
