#include "traces/exporters/lanes.h"

#include <algorithm>

namespace corun {
namespace {

// A lane with the ends of the slices that are open at its end, innermost last.
class Lane {
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

std::vector<std::vector<Slice>> lanes_of(std::vector<Slice> slices, Nesting nesting) {
  const bool nests = nesting == Nesting::kAllowed;
  std::stable_sort(slices.begin(), slices.end(), [nests](const Slice& a, const Slice& b) {
    if (a.begin_ns != b.begin_ns) return a.begin_ns < b.begin_ns;
    return nests ? a.end_ns > b.end_ns : a.end_ns < b.end_ns;
  });
  std::vector<Lane> lanes;
  for (const Slice& slice : slices) {
    auto lane = std::find_if(lanes.begin(), lanes.end(), [&](Lane& l) { return l.fits(slice, nesting); });
    if (lane == lanes.end()) lane = lanes.insert(lanes.end(), Lane{});
    lane->add(slice);
  }
  std::vector<std::vector<Slice>> result;
  for (Lane& lane : lanes) result.push_back(std::move(lane.slices));
  return result;
}

}  // namespace corun
