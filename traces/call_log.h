#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "traces/timeline.h"

namespace corun {

class AwaitedWork;

/// Correlation id of a call or an operation that has none.
inline constexpr std::uint64_t kNoCorrelation = UINT64_MAX;

/// A function call of the host as a profiler recorded it.
struct LoggedCall {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  ThreadRecord thread;
  std::uint64_t id_space =
      0;  ///< what the correlation id is unique in: the process, or 0 where the source has only one
  std::uint64_t correlation = kNoCorrelation;
  std::optional<CallKind> kind;  ///< empty: not known to submit or wait; kept only if an operation came from it
  bool is_driver = false;        ///< a driver function, which may be the inside of a runtime function

  std::int64_t end_ns() const { return start_ns + duration_ns; }
};

/// What a profiler says about one wait, in addition to the call itself.
struct LoggedWait {
  std::uint64_t id_space = 0;
  std::uint64_t correlation = 0;                    ///< of the call that waits
  std::optional<std::uint32_t> queue;               ///< the stream waited for (stream wait: the stream that waits)
  std::optional<std::uint32_t> record_queue;        ///< stream of the awaited event record
  std::optional<std::uint64_t> record_correlation;  ///< call that recorded the awaited event
};

/// Joins the host's calls with the operations they submitted and with what they waited for.
///
/// Profilers write calls, operations and waits as separate records tied by a correlation id.
/// Readers add all of them in any order; join() then adds the calls that matter to the timeline. A log whose waits can
/// only be for work of one process holds that process alone.
///
/// - an operation belongs to the call of its id; of several with that id (the counter wraps, ranks get merged), to the
///   last that began before the operation;
/// - a driver function inside a runtime function on the same thread is the same call, recorded once with the outer
///   interval; so are two calls of one id, one inside the other;
/// - a call that submits nothing and waits for nothing is left out: the host time it took stays as a gap;
/// - an awaited event is the last operation that was launched into the recording stream before the record. Where that
///   lies before the capture there is nothing to wait for and the call is left out;
/// - where the capture does not name what a host wait waited for, it is taken to be the work that ended last before the
///   wait returned: no later work can have been awaited;
/// - a stream's wait for an event that the capture does not name is left out and noted, because guessing "everything"
///   would serialise streams that ran side by side.
class CallLog {
 public:
  void add(const LoggedCall& call) { calls_.push_back(call); }
  void add(const LoggedWait& wait) { waits_.push_back(wait); }
  /// Says which call submitted operation `op` of the builder. `blocks`: its copy makes the call wait for the end.
  void add_submission(std::uint32_t op, std::uint64_t id_space, std::uint64_t correlation, bool blocks = false);

  const std::vector<LoggedCall>& calls() const { return calls_; }
  /// Whether a call is of a kind that Corun knows: profilers that log none leave the host's side out.
  bool has_known_calls() const;

  /// Adds calls to the builder and references to them to its operations. Once; after it the log is spent.
  void join(TimelineBuilder& builder);

 private:
  struct Submission {
    std::uint32_t op = 0;
    std::uint64_t id_space = 0;
    std::uint64_t correlation = 0;
    bool blocks = false;
  };

  // What a call waits for, and whether the timeline keeps the call.
  struct Target {
    std::uint32_t queue = OpRecord::kNoIndex;
    std::uint32_t awaited = OpRecord::kNoIndex;
    bool is_left_out = false;
    bool is_unnamed = false;  // left out because the capture does not name the event
  };

  struct IdHash {
    std::size_t operator()(const std::pair<std::uint64_t, std::uint64_t>& id) const {
      return (id.first * 0x9E3779B97F4A7C15ULL) ^ (id.second * 0xC2B2AE3D27D4EB4FULL);
    }
  };
  // Calls of one (id space, correlation id), in order of start.
  using CallsOfId = std::unordered_map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::uint32_t>, IdHash>;

  void sort_calls();
  void find_outer_calls();
  void index_ids();
  void assign_submissions(TimelineBuilder& builder);
  void name_kinds();
  void resolve_waits(TimelineBuilder& builder);
  void apply(const LoggedWait& wait, const AwaitedWork& work);
  void infer_target(std::uint32_t call, const AwaitedWork& work);
  void note_unnamed_events(TimelineBuilder& builder) const;
  void add_calls(TimelineBuilder& builder);
  std::uint32_t call_of(std::uint64_t id_space, std::uint64_t correlation, std::int64_t not_after_ns) const;

  std::vector<LoggedCall> calls_;
  std::vector<LoggedWait> waits_;
  std::vector<Submission> submissions_;
  std::vector<std::uint32_t> outer_;  // of each call: the call it is part of, itself if none
  std::vector<Target> targets_;       // of each call
  CallsOfId calls_of_id_;
};

}  // namespace corun
