#include <algorithm>
#include <limits>
#include <utility>

#include "traces/base/error.h"
#include "traces/timeline.h"

namespace corun {
namespace {

constexpr std::uint32_t kNoIndex = OpRecord::kNoIndex;

std::int64_t start_of(const FrameRecord& frame) { return frame.present_ns; }
template <class Row>
std::int64_t start_of(const Row& row) {
  return row.start_ns;
}

// Sorts rows by start, equal starts in recorded order. Returns where each row went; empty where none moved.
template <class Row>
std::vector<std::uint32_t> sort_by_start(std::vector<Row>& rows) {
  const auto earlier = [](const Row& a, const Row& b) { return start_of(a) < start_of(b); };
  if (std::is_sorted(rows.begin(), rows.end(), earlier)) return {};

  std::vector<std::pair<std::int64_t, std::uint32_t>> order(rows.size());
  for (std::uint32_t i = 0; i < rows.size(); ++i) order[i] = {start_of(rows[i]), i};
  std::sort(order.begin(), order.end());

  std::vector<std::uint32_t> moved_to(rows.size());
  std::vector<Row> sorted;
  sorted.reserve(rows.size());
  for (const auto& [start, from] : order) {
    moved_to[from] = static_cast<std::uint32_t>(sorted.size());
    sorted.push_back(rows[from]);
  }
  rows = std::move(sorted);
  return moved_to;
}

void renumber(std::uint32_t& reference, const std::vector<std::uint32_t>& moved_to) {
  if (reference != kNoIndex) reference = moved_to[reference];
}

// Checks rows as they were added, so that the numbers in messages are the importer's.
class RowChecker {
 public:
  explicit RowChecker(const Timeline& timeline) : t_(timeline) {}

  void check() {
    what_ = "provenance";
    check_instant("origin", t_.provenance().origin_ns, -kLongestNs);
    check_rows(t_.ops(), "operation");
    check_rows(t_.calls(), "call");
    check_rows(t_.frames(), "frame");
    check_rows(t_.marks(), "mark");
    check_rows(t_.draws(), "draw");
    check_rows(t_.swapchains(), "swap chain");
    check_counters();
  }
  void check_counters() { check_rows(t_.counters(), "counter"); }

 private:
  template <class Row>
  void check_rows(const std::vector<Row>& rows, const char* what) {
    what_ = what;
    if (rows.size() >= kNoIndex) fail("count {}, expected fewer than {}", rows.size(), kNoIndex);
    for (row_ = 0; row_ < rows.size(); ++row_) check_row(rows[row_]);
  }

  void check_row(const OpRecord& op) {
    check_interval(op);
    if (op.kind > OpKind::kRender) fail("kind {}, expected 0 to 6", static_cast<int>(op.kind));
    check_text(op.name);
    check_index("queue", op.queue, t_.queues().size());
    check_optional("call", op.call, t_.calls().size());
    check_optional("shape", op.shape, t_.shapes().size());
  }

  void check_row(const CallRecord& call) {
    check_interval(call);
    if (call.kind > CallKind::kBlockingCopy) fail("kind {}, expected 0 to 6", static_cast<int>(call.kind));
    check_index("thread", call.thread, t_.threads().size());
    check_optional("queue", call.queue, t_.queues().size());
    check_optional("awaited operation", call.awaited, t_.ops().size());
  }

  void check_row(const FrameRecord& frame) {
    check_instant("present", frame.present_ns, -kLongestNs);
    check_instant("interval", frame.interval_ns, -1);
    check_instant("CPU busy time", frame.cpu_busy_ns, -1);
    check_instant("time in present", frame.in_present_ns, -1);
    check_instant("submission", frame.submit_ns, -1);
    check_instant("GPU begin", frame.gpu_begin_ns, -1);
    check_instant("GPU end", frame.gpu_end_ns, -1);
    check_instant("GPU busy time", frame.gpu_busy_ns, -1);
    check_index("swap chain", frame.swapchain, t_.swapchains().size());
  }

  void check_row(const MarkRecord& mark) {
    check_interval(mark);
    check_text(mark.name);
    check_index("thread", mark.thread, t_.threads().size());
  }

  void check_row(const DrawRecord& draw) {
    check_interval(draw);
    check_index("swap chain", draw.swapchain, t_.swapchains().size());
  }

  void check_row(const CounterRecord& counter) {
    check_text(counter.name);
    check_optional("shape", counter.shape, t_.shapes().size());
    check_instant("mean duration", counter.mean_ns, 0);
    for (const std::uint32_t ppm :
         {counter.dram_ppm, counter.l2_ppm, counter.l2_hits_ppm, counter.sm_ppm, counter.warps_ppm})
      if (ppm > CounterRecord::kMost) fail("{} millionths, expected at most {}", ppm, CounterRecord::kMost);
  }

  void check_row(const SwapchainRecord& swapchain) { check_text(swapchain.application); }

  template <class Row>
  void check_interval(const Row& row) {
    check_instant("start", row.start_ns, -kLongestNs);
    check_instant("duration", row.duration_ns, 0);
  }

