#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "traces/base/packed_column.h"
#include "traces/timeline.h"

namespace corun {

/// A capture from which a workload is made: its operations and calls are packed columns, which take a tenth of the 88
/// bytes that rows take (studies/simulator-speed). A capture in our own format never exists as rows (load_compact).
///
/// The maker of the workload frees columns one by one, as soon as it is done with them.
struct CompactCapture {
  /// A call that does more than submit, and its number among all calls.
  struct OtherCall {
    std::uint32_t number = 0;
    CallRecord call;
  };

  Timeline rest;  ///< everything else: it has no operations and no calls

  /// What operations have in common: kind, name, queue, shape, bytes; `graph_node` is 1 if they are of a graph.
  std::vector<OpRecord> prototypes;
  Kinds prototype_of;  ///< by operation, as the next three
  Instants starts;
  Durations durations;
  Indices call_of;  ///< OpRecord::kNoIndex where it was cut off

  Instants call_starts;
  std::vector<OtherCall> other_calls;

  std::size_t op_count() const { return prototype_of.size(); }
  const OpRecord& prototype(std::size_t op) const { return prototypes[prototype_of[op]]; }
  std::int64_t end_of(std::size_t op) const { return starts[op] + durations[op]; }
  void forget_calls();
};

/// Makes the columns out of rows that come in order of their starts.
class CompactRows : public RowSink {
 public:
  void reserve(std::size_t ops, std::size_t calls) override;
  void add(std::span<const OpRecord> ops) override;
  void add(std::span<const CallRecord> calls) override;
  RowSpan span() const override;

  /// False if a row cannot be part of a timeline, or came out of order: rows are to be sorted and sealed first, which
  /// says what is wrong. `rest`: the same capture's, sealed.
  bool are_sound(const Timeline& rest) const;
  CompactCapture take(Timeline rest) &&;

 private:
  struct Hash {
    std::size_t operator()(const OpRecord& prototype) const;
  };
  /// The largest number of each kind that rows refer to.
  struct Largest {
    std::int64_t name = -1, queue = -1, call = -1, shape = -1, thread = -1, awaited = -1;
  };
  template <class Row>
  bool is_in_order(std::int64_t& last_ns, const Row& row);
  std::uint32_t prototype_of(const OpRecord& op);
  std::uint32_t number_of(const OpRecord& prototype);

  CompactCapture capture_;
  std::unordered_map<OpRecord, std::uint32_t, Hash> numbers_;  ///< of prototypes
  std::vector<std::uint32_t> followers_;                       ///< by prototype: the one that came next the last time
  std::uint32_t last_prototype_ = 0;
  std::int64_t last_start_ns_ = INT64_MIN, last_call_ns_ = INT64_MIN;
  Largest largest_;
  bool are_in_order_ = true;
};

/// The same capture without its rows.
CompactCapture compact(Timeline timeline);

/// Reads a trace of any known format, as load_timeline does. Of our own format no rows are made.
CompactCapture load_compact(const std::string& path);

}  // namespace corun
