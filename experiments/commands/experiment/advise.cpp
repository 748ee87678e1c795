#include "experiments/advise/advice.h"
#include "experiments/advise/advice_json.h"
#include "experiments/advise/advice_text.h"
#include "experiments/advise/asked.h"
#include "experiments/base/processors.h"
#include "experiments/commands/commands.h"
#include "policies/builtin.h"
#include "traces/base/streams.h"
#include "traces/base/write_file.h"

namespace corun {

namespace {

struct AdviseOptions {
  AdviceWords words;
  std::string experiment, deploy;
  bool overwrites = false;
};

void write_experiment(AdviceQuestion question, const Advice& advice, const AdviseOptions& options) {
  for (AskedProgram& program : question.programs) make_absolute(program);
  std::vector<SharingWay> ways;
  for (const TriedWay& tried : advice.ways) ways.push_back(tried.way);
  write_file(options.experiment, advice_experiment(question, ways), options.overwrites);
}

int advise_command(const CommonOptions& common, const AdviseOptions& options) {
  const AdviceQuestion question = question_of(options.words, builtin_policies());
  const Advice advice =
      advise(question, builtin_policies(), Bands::built_in(), static_cast<unsigned>(usable_processors()));
  if (common.json) {
    print_out("{}\n", advice_json(question, advice));
  } else if (options.deploy.empty()) {
    put_out(advice_text(question, advice, common.out.table_width()));
  }
  if (!options.experiment.empty()) write_experiment(question, advice, options);
  if (!options.deploy.empty()) put_out(deployment_text(options.deploy, question, advice));
  return advice.verdict == Verdict::kShare || advice.verdict == Verdict::kApart ? 0 : kExitExpectation;
}

}  // namespace

void add_advise(Commands& commands) {
  auto [command, options] = commands.add(
      "advise", "Say whether captured programs may share a GPU, in which way, and what each gets", &advise_command);
  command
      .option("CAPTURE", &options.words.traces,
              "A capture of each program, or NAME=CAPTURE, or an experiment, whose clients are programs; two at least")
      .required();
  command.option("--gpu", &options.words.gpu, "The GPU: a built-in device")
      .shows_default("that of the experiment, or h200");
  command
      .option("--solo-rate", &options.words.rates,
              "PROGRAM=RATE: its steps per second alone and untraced; PROGRAM@50%=RATE with so much of the SMs")
      .repeatable();
  command
      .option("--set", &options.words.keys,
              "PROGRAM.KEY=VALUE: a key of its client, as in experiments: game.pacing=60fps")
      .repeatable();
  command.option("--keep", &options.words.kept, "PROGRAM=0.9: it must keep so much of its rate alone").repeatable();
  command.option("--p99", &options.words.p99, "PROGRAM=30ms: most for its 99th percentile").repeatable();
  command.option("--fps", &options.words.fps, "PROGRAM=60: least frames per second").repeatable();
  command.flag("--most-work", &options.words.is_for_most_work, "Look for most work in all, not for the fairest way");
  command.option("--modes", &options.words.modes, "Ways to try: time_sliced,mps,mps_split,mig; all if not given")
      .comma_separated();
  command
      .option("--policies", &options.words.policies,
              "Policies to try: passthrough,serving_slack; these alone without --modes")
      .comma_separated();
  command.flag("--largest-load", &options.words.has_largest_load,
               "Search the largest load that keeps the server's promises, in each way");
  command.option("--write", &options.experiment, "Write the experiment that was tried to this file")
      .shows_value("FILE");
  command.flag("-f,--force", &options.overwrites, "Overwrite an existing file");
  command
      .option("--deploy", &options.deploy,
              "Print what sets up the best way: mps, kubernetes, hami, kai, dra, mig, live")
      .shows_value("KIND");
}

}  // namespace corun
