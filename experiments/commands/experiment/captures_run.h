#pragma once

#include <string>
#include <vector>

namespace corun {

/// What `simcli run` is told of captures that are to be run together, without an experiment file.
struct CapturesWords {
  std::vector<std::string> files;  ///< captures, or "NAME=CAPTURE"; or one experiment file
  std::string gpu;                 ///< a built-in device; "" = h200
  /// Empty = passthrough; "mps" is passthrough on a device that clients share in space.
  std::vector<std::string> policies;
  std::vector<std::string> rates;  ///< "PROGRAM=31/s", as of `simcli advise`
  std::string write;               ///< where the experiment file is written; "" = nowhere

  bool has_options() const { return !gpu.empty() || !policies.empty() || !rates.empty() || !write.empty(); }
};

/// Whether the words name an experiment file: one file that is no capture. Throws Error(kInput) where an experiment
/// file stands among others, or has options that are for captures.
bool names_experiment(const CapturesWords& words);

/// The experiment of the captures, as a file would have it: one client for each, called as asked_programs() says, on
/// one GPU. `sets` are "PROGRAM.KEY=VALUE". Paths are absolute. Throws Error(kInput) where a word is wrong.
std::string captures_experiment(const CapturesWords& words, const std::vector<std::string>& sets);

}  // namespace corun
