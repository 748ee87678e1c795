#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/advise/question.h"
#include "experiments/advise/tried_way.h"
#include "experiments/bands/bands.h"
#include "sim/policy/descriptor.h"

namespace corun {

enum class Verdict : std::uint8_t {
  kShare,       ///< `best` is the way
  kApart,       ///< no way does more work than one program after the other
  kNoWay,       ///< no way keeps all promises
  kCannotTell,  ///< which way is best, or whether it keeps what was asked, hangs on what is not stated
                ///< (`unknown_rates`, `unknown_draws`), or on bands that hold a promise of a server
  kClose,       ///< the best way is near to what a server promises, and nothing like it was measured
};

/// How the answer hangs on the rate alone of one program: the ends of its range, and where the best way changes.
struct HangsOn {
  std::string program;
  Spread rate_per_s{};
  std::string at_low{},
      at_high{};  ///< the best way of the two that compete, or where promises are asked "kept", "broken"
  std::optional<double> changes_at_per_s{};  ///< about, by interpolation between the ends; nullopt: of promises
};

struct Advice {
  std::vector<TriedWay> ways;
  Verdict verdict = Verdict::kNoWay;
  std::optional<std::size_t> best;           ///< the best way: see advise()
  std::optional<std::size_t> second;         ///< the best of another mode
  std::vector<std::string> bounds;           ///< by program: "device" or "host"; "any" where turns were not tried
  std::vector<std::string> unknown_rates;    ///< programs whose rate alone is a range
  std::vector<std::string> unknown_draws;    ///< games of which the device may draw much or little without a break
  std::optional<HangsOn> hangs_on;           ///< of kCannotTell, where one rate alone decides
  std::map<std::string, ServerShare> alone;  ///< servers without neighbours, by program
  std::vector<std::string> warnings;         ///< of the replays, each once
};

/// Simulates all ways. The best one keeps all promises, or else may keep them, or breaks some; of these a mechanism
/// that was compared with hardware goes before one that was not (MIG, policies); then the goal decides, at the worse
/// ends of what is not known, MPS first among ways that are alike (studies/advice compares this with other rules).
/// Throws InvalidInput or Error where the captures cannot be replayed at all; a way that a device does not allow is
/// part of the answer.
Advice advise(const AdviceQuestion& question, const PolicyRegistry& policies, const Bands& bands, unsigned jobs);

}  // namespace corun
