#pragma once

#include <vector>

#include "sim/policy/view.h"

namespace corun {

/// "Nothing may run": the room of a window that is closed.
inline constexpr Duration kNoRoom{INT64_MIN / 4};

/// The window between two frames, as PilotFish's two halves know it: the games' side publishes how long it is when a
/// frame ends; the fillers' side reads that at its next poll and spends it.
class FrameWindow {
 public:
  FrameWindow(bool is_absolute, Duration notify_poll) : is_absolute_(is_absolute), notify_poll_(notify_poll) {}

  /// The games' side: the newest frame has ended and the next one is due at `next_begin`.
  void publish(Time now, Time next_begin);
  /// The fillers' side reads what has been published, if its poll is due; `charge` is taken off.
  void notice(Time now, Duration charge);
  /// A length to spend before anything has been published; an absolute window has no use for it.
  void begin_with(Duration slice);
  void close();
  void spend(Duration cost);

  /// When something published is to be read; kNever if nothing is.
  Time noticed_at() const { return noticed_; }
  bool is_open() const { return is_open_; }
  /// Whether nothing has been spent of it yet.
  bool is_fresh() const { return is_fresh_; }
  /// What is left at `now`, with `unfinished` predicted to be in flight; kNoRoom while it is closed.
  Duration room(Time now, Duration unfinished) const;

 private:
  const bool is_absolute_;
  const Duration notify_poll_;

  // Published.
  Duration budget_{};
  Time next_begin_;
  Time noticed_ = kNever;

  // As the fillers' side knows it.
  bool is_open_ = false;
  bool is_fresh_ = false;
  Duration left_{};
  Time deadline_;
};

/// Gaps inside a frame: a gap begins when a render operation of a game completes, its frame has not ended, and none of
/// its render operations is in flight; it ends when the game submits the next. How long the n-th gap of a frame will be
/// is taken from the n-th gap of the game's frame before; gaps that were short are left alone.
class FrameGaps {
 public:
  FrameGaps(Duration shortest, Duration notify_poll) : shortest_(shortest), notify_poll_(notify_poll) {}

  void submitted(const GpuView& view, ClientId game);  ///< a render operation
  void launched(const GpuView& view, ClientId game);   ///< a render operation
  void completed(const GpuView& view, ClientId game);  ///< a render operation
  void frame_ended(ClientId game);
  void left(ClientId game);

  /// What is left of the gap in which every game that renders is; kNoRoom if one is in none, or no game renders.
  Duration room(const GpuView& view, Duration unfinished) const;
  /// When a gap that has begun is to be noticed; kNever if there is nothing to notice.
  Time noticed_at(Time now) const;

 private:
  struct Game {
    std::uint32_t in_flight = 0;    // render operations
    Time begin = kNever;            // of the gap that goes on
    Time noticed = kNever;          // by the fillers' side
    Time end = kNever;              // expected
    std::vector<Duration> before;   // of the frame before, in order
    std::vector<Duration> lengths;  // of this frame so far
  };
  Game& game(const GpuView& view, ClientId id);
  static void end_gap(Game& game);

  const Duration shortest_;
  const Duration notify_poll_;
  std::vector<Game> games_;  // by client
};

}  // namespace corun
