#include "sim/device/op_table.h"

#include <algorithm>
#include <cmath>

namespace corun {

namespace {

constexpr double kMostBytesPerSecond = 1e18;  // beyond any link, within 64 bits

}  // namespace

bool TicketIndex::insert(Ticket ticket, OpIndex op) {
  if (2 * (size_ + 1) > entries_.size()) grow();
  Entry& entry = entries_[place_of(ticket)];
  if (entry.op != kNoOp) return false;
  entry = {ticket, op};
  ++size_;
  return true;
}

/// Entries behind the gap that were pushed past it move up, so that no search ends at it too early.
bool TicketIndex::erase(Ticket ticket) {
  std::size_t gap = place_of(ticket);
  if (entries_[gap].op == kNoOp) return false;
  const std::size_t mask = entries_.size() - 1;
  for (std::size_t next = (gap + 1) & mask; entries_[next].op != kNoOp; next = (next + 1) & mask) {
    const std::size_t home = home_of(entries_[next].ticket);
    if (((next - home) & mask) < ((next - gap) & mask)) continue;
    entries_[gap] = entries_[next];
    gap = next;
  }
  entries_[gap].op = kNoOp;
  --size_;
  return true;
}

void TicketIndex::grow() {
  std::vector<Entry> before(entries_.size() * 2);
  before.swap(entries_);
  --shift_;
  for (const Entry& entry : before)
    if (entry.op != kNoOp) entries_[place_of(entry.ticket)] = entry;
}

OpIndex OpTable::insert(const DeviceOp& op) {
  const OpIndex index = take_slot();
  const bool is_new = index_of_.insert(op.ticket, index);
  CORUN_ASSERT(is_new, "ticket {} is already in flight", op.ticket);
  ActiveOp& active = ops_[index];
  active.ticket = op.ticket;
  active.client = op.client;
  active.stream = op.stream;
  active.kind = op.kind;
  active.begin_is_watched = op.begin_is_watched;
  active.sequence = next_sequence_++;
  active.ready_at = op.ready_at;
  active.gap_left = work_of(op.dispatch_gap);
  active.work = active.work_left = work_of(op.duration);
  active.shape = shape_on_sms(op.kind, op.shape, op.bytes);
  active.sm_curve = op.sm_curve;
  if (op.bytes > 0 && op.duration > Duration{})
    active.bytes_per_s =
        std::llround(std::min(kMostBytesPerSecond, static_cast<double>(op.bytes) / to_seconds(op.duration)));

  Stream& stream = stream_of(op.client, op.stream);
  if (stream.tail != kNoOp) {
    ops_[stream.tail].next_in_stream = index;
    ++active.unmet;
  } else {
    active.predecessor_end = stream.last_end;
  }
  stream.tail = index;
  for (const Ticket ticket : op.after) {
    const OpIndex awaited = find(ticket);
    if (awaited == kNoOp || awaited == index) continue;
    ops_[awaited].dependents.push_back(index);
    ++active.unmet;
  }
  return index;
}

void OpTable::remove(OpIndex index, Time now, std::vector<OpIndex>& freed) {
  ActiveOp& op = ops_[index];
  const bool in_flight = index_of_.erase(op.ticket);
  CORUN_ASSERT(in_flight, "ticket {} completed twice", op.ticket);
  Stream& stream = stream_of(op.client, op.stream);
  if (stream.tail == index) stream.tail = kNoOp;
  stream.last_end = now;
  if (op.next_in_stream != kNoOp) {
    ops_[op.next_in_stream].predecessor_end = now;
    release(op.next_in_stream, freed);
  }
  for (const OpIndex dependent : op.dependents) release(dependent, freed);
  unused_.push_back(index);
}

std::vector<OpIndex> OpTable::in_flight() const {
  std::vector<OpIndex> indices;
  for (OpIndex index = 0; index < ops_.size(); ++index)
    if (find(ops_[index].ticket) == index) indices.push_back(index);
  std::ranges::sort(indices, {}, [&](OpIndex index) { return ops_[index].sequence; });
  return indices;
}

OpIndex OpTable::take_slot() {
  if (unused_.empty()) {
    ops_.emplace_back();
    return static_cast<OpIndex>(ops_.size() - 1);
  }
  const OpIndex index = unused_.back();
  unused_.pop_back();
  reset(ops_[index]);
  return index;
}

/// Makes it as new but for what insert() sets and, where SMs are shared in space, Device::fit().
void OpTable::reset(ActiveOp& used) {
  used.rate = 0;
  used.speed = kFullRate;
  used.begin = kNever;
  used.device_time = Duration{};
  used.started = false;
  used.unmet = 0;
  used.predecessor_end = kNever;
  used.next_in_stream = kNoOp;
  used.dependents.clear();
  used.bytes_per_s = 0;
  used.room = 0;
  used.placement = {};
}

OpTable::Stream& OpTable::new_stream(ClientId client, StreamId stream) {
  if (client.value >= streams_.size()) streams_.resize(client.value + 1);
  std::vector<Stream>& streams = streams_[client.value];
  if (stream.value >= streams.size()) streams.resize(stream.value + 1);
  return streams[stream.value];
}

void OpTable::release(OpIndex index, std::vector<OpIndex>& freed) {
  CORUN_ASSERT(ops_[index].unmet > 0, "ticket {} was freed twice", ops_[index].ticket);
  if (--ops_[index].unmet == 0) freed.push_back(index);
}

}  // namespace corun
