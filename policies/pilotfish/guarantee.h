#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "policies/pilotfish/work.h"
#include "sim/policy/action.h"
#include "sim/policy/view.h"

namespace corun {

/// What PilotFish does about fillers that still work when they should have ended: nothing, kill them at once (hard), or
/// once too many frames have been dropped (soft). A killed filler goes on from a snapshot of its memory, which is taken
/// every so many frames, when nothing of it is in flight.
class FrameGuarantee {
 public:
  enum class Kind : std::uint8_t { kNone, kSoft, kHard };
  /// What is held against a filler.
  enum class Preempt : std::uint8_t {
    kStragglers,  ///< how much longer than predicted its kernel had been running when the frame began
    kLeftover,    ///< predicted work that is still in flight
    kEither       ///< the larger of the two
  };
  enum class DecideAt : std::uint8_t { kFrameBegin, kFrameEnd };
  struct Settings {
    Kind kind = Kind::kNone;
    Preempt preempt = Preempt::kStragglers;
    DecideAt decide_at = DecideAt::kFrameBegin;
    Duration tolerance{};               ///< so much is no reason for a kill
    std::int64_t drop_limit = 1;        ///< dropped frames that a soft guarantee bears ...
    std::int64_t drop_window = 60;      ///< ... among so many
    Duration kill_latency{};            ///< from the decision to the kill
    std::int64_t snapshot_every = 240;  ///< frames; 0 = never
  };

  explicit FrameGuarantee(const Settings& settings) : settings_(settings) {}
  bool kills() const { return settings_.kind != Kind::kNone; }

  void joined(const GpuView& view, ClientId client);
  /// `period` is what the game's frames should be apart; a frame counts as dropped when they are half of that more.
  void frame_began(const GpuView& view, ClientId game, Duration period, const UnfinishedWork& work);
  void frame_ended(const GpuView& view, ClientId game, const UnfinishedWork& work);
  /// Kernels of the filler completed: with nothing left in flight, there is no reason for a kill.
  void completed(const ClientView& filler);
  void copied(ClientId filler);
  /// The last game has left: no kill is wanted any more.
  void games_left();

  /// Takes the snapshots and kills that are due. The fillers' gates are closed.
  void act(const GpuView& view, Actions& actions) const;
  /// Why nothing of the filler may be launched now: "restoring", "snapshot"; "" if it may.
  std::string_view holds(const GpuView& view, const ClientView& filler) const;

 private:
  struct Client {
    Time last_begin = kNever;  // of a game's frame
    Time kill_at = kNever;     // of a filler
    std::int64_t frames = 0;   // since a filler's last snapshot
  };

  void judge(const GpuView& view, Time frame_begin, const UnfinishedWork& work);
  bool is_guilty(ClientId filler, Time frame_begin, const UnfinishedWork& work) const;
  bool is_kill_due(const GpuView& view, const ClientView& filler) const;
  bool is_snapshot_due(const GpuView& view, const ClientView& filler) const;
  bool bears_drops() const;
  void count_drop(Time now, Client& game, Duration period);

  const Settings settings_;
  std::vector<Client> clients_;
  std::int64_t frames_ = 0;           // that began, of all games
  std::deque<std::int64_t> dropped_;  // their numbers, within the window
};

}  // namespace corun
