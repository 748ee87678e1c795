#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "sim/policy/view.h"

namespace corun {

/// Whether clients whose memory fits together use the device at once or in turns: what gives them more progress.
///
/// Progress is counted in finished operations, relative to what the client finishes in the same time with the device
/// to itself. Each client is given one window alone to learn that, and how long it leaves the device idle; then they
/// take turns. Using the device at once is tried only if what they leave idle is more than what switching between
/// contexts takes. Where both ways have been tried the better one is kept and measured on, and the other is tried again
/// now and then, ever more rarely while it loses.
///
/// In turns, a client keeps the device until its turn is over, or until it has left the device idle for as long as a
/// change to another and back costs; then what it has in flight drains.
class CoRunChooser {
 public:
  enum class Way : std::uint8_t { kAlone, kInTurns, kTogether };
  enum class Choice : std::uint8_t { kMeasured, kInTurns, kTogether };
  struct Settings {
    Choice choice = Choice::kMeasured;
    Duration turn{};         ///< > 0
    Duration idle_price{};   ///< idle time after which a turn ends
    Duration window{};       ///< of one measurement, > 0
    Duration retry{};        ///< until the way not taken is tried again, at first
    double margin = 0.02;    ///< by how much the other way must be better
  };
  explicit CoRunChooser(const Settings& settings) : settings_(settings) {}

  void completed(const GpuView& view, ClientId client);

  /// Settles who may run at this instant, of these. While one of them is `loading` its memory, it alone may, and
  /// nothing is measured. Again at the same instant it changes nothing.
  void settle(const GpuView& view, std::span<const ClientId> members, std::optional<ClientId> loading);
  bool may_run(ClientId client) const;

  Way way() const { return way_; }
  /// Sum over the members of their speed relative to the device alone, as last measured; nullopt if it was not.
  std::optional<double> progress(Way way) const;
  /// What is left of the turn, or of the measurement alone, that others wait for.
  Duration turn_left(Time now) const;
  /// When settle() must look again if nothing is heard, later than now; kNever if never.
  Time next_look(const GpuView& view) const;

 private:
  struct Experience {
    std::optional<double> in_turns, together;  // progress
    Way preferred = Way::kInTurns;
    Time retry_at = kNever;  // kNever: both ways have not been tried yet
    Duration retry_after{};
  };
  struct Count {
    std::uint64_t finished = 0;  // operations, since the run began
    std::uint64_t at_begin = 0;  // of the window
    std::uint64_t paged_at_begin = 0;
    Duration device_time_at_begin{};
    double alone_per_s = -1;     // operations; < 0 = not known
    double alone_busy = 0;       // share of the time that it uses the device when alone
  };

  void begin(Way way, const GpuView& view);
  void begin_window_if_settled(const GpuView& view);
  void evaluate(const GpuView& view);
  void choose(const GpuView& view);
  Way judge(const GpuView& view, Experience& seen) const;
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
  std::map<std::vector<ClientId>, Experience> seen_;
  Way way_ = Way::kTogether;
  Time window_began_ = kNever;  // kNever: others still drain
  std::vector<ClientId> order_;  // of turns: who had the last one stands at the end
  std::optional<ClientId> holder_;
  bool is_passing_ = false;
  Time turn_began_;
  Time idle_since_ = kNever;
};

}  // namespace corun
