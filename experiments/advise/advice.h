#pragma once

#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "experiments/advise/question.h"
#include "experiments/advise/simulated_means.h"
#include "experiments/advise/spread.h"
#include "experiments/advise/ways.h"
#include "experiments/bands/bands.h"
#include "sim/policy/descriptor.h"

namespace corun {

/// What a program gets in one way of sharing.
struct ProgramShare {
  Spread kept;                      ///< rate over its rate alone
  std::optional<Spread> kept_band;  ///< with the band of the model's errors, at most 1; nullopt: none is known
  std::optional<Spread> p99_ms;     ///< 99th percentile of its frame times or else of its job times
  std::optional<Spread> p99_band;   ///< the same with its band
  std::optional<Spread> fps;        ///< of a program with frames
  bool has_like_tail = false;       ///< of frames, or of a program that waits for each job: as measured tails are of
};

/// One way of sharing, tried.
struct TriedWay {
  SharingWay way;
  bool is_compared = false;  ///< its mechanism was compared with hardware: there are bands
  std::string impossible{};  ///< why it cannot be tried; "" = it was
  std::vector<ProgramShare> programs{};
  std::vector<std::string> broken{};  ///< promises that it does not surely keep, a phrase each
  bool may_keep = false;              ///< it keeps all promises at the better ends of what is not known
  Spread goal{};                      ///< the least kept rate, or the sum of all
  double work() const;                ///< sum of kept rates; one program at a time makes 1
  /// Greater is better, see advise().
  std::tuple<bool, bool, bool, double> rank() const;
};

enum class Verdict : std::uint8_t {
  kShare,       ///< `best` is the way
  kApart,       ///< no way does more work than one program after the other
  kNoWay,       ///< no way keeps all promises
  kCannotTell,  ///< which way is best hangs on what is not stated: `unknown_rates`, `unknown_draws`
};

struct Advice {
  std::vector<TriedWay> ways;
  Verdict verdict = Verdict::kNoWay;
  std::optional<std::size_t> best;         ///< the best way: see advise()
  std::optional<std::size_t> second;       ///< the best of another mode
  std::vector<std::string> bounds;         ///< by program: "device" or "host"; "any" where turns were not tried
  std::vector<std::string> unknown_rates;  ///< programs whose rate alone is a range
  std::vector<std::string> unknown_draws;  ///< games of which the device may draw much or little without a break
  std::vector<std::string> warnings;       ///< of the replays, each once
};

/// Goals that differ by less do not decide.
inline constexpr double kAlike = 0.05;

/// Simulates all ways. The best one keeps all promises, or else may keep them, or breaks some; of these a mechanism
/// that was compared with hardware goes before one that was not (MIG); then the goal decides, at the worse ends of what
/// is not known, MPS first among ways that are alike (studies/advice compares this with other rules). Throws
/// InvalidInput or Error where the captures cannot be replayed at all; a way that a device does not allow is part of
/// the answer.
Advice advise(const AdviceQuestion& question, const PolicyRegistry& policies, const Bands& bands, unsigned jobs);

}  // namespace corun
