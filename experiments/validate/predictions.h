#pragma once

#include <string>
#include <vector>

#include "experiments/run/plan.h"
#include "experiments/validate/scoring/cells.h"

namespace corun::validation {

/// What was predicted, as a document that can be published before anything is measured.
struct Predictions {
  std::string text;    ///< JSON: every figure that will be scored, with the null models' inputs and what it came from
  std::string sha256;  ///< of `text`, as sha256sum prints it for a file that holds just that
};

/// Same experiment, same models, same text. `without_losses` is for a null model: see score().
Predictions publish(const Experiment& experiment, const FileHashes& hashes, const std::vector<Cell>& cells,
                    const Figures& predicted, const Figures& without_losses);

/// Writes the text to `path`. Throws Error(kDevice) where it cannot.
void write_predictions(const Predictions& predictions, const std::string& path);

}  // namespace corun::validation
