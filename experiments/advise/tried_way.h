#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "experiments/advise/figures/server_share.h"
#include "experiments/advise/figures/simulated_means.h"
#include "experiments/advise/figures/spread.h"
#include "experiments/advise/question.h"
#include "experiments/advise/way_loads.h"
#include "experiments/advise/ways.h"
#include "experiments/bands/bands.h"
#include "experiments/bands/basis.h"

namespace corun {

/// What a program gets in one way of sharing. Bands are those of figure_band() around each bound of what is not known,
/// as `simcli run` shows them; nullopt: too few co-runs like it were measured.
struct ProgramShare {
  Spread kept;                      ///< rate over its rate alone
  std::optional<Spread> kept_band;  ///< at most 1
  std::optional<Spread> p99_ms;     ///< 99th percentile of its frame times or else of its job times
  std::optional<Spread> p99_band;
  std::optional<Spread> fps;  ///< of a program with frames
  std::optional<ServerShare> server{};
};

/// One way of sharing, tried.
struct TriedWay {
  SharingWay way;
  Basis basis{};             ///< how it is known what it does on this GPU
  bool is_compared = false;  ///< co-runs like this were measured: there are bands
  std::string impossible{};  ///< why it cannot be tried; "" = it was
  std::vector<ProgramShare> programs{};
  std::vector<std::string> broken{};  ///< promises that it does not surely keep, a phrase each
  bool may_keep = false;              ///< it keeps all promises at the better ends of what is not known
  bool is_close = false;              ///< what it does not surely keep is near to what is promised, without bands
  std::optional<WayLoads> loads{};
  Spread goal{};         ///< the least kept rate, or the sum of all
  double work() const;   ///< sum of kept rates; one program at a time makes 1
  double score() const;  ///< the goal at the worse end of what is not known, MPS first among what is alike
  /// Greater is better, see advise().
  std::tuple<bool, bool, bool, double> rank() const;
};

/// Goals that differ by less do not decide.
inline constexpr double kAlike = 0.05;

/// What became of the programs.
TriedWay tried_way(const AdviceQuestion& question, const SharingWay& way, const SimulatedBounds& simulated,
                   const Bands& bands);

/// The best of those that were tried; nullopt: none was. `but` leaves a mode out.
std::optional<std::size_t> best_of(const std::vector<TriedWay>& ways, const std::string& but = {});

}  // namespace corun
