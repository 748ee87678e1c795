#pragma once

#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "policies/parts/thrash.h"
#include "sim/policy/view.h"

namespace corun {

/// Whose memory is on the device: clients whose working sets fit together. They stay for a turn that is long against
/// the time that it took to bring them in, one after another; a client that does not fit waits for the next turn, first
/// come, first served.
///
/// Where all working sets fit, every client becomes resident on asking, and no turn ends. Where a set that should fit
/// thrashes nevertheless, sets of that size are not formed again for a while. A set that no longer fits, because the
/// memory left for it has shrunk, is formed anew.
class Residents {
 public:
  struct Settings {
    double overhead = 0.02;  ///< share of a turn that bringing its memory in may take, in (0, 1)
    Duration shortest_turn{};
    Duration longest_turn{};
    bool together = true;  ///< false: one client at a time is resident
    double thrash_bytes_per_s = 0;
  };
  explicit Residents(const Settings& settings) : settings_(settings), thrash_(settings.thrash_bytes_per_s) {}

  /// Settles which clients are resident at this instant. Again at the same instant it changes nothing.
  void settle(const GpuView& view);

  /// In the order in which they asked. While is_leaving(), they only drain.
  std::span<const ClientId> members() const { return members_; }
  bool is_leaving() const { return is_leaving_; }
  bool is_member(ClientId client) const;
  /// Clients that became resident and whose memory is not all there, since the last call.
  std::vector<ClientId> take_to_load();
  /// The member whose memory is being brought in, for which the others wait; nullopt if there is none.
  std::optional<ClientId> loading(const GpuView& view) const;

  /// Bytes that are left for one more member.
  double room(const GpuView& view) const;
  /// Bytes that a client needs on the device.
  static double need(const ClientView& client);
  /// When settle() must look again if nothing is heard, later than now; kNever if never.
  Time next_look(const GpuView& view) const;

  /// The turn whose overhead is `overhead` = cost / (turn - cost), between the two bounds.
  static Duration turn_for(Duration cost, const Settings& settings);

 private:
  void update_queue(const GpuView& view);
  bool end_turn_if_due(const GpuView& view);
  void admit_all_that_fit(const GpuView& view);
  void add(const GpuView& view, ClientId client);
  void avoid_thrash(const GpuView& view);
  bool is_idle(const GpuView& view) const;
  bool is_scarce(const GpuView& view) const;
  void find_what_to_load(const GpuView& view);
  void update_cost(const GpuView& view);

  const Settings settings_;
  ThrashDetector thrash_;
  std::deque<ClientId> queue_;  // clients that asked and are not resident
  std::vector<ClientId> members_;
  std::vector<ClientId> to_load_;
  std::vector<ClientId> loading_;  // members whose memory is to be brought in
  std::size_t loads_left_ = 0;     // in this turn
  bool is_leaving_ = false;
  Time turn_began_;
  Duration cost_{};  // of bringing the members in: as expected, or as long as it has taken
  Time idle_since_ = kNever;
  double crowd_bytes_ = 0;  // a set of this size thrashed; 0 = none did
  Time crowd_forgotten_ = kRunStart;
  Duration crowd_memory_{};  // how long that is kept in mind; doubles
};

}  // namespace corun
