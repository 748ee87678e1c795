#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "experiments/question/device_file.h"
#include "experiments/run/execution_backend.h"
#include "experiments/validate/scoring/score.h"

namespace corun::validation {

/// A constant of the models and how well it is known.
struct Constant {
  std::string name;         ///< "time_slice"
  std::string uncertainty;  ///< "2 %", as the report shows it
  double step = 0.0;        ///< of one uncertainty, relative to the constant's value; 0 where it has none (visits)
  double width = 2.0;       ///< uncertainties between up and down; 1 where it only goes up
  /// Moves it by `sign` uncertainties in a run's input.
  std::function<void(RunInput&, double sign)> move;
};

/// Time slice, switch cost, host gaps, SM curve, visits of a frame. Those of the device are as uncertain as the half of
/// their spread in its file, where it states one ("2.095ms to 2.099ms"). Host gaps are as uncertain as the rates of
/// host-bound clients alone lay apart in this validation; 3 % at least.
std::vector<Constant> model_constants(double host_spread, const DeviceSpreads& spreads = {});

/// `backend` with the constant moved.
ExecutionBackend with_moved(const ExecutionBackend& backend, const Constant& constant, double sign);

/// How far one uncertainty of a constant moves each prediction.
struct ConstantEffect {
  std::string constant;
  std::string uncertainty;
  double step = 0.0;
  std::vector<double>
      change;  ///< by row of the scores: up minus down over the width, as a part of the prediction; 0 = not known
};

/// What a constant would have to be for the errors to be least, all else unchanged, to first order.
struct Explanation {
  std::string constant;
  double steps = 0.0;      ///< uncertainties to move it by
  double moved = 0.0;      ///< the same, relative to its value; 0 where the constant has no relative step
  double explained = 0.0;  ///< fraction of the sum of squared errors that goes away, [0, 1]
};

/// Effects on rows from predictions with the constant moved up and down by one uncertainty.
ConstantEffect effect_of(const Constant& constant, const std::vector<ScoreRow>& rows, const std::vector<Cell>& cells,
                         const Figures& predicted, const Figures& up, const Figures& down);

/// One for each constant that moves anything, best first. Rows of rates decide: errors of throughput and frame rate.
std::vector<Explanation> explain_errors(const std::vector<ScoreRow>& rows, std::span<const ConstantEffect> effects);

}  // namespace corun::validation
