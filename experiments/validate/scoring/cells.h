#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/run/plan.h"
#include "experiments/run/run_inputs.h"
#include "experiments/validate/scoring/figures.h"
#include "experiments/validate/scoring/goals.h"

namespace corun::validation {

/// A client as a cell sees it.
struct CellClient {
  std::string name;
  CellKey solo;           ///< the cell in which it, or its equal, is alone
  std::string solo_name;  ///< what it is called there
  bool shows_frames = false;
  bool has_tiny_kernels = false;  ///< half of them take less than 20 us
  Bound bound = Bound::kDevice;   ///< known once it was predicted alone
};

/// A scenario under a policy: what is predicted, measured and scored.
struct Cell {
  std::size_t scenario = 0;  ///< index into Experiment::scenarios
  std::size_t policy = 0;
  CellKey key;
  Tier tier = Tier::kTimeSliced;
  bool is_seen = false;  ///< the models could be fitted to it
  Duration window{};     ///< behind the warm-up
  std::vector<CellClient> clients{};
};

/// How long runs of a validation last.
struct RunLengths {
  Duration window;            ///< behind the warm-up, at most
  bool keeps_warmup = false;  ///< as stated: programs as they are have to start; else at most a quarter of the window
};

/// The scenarios of `experiment`, then one for every different client alone, then the canary's: a client of fixed work.
/// No run keeps more than its metrics. Of `only` some scenarios, where any are named, with the clients of these alone,
/// which are then called and run as among all. Throws Error(kUnsupported) for a cluster.
Experiment with_solos(const Experiment& experiment, const RunLengths& lengths, const FileHashes& hashes,
                      std::span<const std::string> only = {});

/// Whether a scenario was added by with_solos.
bool is_solo(const Scenario& scenario);
bool is_canary(const Scenario& scenario);

/// Cells of an experiment made by with_solos, those of the canary left out, solos first. A client that is alone in a
/// scenario of its own is one, too.
std::vector<Cell> make_cells(const Experiment& experiment, const FileHashes& hashes, RunInputs& run_inputs,
                             const PolicyRegistry& policies);

/// Fills in what bounds each client, from its predicted run alone.
void find_bounds(std::vector<Cell>& cells, const Figures& predicted);

/// Every cell with the first `most` seeds of its scenario.
std::vector<RunSpec> prediction_runs(const Experiment& experiment, const std::vector<Cell>& cells,
                                     const FileHashes& hashes, std::size_t most = SIZE_MAX);

/// Repetition 1 of every cell, then repetition 2 of every cell, and so on, each with its scenario's seed of that rank;
/// the solos before, after and, from four repetitions on, in the middle; with a canary, a run of it before each.
std::vector<RunSpec> measurement_runs(const Experiment& experiment, const std::vector<Cell>& cells,
                                      const FileHashes& hashes, unsigned repetitions, bool has_canary);

}  // namespace corun::validation