  void check_instant(const char* what, std::int64_t ns, std::int64_t least) {
    if (ns < least || ns > kLongestNs) fail("{} {} ns, expected {} to {} ns", what, ns, least, kLongestNs);
  }

  void check_text(StringId id) { check_optional("name", id.value, t_.strings().size()); }

  void check_optional(const char* what, std::uint32_t index, std::size_t count) {
    if (index != kNoIndex) check_index(what, index, count);
  }

  void check_index(const char* what, std::uint32_t index, std::size_t count) {
    if (index >= count) fail("{} {}, but the timeline has {}", what, index, count);
  }

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
    throw_input(SourceLocation{t_.provenance().source_file}, "{} {} (from 0, as recorded): {}", what_, row_,
                fmt::format(format, std::forward<Args>(args)...));
  }

  const Timeline& t_;
  const char* what_ = "";
  std::size_t row_ = 0;
};

// First and last instant at which any row begins.
class Extent {
 public:
  explicit Extent(const Timeline& timeline) {
    add_ends(timeline.ops());
    add_ends(timeline.calls());
    add_ends(timeline.marks());
    add_ends(timeline.draws());
    for (const FrameRecord& frame : timeline.frames()) add(frame);
  }

  void add(const RowSpan& elsewhere) {
    if (elsewhere.first_ns > elsewhere.last_ns) return;
    add(elsewhere.first_ns);
    add(elsewhere.last_ns);
  }

  std::int64_t first_ns() const { return first_ns_; }
  std::int64_t length_ns() const { return last_ns_ - first_ns_; }
  bool is_empty() const { return first_ns_ > last_ns_; }

 private:
  template <class Row>
  void add_ends(const std::vector<Row>& sorted) {
    if (sorted.empty()) return;
    add(sorted.front().start_ns);
    add(sorted.back().start_ns);
  }

  // GPU work of a frame usually begins before the frame is presented.
  void add(const FrameRecord& frame) {
    add(frame.present_ns);
    for (std::int64_t instant : {frame.submit_ns, frame.gpu_begin_ns, frame.gpu_end_ns}) {
      if (instant != -1) add(instant);
    }
  }

  void add(std::int64_t instant_ns) {
    first_ns_ = std::min(first_ns_, instant_ns);
    last_ns_ = std::max(last_ns_, instant_ns);
  }

  std::int64_t first_ns_ = kLongestNs;
  std::int64_t last_ns_ = -kLongestNs;
};

void shift(FrameRecord& frame, std::int64_t by_ns) {
  frame.present_ns -= by_ns;
  for (std::int64_t* instant : {&frame.submit_ns, &frame.gpu_begin_ns, &frame.gpu_end_ns}) {
    if (*instant != -1) *instant -= by_ns;
  }
}

template <class Row>
void shift(Row& row, std::int64_t by_ns) {
  row.start_ns -= by_ns;
}

}  // namespace

Timeline TimelineBuilder::seal() && {
  RowChecker{timeline_}.check();
  sort_rows();
  move_origin();
  return std::move(timeline_);
}

void Timeline::set_counters(std::vector<CounterRecord> counters) {
  counters_ = std::move(counters);
  RowChecker{*this}.check_counters();
}

void TimelineBuilder::sort_rows() {
  if (const auto op_moved_to = sort_by_start(timeline_.ops_); !op_moved_to.empty()) {
    for (CallRecord& call : timeline_.calls_) renumber(call.awaited, op_moved_to);
  }
  if (const auto call_moved_to = sort_by_start(timeline_.calls_); !call_moved_to.empty()) {
    for (OpRecord& op : timeline_.ops_) renumber(op.call, call_moved_to);
  }
  sort_by_start(timeline_.frames_);
  sort_by_start(timeline_.marks_);
  sort_by_start(timeline_.draws_);
}

void TimelineBuilder::move_origin() {
  Extent extent{timeline_};
  if (sink_ != nullptr) extent.add(sink_->span());
  if (extent.is_empty()) return;
  const std::int64_t origin_ns = timeline_.provenance_.origin_ns + extent.first_ns();
  if (extent.length_ns() > kLongestNs || origin_ns > kLongestNs || origin_ns < -kLongestNs) {
    throw_input(SourceLocation{timeline_.provenance_.source_file},
                "rows begin over {} ns from instant {} ns of the source's clock, expected at most {} ns of each",
                extent.length_ns(), origin_ns, kLongestNs);
  }
  timeline_.provenance_.origin_ns = origin_ns;
  if (extent.first_ns() == 0) return;
  for (OpRecord& op : timeline_.ops_) shift(op, extent.first_ns());
  for (CallRecord& call : timeline_.calls_) shift(call, extent.first_ns());
  for (FrameRecord& frame : timeline_.frames_) shift(frame, extent.first_ns());
  for (MarkRecord& mark : timeline_.marks_) shift(mark, extent.first_ns());
  for (DrawRecord& draw : timeline_.draws_) shift(draw, extent.first_ns());
}

}  // namespace corun
