#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "sim/policy/view.h"

namespace corun {

/// Picks concurrent or exclusive use of the device for clients whose memory fits together, by measured progress.
///
/// Progress is counted in finished operations, relative to what the client finishes in the same time with the device
/// to itself. Each client first gets one window alone, which measures that and how long it leaves the device idle; then
/// they take turns. Concurrent use is tried only if the idle time that they leave is more than what switching between
/// contexts takes. Once both modes have been measured the faster one is kept and measured on, and the other is tried
/// again, after intervals that double while it loses.
///
/// In turns, a client keeps the device until its turn is over, or until it has left the device idle for as long as a
/// change to another and back costs; then its work in flight drains.
class CoRunChooser {
 public:
  enum class Choice : std::uint8_t { kMeasured, kInTurns, kTogether };
  struct Settings {
    Choice choice = Choice::kMeasured;
    Duration turn{};        ///< > 0
    Duration idle_price{};  ///< idle time after which a turn ends
    Duration window{};      ///< of one measurement, > 0
    Duration retry{};       ///< until the slower mode is tried again, at first
    double margin = 0.02;   ///< by how much the other mode must be faster
  };
  explicit CoRunChooser(const Settings& settings) : settings_(settings) {}

  void completed(const GpuView& view, ClientId client);

  /// Settles which of `members` may run at this instant. While one of them is `loading` its memory, it alone may, and
  /// nothing is measured. Again at the same instant it changes nothing.
  void settle(const GpuView& view, std::span<const ClientId> members, std::optional<ClientId> loading);
  bool may_run(ClientId client) const;

  /// What is left of the turn, or of the measurement alone, that others wait for.
  Duration turn_left(Time now) const;
  /// When settle() must look again if nothing is heard, later than now; kNever if never.
  Time next_look(const GpuView& view) const;

 private:
  enum class Mode : std::uint8_t { kAlone, kInTurns, kTogether };
  /// Of one set of clients.
  struct Measured {
    std::optional<double> in_turns, together;  // sum of the speeds relative to the device alone
    Mode preferred = Mode::kInTurns;
    Time retry_at = kNever;  // kNever: both modes have not been tried yet
    Duration retry_after{};
  };
  struct Count {
    std::uint64_t finished = 0;  // operations, since the run began
    std::uint64_t at_begin = 0;  // of the window
    std::uint64_t paged_at_begin = 0;
    Duration device_time_at_begin{};
    double alone_per_s = -1;  // operations; < 0 = not known
    double alone_busy = 0;    // share of the time that it uses the device when alone
  };

  void begin(Mode mode, const GpuView& view);
  void begin_window_if_settled(const GpuView& view);
  void evaluate(const GpuView& view);
  void choose(const GpuView& view);
  Mode judge(const GpuView& view, Measured& measured) const;
  double expected_together(const GpuView& view) const;
  double measured_progress(Duration elapsed) const;
  bool has_paged(const GpuView& view) const;
  void take_turns(const GpuView& view);
  void find_first_holder(const GpuView& view);
  void pass_on(const GpuView& view);
  bool others_want(const GpuView& view) const;

  const Settings settings_;
  std::vector<ClientId> members_;
  std::optional<ClientId> loading_;
  std::vector<Count> counts_;  // by client
  std::map<std::vector<ClientId>, Measured> measured_;
  Mode mode_ = Mode::kTogether;
  Time window_began_ = kNever;   // kNever: others still drain
  std::vector<ClientId> order_;  // of turns: the client that had the last one stands at the end
  std::optional<ClientId> holder_;
  bool is_passing_ = false;
  Time turn_began_;
  Time idle_since_ = kNever;
};

}  // namespace corun
