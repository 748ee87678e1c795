#pragma once

#include <array>
#include <string>
#include <vector>

#include "experiments/question/experiment.h"
#include "experiments/run/plan.h"
#include "sim/facts/recorder.h"

namespace corun {

/// Exit code of a program that found a mistake of ours.
inline constexpr int kExitOurBug = 70;

/// While it lives, this thread is doing that run: what a broken promise in it is explained with.
class WatchedRun {
 public:
  WatchedRun(const Experiment& experiment, const RunSpec& spec);
  ~WatchedRun();
  WatchedRun(const WatchedRun&) = delete;
  WatchedRun& operator=(const WatchedRun&) = delete;

  void reached(Time now) { now_ = now; }
  void decided(const DecisionFact& decision) {
    now_ = decision.time;
    last_[decisions_++ % last_.size()] = decision;
  }

  /// Writes the bundle into a new folder below `parent` and returns its path: what broke and where, the experiment's
  /// text, everything that names the run, the captures with their hashes, and the last decisions. Throws where it
  /// cannot.
  std::string write_bundle(const std::string& parent, const std::string& promise, const std::string& command) const;

  static const WatchedRun* of_this_thread();

  /// What a crash is explained with (see crash.h): made when the run began, to be read in a signal handler.
  const std::string& place() const { return place_; }    ///< "in run 3f... of policy ..."
  const std::string& advice() const { return advice_; }  ///< whole lines: what is left, and what to do
  Time now() const { return now_; }

 private:
  std::string decisions_text() const;

  const Experiment& experiment_;
  const RunSpec& spec_;
  const std::string place_, advice_;
  std::array<DecisionFact, 256> last_;
  std::uint64_t decisions_ = 0;
  Time now_ = kRunStart;  ///< of what was heard last
};

/// From now on a broken promise ends the program with kExitOurBug and leaves a bundle in the working folder, whose path
/// is printed. `command` is the program's own command line. For programs, once.
void keep_reproductions(std::vector<std::string> command);

}  // namespace corun
