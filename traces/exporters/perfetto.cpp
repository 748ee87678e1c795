#include "traces/exporters/perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "traces/exporters/tracks.h"
#include "traces/schema/perfetto.pb.h"

namespace corun {
namespace {

using schema::perfetto::InternedData;
using schema::perfetto::Trace;
using schema::perfetto::TracePacket;
using schema::perfetto::TrackDescriptor;
using schema::perfetto::TrackEvent;

constexpr std::uint32_t kSequence = 1;
constexpr std::uint32_t kStateBegins = 1, kNeedsState = 2;
constexpr std::uint32_t kMonotonic = 3, kBoottime = 6;  // clocks of Perfetto

constexpr std::pair<Category, const char*> kCategories[] = {
    {Category::kKernel, "kernel"}, {Category::kMemory, "memory"}, {Category::kRender, "render"},
    {Category::kCall, "call"},     {Category::kFrame, "frame"},   {Category::kMark, "mark"},
    {Category::kNote, "note"},     {Category::kWait, "wait"},     {Category::kDecision, "decision"}};

// Begin or end of a slice, or an instant, which is what takes no time.
struct Edge {
  std::int64_t at_ns = 0;
  std::uint64_t track = 0;
  TrackEvent::Type type = TrackEvent::TYPE_INSTANT;
  Slice slice;
};

// Perfetto's ids of processes and threads; it takes 0 for the idle ones.
bool is_id(std::uint64_t id) { return id > 0 && id <= INT32_MAX; }

template <class Entries>
void intern(const Texts& texts, Entries& entries) {
  for (std::size_t i = 0; i < texts.all().size(); ++i) {
    auto& entry = *entries.Add();
    entry.set_iid(i + 1);
    entry.set_name(texts.all()[i]);
  }
}

// Begins and ends of a row, in the order in which they must be read.
void add_edges(const std::vector<Slice>& row, std::uint64_t track, std::vector<Edge>& edges) {
  std::vector<const Slice*> open;
  const auto end_until = [&](std::int64_t instant_ns) {
    for (; !open.empty() && open.back()->end_ns <= instant_ns; open.pop_back())
      edges.push_back({open.back()->end_ns, track, TrackEvent::TYPE_SLICE_END, *open.back()});
  };
  for (const Slice& slice : row) {
    end_until(slice.begin_ns);
    const bool is_instant = slice.begin_ns == slice.end_ns;
    edges.push_back(
        {slice.begin_ns, track, is_instant ? TrackEvent::TYPE_INSTANT : TrackEvent::TYPE_SLICE_BEGIN, slice});
    if (!is_instant) open.push_back(&slice);
  }
  end_until(INT64_MAX);
}

class PerfettoWriter {
 public:
  // The first frame began before its present, perhaps before the origin: no instant may fall below 0.
  explicit PerfettoWriter(const Tracks& tracks)
      : tracks_(tracks),
        has_flow_begun_(tracks_.flow_count()),
        origin_ns_(std::max(tracks.origin_ns(), -tracks.earliest_ns())) {}

  std::string write() {
    add_clocks();
    add_names();
    add_processes();
    for (const Track& track : tracks_.all()) add_track(track);
    std::stable_sort(edges_.begin(), edges_.end(), [](const Edge& a, const Edge& b) { return a.at_ns < b.at_ns; });
    for (const Edge& edge : edges_) add_edge(edge);
    return std::move(file_);
  }

 private:
  TracePacket& new_packet() {
    trace_.Clear();
    TracePacket& packet = *trace_.add_packet();
    packet.set_trusted_packet_sequence_id(kSequence);
    return packet;
  }

  void append() { trace_.AppendToString(&file_); }

  // Both clocks read the same: nothing in the file is on another one.
  void add_clocks() {
    auto& snapshot = *new_packet().mutable_clock_snapshot();
    for (std::uint32_t id : {kBoottime, kMonotonic}) {
      auto& clock = *snapshot.add_clocks();
      clock.set_clock_id(id);
      clock.set_timestamp(static_cast<std::uint64_t>(origin_ns_));
    }
    append();
  }

