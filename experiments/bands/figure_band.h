#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/bands/bands.h"
#include "experiments/bands/error_class.h"

namespace corun {

/// Where a measured figure lies that was predicted so, with 90 %; in the figure's own unit. Not an interval over seeds,
/// which says how well the mean of predictions is known.
struct FigureBand {
  double low = 0, high = 0;
};

/// Runs of one scenario under one policy, over their seeds.
struct PredictedRuns {
  std::map<std::string, ErrorClass> classes;  ///< by client: error_classes(); empty = too few were measured
  std::string policy;                         ///< its label
  std::vector<std::string> notes;             ///< what they assumed
  /// Mean of a metric of a client; nullopt where it has none.
  std::function<std::optional<double>(const std::string& client, std::string_view metric)> mean;
};

/// The band of a client's predicted figure: of rates (`throughput_per_s`, `fps_mean`, never above the rate alone), of
/// `slowdown`, and of the tails `frame_time_p99_ms`, of servers `ttft_p99_ms` and `tpot_p99_ms`, and of programs that
/// have about two jobs or fewer under way `job_interval_p99_ms`. Where the draws of a game are unknown, only its own
/// frame rate has one, around the ends that its note says. nullopt: no such figure was measured often enough. Of few
/// jobs (kFewestJobs) a rate may be that of one job fewer or more, and a tail has no band.
std::optional<FigureBand> figure_band(const Bands& bands, const PredictedRuns& runs, const std::string& client,
                                      std::string_view metric);

/// The note of a run on a client whose frame rate hangs on unknown draws: by policy, its ends in fps.
std::string unknown_draws_note(const std::string& client, const std::vector<std::string>& ranges);

/// "turns" with games is "games"; nothing compared another mechanism with them ("mps with games").
std::string mechanism_among(const std::string& mechanism, bool has_games);

}  // namespace corun
