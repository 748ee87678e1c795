#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "traces/exporters/track_rows.h"
#include "traces/timeline.h"

namespace corun {

/// Numbers for texts, from 1 in order of their first use.
class Texts {
 public:
  std::uint64_t number(std::string_view text);
  const std::vector<std::string>& all() const { return texts_; }  ///< number 1 first

 private:
  std::vector<std::string> texts_;
  std::map<std::string, std::uint64_t, std::less<>> number_of_;
};

enum class Category : std::uint8_t { kKernel = 1, kMemory, kRender, kCall, kFrame, kMark, kNote, kWait, kDecision };

/// A value that the user interface shows of an event; `value` is a number in Tracks::texts() if `is_text`.
struct Detail {
  std::uint64_t name = 0;  ///< number in Tracks::detail_names()
  bool is_text = false;
  std::uint64_t value = 0;
};

/// What a slice is. Two events with the same flow are joined by an arrow, from the earlier to the later one.
struct Event {
  std::uint64_t name = 0;  ///< number in Tracks::names()
  Category category = Category::kKernel;
  std::uint32_t details = 0;  ///< index into Tracks::details()
  std::vector<std::uint64_t> flows = {};
};

/// One track of the user interface, before its slices are spread over rows.
struct Track {
  std::optional<std::uint64_t> process;  ///< none: of the capture
  std::string name;
  Nesting nesting = Nesting::kNone;
  std::optional<std::uint64_t> thread = {};  ///< of the host, whose track it is
  std::vector<Slice> slices = {};
};

/// What is shown on which track, under which names and with which arrows, in no format yet. A caller that knows what
/// there is to show derives from it and adds.
class Tracks {
 public:
  const std::vector<Track>& all() const { return tracks_; }
  const Event& event(const Slice& slice) const { return events_[slice.event]; }
  const std::vector<Detail>& details(const Event& event) const { return details_[event.details]; }
  std::int64_t earliest_ns() const { return earliest_ns_; }  ///< at most 0
  std::int64_t origin_ns() const { return origin_ns_; }      ///< instant of CLOCK_MONOTONIC that is 0 here; 0 = none
  std::uint64_t flow_count() const { return flow_count_; }   ///< flows are below
  std::string process_name(std::uint64_t process) const;

  const Texts& names() const { return names_; }
  const Texts& detail_names() const { return detail_names_; }
  const Texts& texts() const { return texts_; }

 protected:
  Tracks() = default;
  ~Tracks() = default;
  void add_slice(Track& track, std::int64_t begin_ns, std::int64_t end_ns, Event event);
  /// The index of details, for Event::details.
  std::uint32_t add_details(std::vector<Detail> details);
  Detail text(std::string_view name, std::string_view value);
  Detail number(std::string_view name, std::uint64_t value);

  std::vector<Track> tracks_;
  Texts names_;
  std::map<std::uint64_t, std::string> process_names_;
  std::int64_t origin_ns_ = 0;
  std::uint64_t flow_count_ = 0;

 private:
  std::vector<Event> events_;
  std::vector<std::vector<Detail>> details_{{}};  // the first: none
  Texts detail_names_, texts_;
  std::int64_t earliest_ns_ = 0;
};

/// The tracks of a capture. Frames are numbered from 1 in each program, in order of present; visits and GPU spans carry
/// their frame's number. Kernels go by their short names. Lives no longer than the timeline.
class TimelineTracks : public Tracks {
 public:
  explicit TimelineTracks(const Timeline& timeline);

 private:
  using DetailKey = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t>;

  void name_processes();
  void number_frames();
  void find_first_ops();
  void add_queues();
  void add_op(Track& track, std::uint32_t op, std::uint32_t frame);
  void add_threads();
  void add_frames();
  void add_gpu_spans();
  void add_draws();
  void add_notes();

  std::uint64_t flow_of_call(std::uint32_t call) const { return call; }
  std::uint64_t flow_of_visit(std::uint32_t op) const { return timeline_.calls().size() + op; }
  Event event_of_frame(std::size_t frame);
  std::uint64_t name_of(const OpRecord& op, std::uint32_t frame);
  std::uint32_t details_of(const OpRecord& op);
  void add_shape(const LaunchShape& shape, std::vector<Detail>& details);
  std::optional<std::uint64_t> process_in(std::string_view note) const;

  const Timeline& timeline_;
  std::map<DetailKey, std::uint32_t> details_of_;
  std::vector<std::uint32_t> first_op_;             // of each call
  std::vector<std::uint64_t> frame_numbers_;        // of each frame
  std::vector<std::vector<std::uint32_t>> visits_;  // of each frame
  std::vector<std::uint64_t> short_names_;          // of each string: number in names_, 0 until used
};

}  // namespace corun
