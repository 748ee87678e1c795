#include "experiments/bands/figure_band.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "experiments/bands/counted_use.h"
#include "traces/base/units.h"

namespace corun {

namespace {

constexpr std::string_view kUnknownDraws =
    ": its capture does not hold what the device draws without a break, and its frame rate hangs on it. From draws of "
    "500us to one a frame, in fps with the first seed: ";
constexpr std::string_view kWarning = "warning: ";
constexpr double kMostUnderWay = 2.5;

/// "43.0 to 60.0" behind the policy's name.
std::optional<FigureBand> range_in(std::string_view ranges, const std::string& policy) {
  const std::string begin = policy + " ";
  const std::size_t at = ranges.starts_with(begin) ? 0 : ranges.find(", " + begin);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view text = ranges.substr(at + begin.size() + (at == 0 ? 0 : 2));
  text = text.substr(0, text.find_first_of(",;"));
  const std::size_t to = text.find(" to ");
  if (to == std::string_view::npos) return std::nullopt;
  const auto low = parse_real(text.substr(0, to)), high = parse_real(text.substr(to + 4));
  return low && high ? std::optional(FigureBand{*low, *high}) : std::nullopt;
}

/// What a run's notes say of draws at a guess, on which all of its figures hang.
struct UnknownDraws {
  bool are_some = false;
  std::optional<FigureBand> fps{};  ///< so far the client's own frame rate reaches
};

UnknownDraws unknown_draws(const PredictedRuns& runs, const std::string& client) {
  UnknownDraws found;
  const std::string its = fmt::format("{}{}{}", kWarning, client, kUnknownDraws);
  for (const std::string& note : runs.notes) {
    if (note.starts_with(kWarning) && note.find(kUnknownDraws) != std::string::npos) found.are_some = true;
    if (note.starts_with(its)) found.fps = range_in(std::string_view(note).substr(its.size()), runs.policy);
  }
  return found;
}

/// A client with what the run tells of it.
class Predicted {
 public:
  Predicted(const Bands& bands, const PredictedRuns& runs, const std::string& client)
      : bands_(bands), runs_(runs), client_(client), draws_(unknown_draws(runs, client)) {}

  std::optional<FigureBand> rate() const {
    const auto rate = mean(mean("fps_mean") ? "fps_mean" : "throughput_per_s");
    const auto band = band_of("kept");
    if (!rate || *rate <= 0 || !band || (draws_.are_some && !draws_.fps)) return std::nullopt;
    const FigureBand ends = draws_.fps.value_or(FigureBand{*rate, *rate});
    const double low = std::min(ends.low, *rate), high = std::max(ends.high, *rate);
    const auto alone = mean("solo_throughput_per_s");
    const auto jobs = few_jobs();
    const double one_job = jobs ? 1 / *jobs : 0;
    const double highest = high * band->high * (1 + one_job);
    return FigureBand{low * band->low * std::max(0.0, 1 - one_job),
                      alone ? std::min(highest, std::max(*alone, high)) : highest};
  }

  std::optional<FigureBand> slowdown() const {
    const auto rates = rate();
    const auto alone = mean("solo_throughput_per_s");
    if (!rates || !alone || rates->low <= 0) return std::nullopt;
    return FigureBand{*alone / rates->high, *alone / rates->low};
  }

  /// Of a server's first tokens ("ttft"), or of its further ones ("tpot").
  std::optional<FigureBand> tokens(const char* figure, std::string_view metric) const {
    const auto value = mean(metric);
    const auto band = band_of(figure);
    return value && band ? std::optional(FigureBand{*value * band->low, *value * band->high}) : std::nullopt;
  }

  /// Of frames, or of steps of programs whose host is not far ahead.
  std::optional<FigureBand> tail(std::string_view metric) const {
    const auto value = mean(metric), rate = mean("throughput_per_s"), median = mean("job_time_p50_ms");
    const bool is_of_frames = metric == "frame_time_p99_ms";
    const bool is_like = is_of_frames || (rate && median && *rate * *median / 1e3 <= kMostUnderWay);
    const auto band = band_of("p99");
    if (!value || !is_like || !band || draws_.are_some || few_jobs()) return std::nullopt;
    return FigureBand{*value * band->low, *value * band->high};
  }

 private:
  std::optional<double> mean(std::string_view metric) const { return runs_.mean(client_, metric); }

  /// How many it ended, where they are too few for a rate.
  std::optional<double> few_jobs() const {
    const double window_s = runs_.classes.at(client_).measured_s,
                 jobs = mean("throughput_per_s").value_or(0) * window_s;
    return window_s > 0 && jobs < kFewestJobs ? std::optional(jobs) : std::nullopt;
  }

  std::optional<Band> band_of(const char* figure) const {
    const ErrorClass& its = runs_.classes.at(client_);
    const bool has_games = std::ranges::any_of(
        runs_.classes, [&](const auto& entry) { return runs_.mean(entry.first, "fps_mean").has_value(); });
    return bands_.of(figure, mechanism_among(its.mechanism, has_games), bound(its.mechanism), its.programs,
                     its.measured());
  }

  /// "any" where the run does not tell. Turns do not lengthen what the device does for a program; other mechanisms do.
  std::string_view bound(const std::string& mechanism) const {
    if (mean("fps_mean")) return "frames";
    if (mechanism.ends_with(kWithServers)) return mean("ttft_p99_ms") ? "requests" : "programs";
    if (mechanism != "turns")
      if (const std::string_view counted = counted_bound(runs_.notes, client_); !counted.empty()) return counted;
    const auto rate = mean("throughput_per_s"), alone = mean("solo_throughput_per_s"), busy = mean("gpu_busy_ratio");
    if (!rate || !alone || !busy || *rate <= 0) return "any";
    const bool is_busy = *busy * *alone / *rate >= kDeviceBound;
    if (!is_busy) return "host";
    return mechanism == "turns" ? "device" : "any";
  }

  const Bands& bands_;
  const PredictedRuns& runs_;
  const std::string& client_;
  UnknownDraws draws_;
};

}  // namespace

std::string unknown_draws_note(const std::string& client, const std::vector<std::string>& ranges) {
  return fmt::format("{}{}{}{}; state draw", kWarning, client, kUnknownDraws, fmt::join(ranges, ", "));
}

std::string mechanism_among(const std::string& mechanism, bool has_games) {
  if (!has_games) return mechanism;
  return mechanism == "turns" ? "games" : mechanism + " with games";
}

std::optional<FigureBand> figure_band(const Bands& bands, const PredictedRuns& runs, const std::string& client,
                                      std::string_view metric) {
  if (!runs.classes.contains(client) || !runs.mean(client, metric)) return std::nullopt;
  const Predicted predicted(bands, runs, client);
  if (metric == "throughput_per_s" || metric == "fps_mean") return predicted.rate();
  if (metric == "slowdown") return predicted.slowdown();
  if (metric == "frame_time_p99_ms" || metric == "job_interval_p99_ms") return predicted.tail(metric);
  if (metric == "ttft_p99_ms") return predicted.tokens("ttft", metric);
  if (metric == "tpot_p99_ms") return predicted.tokens("tpot", metric);
  return std::nullopt;
}

}  // namespace corun
