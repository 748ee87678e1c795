#include "sim/workload/capture/steps/likeness.h"

#include <algorithm>
#include <utility>

namespace corun {

namespace {

/// How often each symbol occurs in each stretch that has it: one list for all symbols, in which each symbol's lie
/// together.
class Counts {
 public:
  Counts(const HostLog& log, const Positions& bounds) : first_(log.symbol_count + 1) {
    collect(log, bounds);
    for (const Entry& entry : entries_) ++first_[entry.symbol + 1];
    for (std::size_t s = 1; s < first_.size(); ++s) first_[s] += first_[s - 1];
    sorted_.resize(entries_.size());
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for (const Entry& entry : entries_) sorted_[next[entry.symbol]++] = entry.count;
  }
  std::pair<std::uint32_t*, std::uint32_t*> of(std::uint32_t symbol) {
    return {sorted_.data() + first_[symbol], sorted_.data() + first_[symbol + 1]};
  }

 private:
  struct Entry {
    std::uint32_t symbol, count;
  };

  void collect(const HostLog& log, const Positions& bounds) {
    std::vector<std::uint32_t> entry_of(log.symbol_count);
    for (std::size_t stretch = 0; stretch + 1 < bounds.size(); ++stretch) {
      const auto begin = static_cast<std::uint32_t>(entries_.size());
      for (std::size_t i = bounds[stretch]; i < bounds[stretch + 1]; ++i) {
        const std::uint32_t symbol = log.symbols[i];
        std::uint32_t& entry = entry_of[symbol];
        if (entry >= begin && entry < entries_.size() && entries_[entry].symbol == symbol) {
          ++entries_[entry].count;
        } else {
          entry = static_cast<std::uint32_t>(entries_.size());
          entries_.push_back({symbol, 1});
        }
      }
    }
  }

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> first_, sorted_;
};

/// Median of the counts and as many zeros as make `stretches` of them.
std::uint32_t median(std::uint32_t* begin, std::uint32_t* end, std::size_t stretches) {
  const auto found = static_cast<std::size_t>(end - begin);
  const std::size_t zeros = stretches - found, middle = stretches / 2;
  if (middle < zeros) return 0;
  std::nth_element(begin, begin + (middle - zeros), end);
  return begin[middle - zeros];
}

}  // namespace

TypicalStretch::TypicalStretch(const HostLog& log, const Positions& bounds)
    : log_(log), usual_(log.symbol_count), counts_(log.symbol_count) {
  if (bounds.size() < 2) return;
  Counts counts(log, bounds);
  const std::size_t stretches = bounds.size() - 1;
  double events = 0, unusual = 0, symbols = 0, usual_symbols = 0;
  for (std::uint32_t symbol = 0; symbol < log.symbol_count; ++symbol) {
    const auto [begin, end] = counts.of(symbol);
    if (begin == end) continue;
    const std::uint32_t usual = usual_[symbol] = median(begin, end, stretches);
    size_ += usual;
    double total = 0, off = static_cast<double>(usual) * static_cast<double>(stretches - (end - begin));
    for (const std::uint32_t* count = begin; count != end; ++count) {
      total += *count;
      off += *count > usual ? *count - usual : usual - *count;
    }
    events += total;
    unusual += std::min(off, total);
    if (total < 2) continue;
    symbols += 1;
    usual_symbols += 1 - std::min(1.0, off / total);
  }
  if (events > 0) likeness_.events = 1 - unusual / events;
  if (symbols > 0) likeness_.symbols = usual_symbols / symbols;
}

std::pair<double, double> TypicalStretch::compare(std::size_t begin, std::size_t end) {
  std::size_t shared = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint32_t symbol = log_.symbols[i];
    if (counts_[symbol]++ < usual_[symbol]) ++shared;
  }
  for (std::size_t i = begin; i < end; ++i) counts_[log_.symbols[i]] = 0;
  if (size_ == 0) return {end > begin ? 1 : 0, 0};
  const auto larger = static_cast<double>(std::max(end - begin, size_));
  return {1 - static_cast<double>(shared) / larger, static_cast<double>(shared) / static_cast<double>(size_)};
}

}  // namespace corun
