#include "experiments/fit/fit.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/base/processors.h"
#include "experiments/commands/commands.h"
#include "experiments/fit/fit_json.h"
#include "experiments/fit/fit_text.h"
#include "policies/builtin.h"
#include "traces/base/streams.h"
#include "traces/base/write_file.h"

namespace corun {

namespace {

struct FitOptions {
  FitWords words;
  std::string experiment;
  bool overwrites = false;
};

/// All points of all curves, so that `simcli run` and `simcli report` show more of them.
void write_experiment(FitQuestion question, const FitAnswer& answer, const FitOptions& options) {
  make_absolute(question.game);
  for (AskedProgram& filler : question.fillers) make_absolute(filler);
  std::vector<FitTrial> trials;
  for (const FitCurve& curve : answer.curves)
    for (const FitPoint& point : curve.points)
      if (const FitTrial trial{point.sessions, curve.has_fillers, 1}; std::ranges::find(trials, trial) == trials.end())
        trials.push_back(trial);
  std::vector<std::string> policies;
  for (const FitCurve& curve : answer.curves)
    if (curve.refused.empty() && std::ranges::find(policies, curve.policy) == policies.end())
      policies.push_back(curve.policy);
  write_file(options.experiment, fit_experiment(question, trials, policies, answer.setting), options.overwrites);
}

int fit_command(const CommonOptions& common, const FitOptions& options) {
  const FitQuestion question = question_of(options.words, builtin_policies());
  const auto show = [&](const std::string& trial) {
    if (common.err.is_interactive) put_err(fmt::format("\r\033[K{}", trial));
  };
  const FitAnswer answer = fit(question, builtin_policies(), static_cast<unsigned>(usable_processors()), show);
  show("");
  if (common.json)
    print_out("{}\n", fit_json(question, answer));
  else
    put_out(fit_text(question, answer, common.out.table_width()));
  if (!options.experiment.empty()) write_experiment(question, answer, options);
  return fits(answer) ? 0 : kExitExpectation;
}

}  // namespace

void add_fit(Commands& commands) {
  auto [command, options] =
      commands.add("fit", "Say how many sessions of a captured game hold a frame rate on one GPU", &fit_command);
  command.option("GAME", &options.words.game, "A capture of the game: a frame log, or a recording").required();
  command.option("--fps", &options.words.fps, "Frames per second of each session").shows_default("60");
  command.option("--beside", &options.words.fillers, "A capture of a program that runs on the GPU, too").repeatable();
  command.option("--gpu", &options.words.gpu, "The GPU: a built-in device").shows_default("h200");
  command.option("--p99", &options.words.p99, "Most for the 99th percentile of frame times")
      .shows_default("1.5 periods");
  command.option("--low", &options.words.low, "Least 1 % low, in frames per second");
  command.option("--missed", &options.words.missed, "Most frames shown a period late: 1%");
  command.option("--quality", &options.words.quality, "Settings that a policy may choose: default, knobs");
  command.option("--policies", &options.words.policies, "Policies to try: passthrough,pilotfish,djay")
      .comma_separated();
  command.option("--solo-rate", &options.words.rates, "PROGRAM=RATE: steps per second alone and untraced").repeatable();
  command
      .option("--set", &options.words.keys,
              "PROGRAM.KEY=VALUE: a key of a client, as in experiments: game.queued_ahead=1")
      .repeatable();
  command.option("--most", &options.words.most, "Most sessions that are tried").shows_default("64");
  command.option("--write", &options.experiment, "Write the experiment of these points to this file")
      .shows_value("FILE");
  command.flag("-f,--force", &options.overwrites, "Overwrite an existing file");
}

}  // namespace corun
