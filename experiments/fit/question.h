#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/advise/asked/asked_program.h"
#include "sim/policy/descriptor.h"

namespace corun {

/// A way to share that is no policy.
inline constexpr const char* kMps = "mps";

/// How many sessions of a game hold a frame rate on one GPU. A session holds it if its mean frame rate and the 99th
/// percentile of its frame times are good enough, and what else is asked of it. Or how many servers keep their promises
/// (`slo`), or how many copies of a program a server next to them bears.
struct FitQuestion {
  AskedProgram game;                  ///< what is counted: a game, a server, or, next to a server, any program
  std::vector<AskedProgram> fillers;  ///< what else runs on the GPU: one of each
  std::string gpu;                    ///< a built-in device
  double fps = 60;                    ///< of each session
  double most_p99_ms = 25;            ///< of its frame times
  std::optional<double> least_1low;   ///< 1 % low, in frames per second
  std::optional<double> most_missed;  ///< part of the frames shown a period late
  std::string quality;                ///< the key of a client: `default`, `knobs`; "" = as captured
  /// At least one each; `passthrough`: turns of the driver; kMps: its MPS, the last of all.
  std::vector<std::string> policies, policies_with_fillers;
  int most_sessions = 64;  ///< none beyond are tried
  bool has_servers() const;
};

/// A question in words, as on a command line.
struct FitWords {
  std::string game;                  ///< its capture, or an experiment: its first client, and all others as fillers
  std::vector<std::string> fillers;  ///< their captures, or experiments
  std::vector<std::string> rates;    ///< "train=31/s": rates alone
  std::vector<std::string> keys;     ///< "game.queued_ahead=1": keys of clients
  /// Empty: turns, with fillers `pilotfish`, with quality `djay`, `stimpack`; with servers turns and MPS.
  std::vector<std::string> policies;
  std::string fps, p99, low, missed;  ///< "60", "20ms", "50", "1%"; "" = the default
  std::string quality, most, gpu;     ///< "" = the default
};

/// Throws Error(kInput) where a word is wrong: which, what was found, what is expected.
FitQuestion question_of(const FitWords& words, const PolicyRegistry& policies);

/// So many sessions (0 with fillers: these alone), with the fillers or without, each of which wants `load` times the
/// frame rate.
struct FitTrial {
  int sessions = 1;
  bool has_fillers = false;
  double load = 1;
  auto operator<=>(const FitTrial&) const = default;
};

/// What is learned of the counted program before trials.
struct FitSetting {
  bool has_frames = true;
  bool has_limiter = false;  ///< of its capture
  double horizon_s = 0;      ///< 0 = the usual one
};

/// An experiment file with a scenario for each trial, in order, under these policies (of kMps one more). Sessions begin
/// anywhere in the capture. A limiter paces the game, as in its capture, or else a display does, unless the game states
/// that itself.
std::string fit_experiment(const FitQuestion& question, const std::vector<FitTrial>& trials,
                           const std::vector<std::string>& policies, const FitSetting& setting = {});

}  // namespace corun
