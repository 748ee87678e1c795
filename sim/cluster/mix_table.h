#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>

#include "sim/cluster/mix_rates.h"

namespace corun {

/// Co-location throughput: what each program gets in each mix of programs on a card. A mix is measured when it is asked
/// for first, once for all runs that have the table. Any number of threads.
class MixTable {
 public:
  /// For cards that are shared like this; `window` and `where` as in measure_mix().
  MixTable(CardSharing sharing, Duration window, SourceLocation where)
      : sharing_(std::move(sharing)), window_(window), where_(std::move(where)) {}

  /// Lives as long as the table. Throws what measure_mix() throws, to each that asks for the mix.
  const MixRates& at(const Mix& mix, const std::atomic<bool>* interrupt) {
    Row& row = row_of(mix);
    const std::lock_guard lock(row.measured);
    if (!row.rates) row.rates = measure_mix(sharing_, mix, window_, where_, interrupt);
    return *row.rates;
  }

  Duration window() const { return window_; }

 private:
  struct Row {
    std::mutex measured;
    std::optional<MixRates> rates;
  };

  Row& row_of(const Mix& mix) {
    const std::lock_guard lock(rows_changed_);
    return rows_[mix];
  }

  const CardSharing sharing_;
  const Duration window_;
  const SourceLocation where_;
  std::mutex rows_changed_;
  std::map<Mix, Row> rows_;
};

}  // namespace corun
