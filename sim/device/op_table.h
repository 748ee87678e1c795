#pragma once

#include <cstdint>
#include <vector>

#include "sim/device/carveout.h"
#include "sim/device/device_model.h"
#include "sim/device/occupancy.h"
#include "sim/device/work.h"

namespace corun {

/// Index of an operation in flight; reused after it completes.
using OpIndex = std::uint32_t;
inline constexpr OpIndex kNoOp = UINT32_MAX;

/// Where the blocks of a kernel began, where SMs are shared in space.
struct BlockPlacement {
  SmShare sms = 0;                ///< on which they lie, at most; 0: none has begun
  SmShare pace = kAllSms;         ///< of each block relative to its pace alone: less where blocks lie closer together
  SmShare large_sms = 0;          ///< of these SMs, those that kernels before left with a larger carve-out
  std::uint32_t large_bytes = 0;  ///< size of that carve-out
};

/// An operation between submit() and completion. Thousands may be in flight, so what its progress changes comes first
/// and together.
struct alignas(64) ActiveOp {
  Rate rate = 0;           ///< at which it progresses now, were its context on the device
  Rate speed = kFullRate;  ///< with all that it asks for; less where its client has only a part of the device
  Work gap_left = 0;       ///< dispatch gap, spent before `work_left`
  Work work_left = 0;
  Time begin = kNever;
  Duration device_time{};
  ClientId client;
  StreamId stream;
  OpKind kind = OpKind::kKernel;
  bool started = false;  ///< has been served; kept only where something asks for it
  bool begin_is_watched = false;

  std::uint32_t unmet = 0;  ///< predecessors still in flight
  Ticket ticket = 0;
  std::uint64_t sequence = 0;  ///< of submission, over all clients
  Time ready_at{};
  Time predecessor_end = kNever;  ///< of its stream; kNever if there was none or it is in flight
  OpIndex next_in_stream = kNoOp;
  std::vector<OpIndex> dependents;  ///< in other streams

  std::int64_t bytes_per_s = 0;  ///< of a copy alone; 0 = not known
  Work work = 0;                 ///< all of it, in time alone on the whole device
  const SmCurve* sm_curve = nullptr;
  LaunchShape shape;
  Rate capped = kFullRate;  ///< what its client's cap on SMs leaves of its speed, were nothing else there
  SmShare room = 0;         ///< the room that it was given last, where SMs are shared in space
  Occupancy occupancy;      ///< what it fills, where SMs are shared in space: else it fills the device
  Carveout carveout;        ///< that it asks for; nothing where the device does not mind
  BlockPlacement placement;
};

/// The operations in flight by ticket: open addressing, at most half full, so that an operation costs no allocation.
class TicketIndex {
 public:
  /// False if the ticket is there already.
  bool insert(Ticket ticket, OpIndex op);
  /// False if it is not there.
  bool erase(Ticket ticket);
  OpIndex find(Ticket ticket) const { return entries_[place_of(ticket)].op; }  ///< kNoOp if it is not there

 private:
  struct Entry {
    Ticket ticket = 0;
    OpIndex op = kNoOp;  ///< kNoOp: the place is free
  };
  std::size_t home_of(Ticket ticket) const { return (ticket * 0x9E3779B97F4A7C15u) >> shift_; }
  std::size_t place_of(Ticket ticket) const {
    std::size_t place = home_of(ticket);
    while (entries_[place].op != kNoOp && entries_[place].ticket != ticket) place = (place + 1) & (entries_.size() - 1);
    return place;
  }
  void grow();

  std::vector<Entry> entries_ = std::vector<Entry>(64);
  unsigned shift_ = 58;  ///< 64 less the logarithm of the size
  std::size_t size_ = 0;
};

/// Operations in flight and the order between them: each follows its predecessor in its stream and the tickets it
/// names. An operation that nothing holds back any more is called free.
class OpTable {
 public:
  /// Takes an operation in; it is free if its `unmet` is 0. Tickets in `after` that are not in flight have completed.
  OpIndex insert(const DeviceOp& op);

  /// Drops an operation that completed at `now` and appends those that became free by it, in order of submission.
  void remove(OpIndex index, Time now, std::vector<OpIndex>& freed);

  ActiveOp& operator[](OpIndex index) { return ops_[index]; }
  const ActiveOp& operator[](OpIndex index) const { return ops_[index]; }
  OpIndex find(Ticket ticket) const { return index_of_.find(ticket); }  ///< kNoOp if not in flight
  std::vector<OpIndex> in_flight() const;  ///< all, in order of submission; looks at every slot

 private:
  OpIndex take_slot();
  void reset(ActiveOp& used);
  struct Stream {
    OpIndex tail = kNoOp;    ///< last operation in flight
    Time last_end = kNever;  ///< of its operations
  };
  Stream& stream_of(ClientId client, StreamId stream) {
    const bool is_known = client.value < streams_.size() && stream.value < streams_[client.value].size();
    return is_known ? streams_[client.value][stream.value] : new_stream(client, stream);
  }
  Stream& new_stream(ClientId client, StreamId stream);
  void release(OpIndex index, std::vector<OpIndex>& freed);

  std::vector<ActiveOp> ops_;
  std::vector<OpIndex> unused_;
  std::vector<std::vector<Stream>> streams_;  ///< by client and stream
  TicketIndex index_of_;
  std::uint64_t next_sequence_ = 0;
};

}  // namespace corun
