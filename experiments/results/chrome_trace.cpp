#include "experiments/results/chrome_trace.h"

#include <fmt/format.h>

#include <set>

#include "experiments/base/json.h"

namespace corun {

namespace {

class ChromeWriter {
 public:
  explicit ChromeWriter(const Tracks& tracks) : tracks_(tracks), has_flow_begun_(tracks.flow_count()) {}

  std::string write() {
    json_.object().field("displayTimeUnit", "ns").key("traceEvents").array();
    for (const Track& track : tracks_.all()) add_track(track);
    return json_.end().end().text() + "\n";
  }

 private:
  void add_track(const Track& track) {
    const std::uint64_t process = track.process.value_or(0);
    std::size_t rows = 0;
    for (const std::vector<Slice>& row : rows_of(track.slices, track.nesting)) {
      const std::uint64_t thread = next_thread_++;
      if (!row.empty() && named_.insert(process).second)
        add_name("process_name", process, thread, tracks_.process_name(process));
      add_name("thread_name", process, thread, rows++ == 0 ? track.name : fmt::format("{} ({})", track.name, rows));
      for (const Slice& slice : row) add_slice(slice, process, thread);
    }
  }

  void add_name(const char* kind, std::uint64_t process, std::uint64_t thread, const std::string& name) {
    json_.object().field("ph", "M").field("name", kind).field("pid", process).field("tid", thread);
    json_.key("args").object().field("name", name).end().end();
  }

  Json& begin(const char* phase, std::string_view name, std::int64_t at_ns, std::uint64_t process,
              std::uint64_t thread) {
    json_.object().field("ph", phase).field("name", name).key("ts").number(in_us(at_ns - tracks_.earliest_ns()));
    return json_.field("pid", process).field("tid", thread);
  }

  void add_slice(const Slice& slice, std::uint64_t process, std::uint64_t thread) {
    const Event& event = tracks_.event(slice);
    const bool is_instant = slice.begin_ns == slice.end_ns;
    begin(is_instant ? "i" : "X", tracks_.names().all()[event.name - 1], slice.begin_ns, process, thread);
    if (is_instant) json_.field("s", "t");
    if (!is_instant) json_.key("dur").number(in_us(slice.end_ns - slice.begin_ns));
    if (const auto& details = tracks_.details(event); !details.empty()) {
      json_.key("args").object();
      for (const Detail& detail : details) {
        json_.key(tracks_.detail_names().all()[detail.name - 1]);
        if (detail.is_text) {
          json_.value(tracks_.texts().all()[detail.value - 1]);
        } else {
          json_.value(detail.value);
        }
      }
      json_.end();
    }
    json_.end();
    for (const std::uint64_t flow : event.flows) add_flow(flow, slice, process, thread);
  }

  void add_flow(std::uint64_t flow, const Slice& slice, std::uint64_t process, std::uint64_t thread) {
    begin(has_flow_begun_[flow] ? "f" : "s", "leads to", slice.begin_ns, process, thread).field("cat", "flow");
    if (has_flow_begun_[flow]) json_.field("bp", "e");
    json_.field("id", flow).end();
    has_flow_begun_[flow] = true;
  }

  static std::string in_us(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

  const Tracks& tracks_;
  std::vector<bool> has_flow_begun_;
  std::set<std::uint64_t> named_;
  std::uint64_t next_thread_ = 1;
  Json json_{JsonLayout::kCompact};
};

}  // namespace

std::string encode_chrome(const Tracks& tracks) { return ChromeWriter(tracks).write(); }

}  // namespace corun
