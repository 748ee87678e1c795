#pragma once

#include <array>
#include <memory>
#include <queue>
#include <vector>

#include "sim/device/device_model.h"
#include "sim/device/model/context_ring.h"
#include "sim/device/model/host_link.h"
#include "sim/device/model/power_governor.h"
#include "sim/device/spatial/spatial_set.h"

namespace corun {

/// The device that a DeviceSpec describes, put together from its parts: the order of operations (OpTable), copy
/// engines of three directions, and one ring of contexts. The sharing mode decides what a context is:
///
///   time-sliced  each client's compute is a context, whose operations progress together
///   concurrent   the compute of all clients is one context, shared in space
///   exclusive    everything is one context, one operation at a time
///
/// Except when exclusive, a client's graphics is a context of its own. A client with an instance has a ring of its own.
class Device : public DeviceModel {
 public:
  explicit Device(const DeviceSpec& spec);

  void join(ClientId client, const ContextSpec& context) override;
  void submit(const DeviceOp& op, Time now) override;
  Time next_change() const override { return next_change_; }
  void advance(Time to, std::vector<Completion>& completions) override;
  bool pass_change() override;
  void control(ClientId client, const ContextControls& controls, Time now) override;
  void abort(ClientId client, Time now, std::vector<Completion>& completions) override;
  void leave(ClientId client, Time now) override;
  void prefetch(ClientId client, Time now) override;
  std::optional<LastTurn> last_turn() const override;
  void go_on_after(const LastTurn& turn) override;
  MemoryUse memory(ClientId client) const override;
  DeviceUsage usage() const override;
  Duration device_time(ClientId client) const override { return ledger_.device_times()[client.value]; }
  std::span<const Duration> device_times() const override { return ledger_.device_times(); }
  void take_newer_times(std::vector<ClientId>& clients) override { ledger_.take_newer(clients); }
  double energy_j(ClientId client) const override { return power_.energy_j(client); }
  Time begin_of(Ticket ticket) const override;

 private:
  static constexpr std::size_t kDirections = 3;

  /// Where a client's work runs.
  struct Place {
    ContextRing* ring;
    ContextIndex compute;
    ContextIndex graphics;
    ContextIndex context_of(OpKind kind) const { return kind == OpKind::kRender ? graphics : compute; }
  };
  struct Client {
    Place place;
    Place shared;                     ///< `place` while it has no instance
    ContextRing* instance = nullptr;  ///< its own, once it had one
  };
  struct Wake {
    Time time;
    std::uint64_t sequence;
    OpIndex op;
    bool operator>(const Wake& other) const {
      return time != other.time ? time > other.time : sequence > other.sequence;
    }
  };

  std::unique_ptr<RunSet> compute_set();
  std::unique_ptr<RunSet> graphics_set();
  void free_op(OpIndex op);
  void start(OpIndex op);
  void start_due();
  bool is_copying() const { return copying_ > 0; }
  /// Whether time that passes between changes makes no difference but by its length.
  bool is_steady() const { return shared_ == nullptr && !residency_; }
  void progress(Time to);
  void settle();
  void ask_for_host_link();
  void share_host_link();
  double fraction_for(const ActiveOp& op) const;
  Rate speed_of(const ActiveOp& op, double fraction) const;
  void fit(ActiveOp& op) const;
  void check_controls(ClientId client, const ContextControls& controls) const;
  void divide();
  Place instance_of(ClientId client);
  void move_to(ClientId client, const Place& place);
  void forget_wakes(ClientId client);
  Time next_end() const;
  void complete_finished(std::vector<Completion>& completions);
  void complete(OpIndex op, std::vector<Completion>& completions);
  void check_usage() const;

  const DeviceSpec spec_;
  OpTable ops_;
  ClientLedger ledger_;
  PowerGovernor power_;
  HostLink link_;
  const std::unique_ptr<Residency> residency_;  ///< null where memory is not modelled
  ContextRing ring_;
  SpatialSet* shared_ = nullptr;  ///< the compute of all clients, where they share the SMs
  std::array<FirstComeSet, kDirections> copies_;
  std::size_t copying_ = 0;  ///< operations at the copy engines
  std::vector<Client> clients_;
  std::vector<ContextControls> controls_;  ///< by client
  std::vector<std::unique_ptr<ContextRing>> instances_;
  double without_instances_ = 1.0;  ///< fraction of the SMs that no instance has
  double unreserved_ = 1.0;         ///< of those, what no client has for itself
  DeviceUsage usage_;
  std::priority_queue<Wake, std::vector<Wake>, std::greater<>> wakes_;  ///< free operations that are not visible yet
  std::vector<OpIndex> finished_;
  std::vector<OpIndex> freed_;
  Time now_ = kRunStart;
  Time next_end_ = kNever;     ///< before it no operation ends
  Time next_change_ = kNever;  ///< also the next operation to become visible
};

}  // namespace corun