  void add_names() {
    TracePacket& packet = new_packet();
    packet.set_sequence_flags(kStateBegins);
    InternedData& interned = *packet.mutable_interned_data();
    for (const auto& [category, name] : kCategories) {
      auto& entry = *interned.add_event_categories();
      entry.set_iid(static_cast<std::uint64_t>(category));
      entry.set_name(name);
    }
    intern(tracks_.names(), *interned.mutable_event_names());
    intern(tracks_.detail_names(), *interned.mutable_debug_annotation_names());
    intern(tracks_.texts(), *interned.mutable_debug_annotation_string_values());
    append();
  }

  void add_processes() {
    for (const Track& track : tracks_.all()) {
      if (!track.process || track.slices.empty() || process_tracks_.contains(*track.process)) continue;
      const std::uint64_t process = *track.process;
      process_tracks_[process] = next_track_;
      auto& descriptor = *new_packet().mutable_track_descriptor();
      descriptor.set_uuid(next_track_++);
      const std::string name = tracks_.process_name(process);
      if (is_id(process)) {
        descriptor.mutable_process()->set_pid(static_cast<std::int32_t>(process));
        descriptor.mutable_process()->set_process_name(name);
      } else {
        descriptor.set_name(name);
      }
      append();
    }
  }

  void add_track(const Track& track) {
    const std::uint64_t first = next_track_;
    for (const std::vector<Slice>& row : rows_of(track.slices, track.nesting)) {
      auto& descriptor = *new_packet().mutable_track_descriptor();
      descriptor.set_uuid(next_track_);
      if (track.process) descriptor.set_parent_uuid(process_tracks_.at(*track.process));
      name_row(track, first, descriptor);
      append();
      add_edges(row, next_track_++, edges_);
    }
  }

  // Tracks of one name below one parent are shown as one, with a row for each. A thread has one track of its own: its
  // spare rows are below that.
  void name_row(const Track& track, std::uint64_t first, TrackDescriptor& descriptor) const {
    const bool is_thread = track.thread && is_id(*track.thread) && is_id(*track.process);
    if (!is_thread || descriptor.uuid() != first) {
      descriptor.set_name(track.name);
      if (is_thread) descriptor.set_parent_uuid(first);
      return;
    }
    descriptor.mutable_thread()->set_pid(static_cast<std::int32_t>(*track.process));
    descriptor.mutable_thread()->set_tid(static_cast<std::int32_t>(*track.thread));
    if (*track.thread == *track.process) descriptor.mutable_thread()->set_thread_name("main");
  }

  void add_edge(const Edge& edge) {
    TracePacket& packet = new_packet();
    packet.set_sequence_flags(kNeedsState);
    packet.set_timestamp(static_cast<std::uint64_t>(origin_ns_ + edge.at_ns));
    packet.set_timestamp_clock_id(kMonotonic);
    TrackEvent& event = *packet.mutable_track_event();
    event.set_track_uuid(edge.track);
    event.set_type(edge.type);
    if (edge.type != TrackEvent::TYPE_SLICE_END) describe(tracks_.event(edge.slice), event);
    append();
  }

  // What comes first begins a flow, even where that is the effect: drivers may start work before the call that is
  // recorded as its submission.
  void describe(const Event& event, TrackEvent& out) {
    out.set_name_iid(event.name);
    out.add_category_iids(static_cast<std::uint64_t>(event.category));
    for (std::uint64_t flow : event.flows) {
      if (has_flow_begun_[flow]) {
        out.add_terminating_flow_ids(flow + 1);
      } else {
        out.add_flow_ids(flow + 1);
      }
      has_flow_begun_[flow] = true;
    }
    for (const Detail& detail : tracks_.details(event)) {
      auto& annotation = *out.add_debug_annotations();
      annotation.set_name_iid(detail.name);
      if (detail.is_text) {
        annotation.set_string_value_iid(detail.value);
      } else {
        annotation.set_uint_value(detail.value);
      }
    }
  }

  const Tracks& tracks_;
  std::vector<bool> has_flow_begun_;
  std::int64_t origin_ns_;  // instant of the file's clock that is 0 in the timeline
  std::map<std::uint64_t, std::uint64_t> process_tracks_;
  std::uint64_t next_track_ = 1;
  std::vector<Edge> edges_;
  Trace trace_;  // one packet at a time
  std::string file_;
};

}  // namespace

std::string encode_perfetto(const Tracks& tracks) { return PerfettoWriter{tracks}.write(); }

std::string encode_perfetto(const Timeline& timeline) { return encode_perfetto(TimelineTracks(timeline)); }

}  // namespace corun
