#pragma once

#include <array>
#include <memory>
#include <queue>
#include <vector>

#include "sim/device/context_ring.h"
#include "sim/device/device_model.h"
#include "sim/device/spatial_set.h"

namespace corun {

/// The device that a DeviceSpec describes, put together from its parts: the order of operations (OpTable), copy
/// engines of three directions, and one ring of contexts whose members the sharing mode decides.
///
///   time-sliced  each client's compute is a context, whose operations progress together
///   concurrent   the compute of all clients is one context, shared in space
///   exclusive    everything is one context, one operation at a time
///
/// Except when exclusive, a client's graphics is a context of its own.
class Device : public DeviceModel {
 public:
  explicit Device(const DeviceSpec& spec);

  void join(ClientId client, const ContextSpec& context) override;
  void submit(const DeviceOp& op, Time now) override;
  Time next_change() const override { return next_change_; }
  void advance(Time to, std::vector<Completion>& completions) override;
  DeviceUsage usage() const override { return ring_.usage(); }
  Duration device_time(ClientId client) const override { return ledger_.device_time(client); }
  Time begin_of(Ticket ticket) const override;

 private:
  static constexpr std::size_t kDirections = 3;

  struct Client {
    ContextIndex compute;
    ContextIndex graphics;
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
  void settle();
  Time find_next_change() const;
  bool complete_finished(std::vector<Completion>& completions);
  void complete(OpIndex op, std::vector<Completion>& completions);
  void check_usage() const;

  const DeviceSpec spec_;
  OpTable ops_;
  ClientLedger ledger_;
  Residency residency_;
  ContextRing ring_;
  SpatialSet* shared_ = nullptr;  ///< the compute of all clients, where they share the SMs
  std::array<FirstComeSet, kDirections> copies_;
  std::vector<Client> clients_;
  std::priority_queue<Wake, std::vector<Wake>, std::greater<>> wakes_;  ///< free operations that are not visible yet
  std::vector<OpIndex> finished_;
  std::vector<OpIndex> freed_;
  Time now_ = kRunStart;
  Time next_change_ = kNever;
};

}  // namespace corun
