#pragma once

#include <span>
#include <vector>

#include "sim/device/run_set.h"
#include "sim/device/spec.h"

namespace corun {

/// Kernels of all clients on the device at once, as under MPS: they divide its room for blocks, and its throughput.
///
/// Room comes first: blocks of a kernel dispatched earlier go before those of a later one, which has what is left and more
/// as it comes free; with none it waits. A kernel of several waves leaves none until its last block has been dispatched
/// (Occupancy). Room comes free by blocks: a kernel that has one or two on an SM leaves whole SMs or halves, and blocks of
/// a later one lie there as closely as they must. Who has room for its blocks asks for throughput, with part of the room for that of as many fewer SMs;
/// again the earlier one comes first, but each has at least as much as the SMs that no earlier one is on, and beside one of
/// one to two waves as much as the room that this leaves. On part of the throughput a kernel progresses in proportion;
/// where all that is given out is more than the device has, everyone gets less in proportion. A dispatch gap takes time
/// but nothing else, more beside kernels of other clients (`company_gap_scale`). A kernel that begins holds up those of
/// other clients that run (`company_stall`). A client's `sm_cap` bounds the SMs that its kernels get together and
/// reserves nothing.
///
/// Carve-outs (DeviceSpec::carveout_change): blocks find no room on SMs where another client's kernel keeps the carve-out
/// smaller than they need (Carveout), but for those that had a larger one when that kernel began. What finds no room
/// waits for SMs that come free.
///
/// Where the SMs that are open to a kernel's first blocks are fewer than those on which it lies alone, its blocks lie
/// closer together, and each progresses as SMs do that hold more of them (`sm_fill_exponent`), to the kernel's end.
///
/// Priorities: kernels of higher priority are served first, but running blocks are not displaced. What room a kernel was
/// given it keeps until its blocks end, all together, every `Occupancy::wave` of its running time; then it yields what
/// the others want. A kernel of one wave, or of unknown shape, does not. (Really, blocks that
/// began at different times end at different times: an SM comes free earlier, all of them no earlier.)
///
/// Under kMaxMin there is no room: throughput is divided fairly, and priorities mean nothing.
///
/// SM shares: a client with `sm_share` s has a part of the device, with the fraction s of the SMs, for its kernels
/// alone; the others have what nobody reserved. Each part is served by itself, as above. Parts compete for memory
/// bandwidth all the same: while parts with the fraction F of the SMs in all are busy, their throughput is
/// F^sm_rate_exponent, divided in proportion to their SMs.
class SpatialSet final : public RunSet {
 public:
  SpatialSet(OpTable& ops, const DeviceSpec& spec)
      : RunSet(ops), rule_(spec.spatial_rule), has_carveouts_(spec.carveout_change == CarveoutChange::kWhenIdle),
        exponent_(spec.sm_rate_exponent), fill_exponent_(spec.sm_fill_exponent),
        gap_rate_(static_cast<Rate>(kFullRate / spec.company_gap_scale)), stall_(spec.company_stall) {}

  /// How clients are treated from now on, by client, those that have not joined yet left out. `available` [0, 1] is
  /// the fraction of the SMs that no instance has. An operation's occupancy and speed must be those of its client's
  /// part; assign_rates() must follow.
  void treat(std::span<const ContextControls> controls, double available);

  void assign_rates() override;
  Duration until_change() const override;

 private:
  struct Client {
    std::int32_t priority = 0;
    std::size_t part = 0;
  };
  struct Part {
    double fraction = 1.0;   ///< of the device's SMs
    SmShare left = kAllSms;  ///< of its own room or throughput, while shares are being given out
    SmShare free_sms = kAllSms;  ///< of its SMs, those that nobody is on, while throughput is being given out
    SmShare given = 0;           ///< throughput, in all
  };

  ActiveOp& member(std::size_t i) { return ops_[members_[i]]; }
  Client& client_of(std::size_t i) { return clients_[member(i).client.value]; }
  SmShare& left_for(std::size_t i) { return parts_[client_of(i).part].left; }
  void find_wants();
  void share_in_dispatch_order();
  void give_room(std::size_t i);
  void place(std::size_t i, SmShare open);
  SmShare sms_open_to(std::size_t i);
  bool has_blocks_beside(std::size_t i, std::size_t other);
  void share_by_priority();
  void share_fairly();
  void keep_running_blocks();
  void find_yielding();
  void share_throughput();
  void share_excess();
  void give_rates();
  Rate gap_rate(OpIndex in_gap) const;
  void stall_others();
  double bandwidth_gain() const;

  const SpatialRule rule_;
  const bool has_carveouts_;
  const double exponent_, fill_exponent_;
  const Rate gap_rate_;  ///< of a dispatch gap in company
  const Duration stall_;
  std::vector<Client> clients_;
  std::vector<SmShare> caps_;       ///< by client, of its part's room; under kMaxMin of its throughput
  std::vector<Part> parts_{1};      ///< [0]: what nobody reserved
  bool has_parts_ = false;          ///< not all is one part
  bool has_priorities_ = false;     ///< not all are equal
  std::vector<SmShare> cap_left_;   ///< by client, while wants are being found
  std::size_t dispatched_ = 0;      ///< members past their gap; they come first, in order of dispatch
  std::vector<SmShare> wants_;      ///< by dispatched member: room; under kMaxMin throughput
  std::vector<SmShare> shares_;     ///< by dispatched member, of its part: room, in the end throughput
  std::vector<std::size_t> order_;  ///< of dispatched members by priority
  std::vector<OpIndex> yielding_;   ///< have SMs that a higher priority wants: until their blocks end
};

}  // namespace corun
