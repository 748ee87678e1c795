#include "traces/exporters/track_rows.h"

#include <algorithm>

namespace corun {
namespace {

// A row with the ends of the slices that are open at its end, innermost last.
class Row {
 public:
  bool fits(const Slice& slice, Nesting nesting) {
    while (!open_.empty() && open_.back() <= slice.begin_ns) open_.pop_back();
    return open_.empty() || (nesting == Nesting::kAllowed && slice.end_ns <= open_.back());
  }

  void add(const Slice& slice) {
    slices.push_back(slice);
    open_.push_back(slice.end_ns);
  }

  std::vector<Slice> slices;

 private:
  std::vector<std::int64_t> open_;
};

}  // namespace

std::vector<std::vector<Slice>> rows_of(std::vector<Slice> slices, Nesting nesting) {
  const bool nests = nesting == Nesting::kAllowed;
  std::stable_sort(slices.begin(), slices.end(), [nests](const Slice& a, const Slice& b) {
    if (a.begin_ns != b.begin_ns) return a.begin_ns < b.begin_ns;
    return nests ? a.end_ns > b.end_ns : a.end_ns < b.end_ns;
  });
  std::vector<Row> rows;
  for (const Slice& slice : slices) {
    auto row = std::find_if(rows.begin(), rows.end(), [&](Row& each) { return each.fits(slice, nesting); });
    if (row == rows.end()) row = rows.insert(rows.end(), Row{});
    row->add(slice);
  }
  std::vector<std::vector<Slice>> result;
  for (Row& row : rows) result.push_back(std::move(row.slices));
  return result;
}

}  // namespace corun
