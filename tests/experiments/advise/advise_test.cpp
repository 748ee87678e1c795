#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "experiments/advise/advice.h"
#include "experiments/advise/advice_text.h"
#include "experiments/advise/asked/asked_program.h"
#include "experiments/advise/deploy.h"
#include "experiments/base/diagnostic.h"
#include "experiments/question/experiment.h"
#include "policies/builtin.h"
#include "traces/base/error.h"

namespace corun {
namespace {

constexpr char kBands[] =
    "figure,mechanism,bound,programs,count,low,high,least,most\nkept,turns,any,any,40,0.900,1.100,0.800,1.200\n"
    "kept,turns,device,any,20,0.950,1.040,0.850,1.140\nkept,mps,any,any,60,0.800,1.200,0.700,1.300\n"
    "p99,turns,any,any,30,0.700,1.500,0.600,1.600\n";

AdviceQuestion two_programs(const std::vector<std::string>& modes = {}) {
  AdviceQuestion question;
  question.gpu = "h200";
  question.programs = {{"cnn",
                        "traces/samples/cnn_train_small.kineto.json.gz",
                        {{"pacing", "sync_each_job"}, {"solo_rate", "375.69/s"}}},
                       {"vit",
                        "traces/samples/vit_infer_bs32.kineto.json.gz",
                        {{"pacing", "sync_each_job"}, {"solo_rate", "122.95/s"}}}};
  question.modes = modes;
  return question;
}

Advice advice_on(const AdviceQuestion& question) { return advise(question, builtin_policies(), Bands(kBands), 2); }

const TriedWay& way_of(const Advice& advice, const std::string& mode) {
  return *std::ranges::find(advice.ways, mode, [](const TriedWay& tried) { return tried.way.mode; });
}

TEST(SharingWays, OfThreeProgramsAreTurnsAndMpsAlone) {
  AdviceQuestion question = two_programs();
  EXPECT_EQ(sharing_ways(question).size(), 7U);
  question.programs.push_back({"third", "x"});
  EXPECT_EQ(sharing_ways(question).size(), 2U);
}

TEST(SharingWays, AreScenariosOfAnExperimentThatCanBeRead) {
  const AdviceQuestion question = two_programs();
  PolicyRegistry policies = builtin_policies();
  const Experiment experiment =
      parse_experiment(advice_experiment(question, sharing_ways(question)), "a.yaml", {}, policies);
  EXPECT_EQ(experiment.scenarios.size(), 7U);
  EXPECT_EQ(experiment.scenarios[2].policies[0].parameters.by_client("percentages").at("vit"), 70.0);
}

TEST(AskedPrograms, HaveTheirRatesAloneWithAllSmsAndWithFewer) {
  std::vector<AskedProgram> programs = asked_programs({"a.corun", "b.corun"});
  state_keys(programs, {"a=31/s", "a@50%=24/s", "b@25%=2/s", "a@25%=13/s"}, {"b.pacing=60fps"});
  EXPECT_EQ(programs[0].keys,
            (std::map<std::string, std::string>{{"solo_rate", "31/s"}, {"fewer_sms", "{ 50%: 24/s, 25%: 13/s }"}}));
  EXPECT_EQ(programs[1].keys, (std::map<std::string, std::string>{{"pacing", "60fps"}, {"fewer_sms", "{ 25%: 2/s }"}}));
  for (const char* wrong : {"a@=1/s", "a@50=1/s", "a@100%=1/s", "a@0%=1/s", "a@x%=1/s", "c@50%=1/s", "a@50%=fast"})
    EXPECT_THROW(state_keys(programs, {wrong}, {}), Error) << wrong;
}

TEST(AskedPrograms, AreCalledAsTheirFilesWithoutEndings) {
  const std::vector<AskedProgram> programs = asked_programs(
      {"x/qwen1.5_0.5b.json.gz", "qwen1.8.sqlite", "a.window.corun", ".hidden", "b", "run.50.corun", "a.csv"});
  std::vector<std::string> names;
  for (const AskedProgram& program : programs) names.push_back(program.name);
  EXPECT_EQ(names, (std::vector<std::string>{"qwen1_5_0_5b", "qwen1_8", "a", "_hidden", "b", "run", "a_2"}));
}

TEST(Spread, OfMillisecondsHasAboutThreeDigits) {
  EXPECT_EQ(milliseconds_text({0.4284, 0.4284}), "0.428");
  EXPECT_EQ(milliseconds_text({4.284, 9.5}), "4.28 to 9.50");
  EXPECT_EQ(milliseconds_text({4.284, 42.84}), "4.3 to 42.8");
}

TEST(TriedWay, IsBetterByPromisesThenByHardwareThenByItsGoalWithMpsAheadOfWhatIsAlike) {
  TriedWay mps, turns;
  for (TriedWay* way : {&mps, &turns}) way->is_compared = way->may_keep = true;
  mps.way.mode = "mps", mps.goal = {0.8, 0.8};
  turns.way.mode = "time_sliced", turns.goal = {0.83, 0.83};
  EXPECT_GT(mps.rank(), turns.rank()) << "4 % are within what predictions are off";
  turns.goal = {0.85, 0.85};
  EXPECT_LT(mps.rank(), turns.rank());
  turns.goal = {0.6, 1.0};
  EXPECT_GT(mps.rank(), turns.rank()) << "by the worse end of what is not known";
  turns.goal = {1, 1};
  turns.is_compared = false;
  EXPECT_GT(mps.rank(), turns.rank());
  mps.broken = {"a keeps 0.80, not 0.90"};
  EXPECT_LT(mps.rank(), turns.rank());
  mps.may_keep = false, turns.broken = {"a keeps 0.80 to 1.00, not 0.90"};
  EXPECT_LT(mps.rank(), turns.rank()) << "it may keep the promise";
}

const Advice& of_turns_and_mps() {
  static const Advice advice = advice_on(two_programs({"time_sliced", "mps"}));
  return advice;
}

TEST(Advise, ChoosesTheWayInWhichTheLeastLuckyProgramKeepsMost) {
  const Advice& advice = of_turns_and_mps();
  ASSERT_EQ(advice.verdict, Verdict::kShare);
  const TriedWay& best = advice.ways[*advice.best];
  for (const TriedWay& way : advice.ways) {
    EXPECT_EQ(way.goal.low, std::min(way.programs[0].kept.low, way.programs[1].kept.low)) << way.way.label;
    EXPECT_LE(way.goal.low, best.goal.low) << way.way.label;
  }
  const ProgramShare& turns = way_of(advice, "time_sliced").programs[1];
  EXPECT_EQ(advice.bounds[1], "device");
  EXPECT_NEAR(turns.kept_band->low, turns.kept.low * 0.95, 1e-9);
  EXPECT_NEAR(turns.kept_band->high, turns.kept.high * 1.04, 1e-9);
  EXPECT_NEAR(turns.p99_band->low, turns.p99_ms->low * 0.7, 1e-9);
  EXPECT_NEAR(turns.p99_band->high, turns.p99_ms->high * 1.5, 1e-9);
  EXPECT_FALSE(way_of(advice, "mps").programs[1].p99_band) << "no tail was measured so";
}

TEST(Advise, SimulatesAsLongAsTheSlowestProgramNeedsForTenSteps) {
  AdviceQuestion question;
  question.gpu = "h200";
  question.modes = {"time_sliced"};
  for (const char* name : {"a", "b", "c", "d"})  // a step of 80 ms alone, and 320 in turns
    question.programs.push_back(
        {name, "traces/samples/vit_infer_bs32.kineto.json.gz", {{"iterations", "1"}, {"solo_rate", "12.6/s"}}});
  const Advice advice = advice_on(question);
  const TriedWay& turns = way_of(advice, "time_sliced");
  EXPECT_GT(turns.way.horizon_s, SharingWay{}.horizon_s);
  for (const ProgramShare& program : turns.programs)
    EXPECT_GE(std::lround(program.kept.low * 12.6 * (turns.way.horizon_s - 0.5)), kFewestJobs);
  EXPECT_NE(advice_experiment(question, {turns.way}).find("    horizon: "), std::string::npos);
}

TEST(Advise, TurnsWithAGameHaveBandsOfTheirOwnAndMpsWithOneHasNone) {
  AdviceQuestion question = two_programs({"time_sliced", "mps"});
  question.programs[0] = {"game", "studies/sessions/captures/large.uncapped.corun", {{"pacing", "60fps"}}};
  const Bands bands{std::string(kBands) +
                    "kept,games,any,any,40,0.850,1.010,0.8,1.1\n"
                    "kept,games,frames,any,30,0.920,1.000,0.8,1.1\n"};
  const Advice advice = advise(question, builtin_policies(), bands, 2);
  const TriedWay& turns = way_of(advice, "time_sliced");
  EXPECT_TRUE(turns.is_compared);
  EXPECT_NEAR(turns.programs[0].kept_band->low, turns.programs[0].kept.low * 0.92, 0.01);
  EXPECT_NEAR(turns.programs[1].kept_band->low, turns.programs[1].kept.low * 0.85, 1e-9)
      << "not the band of turns alone";
  const TriedWay& mps = way_of(advice, "mps");
  EXPECT_FALSE(mps.is_compared);
  EXPECT_FALSE(mps.programs[1].kept_band) << "nothing measured a program under MPS next to a game";
}

TEST(Advise, AnswersAGameOfUnknownDrawsWithARangeAndLeavesMechanismsToTheirBands) {
  AdviceQuestion question = two_programs({"time_sliced", "mps"});
  question.programs[0] = {"game", "traces/samples/h200/openarena_4k.corun", {{"pacing", "60fps"}}};
  const Advice advice = advice_on(question);
  EXPECT_EQ(advice.unknown_draws, std::vector<std::string>{"game"});
  EXPECT_TRUE(advice.unknown_rates.empty()) << "frames are not lengthened by a recorder";
  const TriedWay& turns = way_of(advice, "time_sliced");
  EXPECT_GT(turns.programs[0].fps->high, 1.2 * turns.programs[0].fps->low);
  for (const std::string& warning : advice.warnings)
    EXPECT_TRUE(warning.starts_with("game:") || warning.starts_with("vit:")) << warning;

  question.programs[0].keys["draw"] = "1s";
  const Advice stated = advice_on(question);
  EXPECT_TRUE(stated.unknown_draws.empty());
  const Spread& fps = *way_of(stated, "time_sliced").programs[0].fps;
  EXPECT_EQ(fps.low, fps.high);
  EXPECT_NEAR(fps.high, turns.programs[0].fps->high, 1e-9) << "one draw a frame is an end of the range";
}

TEST(Advise, CannotTellWhetherAGameKeepsItsRateWhereThatHangsOnItsDraws) {
  AdviceQuestion question = two_programs({"time_sliced"});
  question.programs[0] = {"game", "traces/samples/h200/openarena_4k.corun", {{"pacing", "60fps"}}};
  const Spread fps = *advice_on(question).ways[0].programs[0].fps;
  question.least_fps["game"] = (fps.low + fps.high) / 2;
  const Advice advice = advice_on(question);
  EXPECT_EQ(advice.verdict, Verdict::kCannotTell);
  EXPECT_NE(verdict_text(question, advice).find("--set game.draw=2ms"), std::string::npos);
  question.least_fps["game"] = fps.high + 1;
  EXPECT_EQ(advice_on(question).verdict, Verdict::kNoWay) << "at no end of the range";
}

TEST(Advise, SaysWhatIsWrongWithAProgramOnce) {
  AdviceQuestion question = two_programs();
  question.gpu = "v100";
  try {
    advice_on(question);
    FAIL() << "captures of another GPU";
  } catch (const InvalidInput& refused) {
    EXPECT_EQ(refused.diagnostics().size(), 2u) << refused.what();
  }
}

TEST(Advise, SaysThatNoWayKeepsWhatIsAskedAndByHowMuch) {
  AdviceQuestion question = two_programs({"time_sliced"});
  question.least_kept["vit"] = 0.99;
  const Advice advice = advice_on(question);
  EXPECT_EQ(advice.verdict, Verdict::kNoWay);
  ASSERT_EQ(advice.ways[0].broken.size(), 1U);
  EXPECT_NE(advice.ways[0].broken[0].find("vit keeps 0."), std::string::npos) << advice.ways[0].broken[0];
}

TEST(Advise, KnowsEndsAloneOfAProgramWhoseRateIsNotStated) {
  AdviceQuestion question = two_programs({"time_sliced"});
  question.programs[0].keys = {{"pacing", "sync_each_job"}};
  const Advice advice = advice_on(question);
  EXPECT_EQ(advice.unknown_rates, std::vector<std::string>{"cnn"});
  const ProgramShare &unknown = advice.ways[0].programs[0], &stated = advice.ways[0].programs[1];
  EXPECT_LT(unknown.kept.low, unknown.kept.high);
  EXPECT_NEAR(unknown.kept_band->low, 0.8 * unknown.kept.low, 0.01) << "all that was measured, as in `simcli run`";
  EXPECT_NEAR(stated.kept_band->low, 0.95 * stated.kept.low, 0.01);
}

TEST(Advise, HasTheSameBandsWhateverElseIsTried) {
  const Advice alone = advice_on(two_programs({"mps"}));
  const Advice& with_turns = of_turns_and_mps();
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(alone.ways[0].programs[i].kept_band->low, with_turns.ways[1].programs[i].kept_band->low);
    EXPECT_EQ(alone.ways[0].programs[i].kept_band->high, with_turns.ways[1].programs[i].kept_band->high);
  }
}

TEST(Advise, SaysWhatTheAnswerIsAtTheEndsOfARateThatIsNotStated) {
  AdviceQuestion question = two_programs({"time_sliced"});
  question.programs[0].keys = {{"pacing", "sync_each_job"}};
  const Spread kept = advice_on(question).ways[0].programs[0].kept;
  question.least_kept["cnn"] = kept.middle();
  const Advice advice = advice_on(question);
  ASSERT_TRUE(advice.hangs_on);
  EXPECT_EQ(advice.hangs_on->program, "cnn");
  EXPECT_LT(advice.hangs_on->rate_per_s.low, advice.hangs_on->rate_per_s.high);
  EXPECT_EQ(advice.hangs_on->at_low, "kept") << "a slower host leaves the device to others";
  EXPECT_EQ(advice.hangs_on->at_high, "broken");
  EXPECT_NE(verdict_text(question, advice).find("its slowest host, that is kept"), std::string::npos)
      << verdict_text(question, advice);

  question.programs[0].keys["solo_rate"] = fmt::format("{}/s", advice.hangs_on->rate_per_s.low);
  EXPECT_EQ(advice_on(question).verdict, Verdict::kShare) << "the end, stated";
}

TEST(Deployment, SaysWhatMakesAWaySo) {
  const AdviceQuestion question = two_programs();
  const auto ways = sharing_ways(question);
  EXPECT_NE(deployment("mps", question, ways[2]).find("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=30 COMMAND    # cnn"),
            std::string::npos);
  EXPECT_NE(deployment("kubernetes", question, ways[0]).find("timeSlicing:"), std::string::npos);
  EXPECT_NE(deployment("kubernetes", question, ways[3]).find("  mps:"), std::string::npos) << "50 % each";
  EXPECT_NE(deployment("mig", question, ways[6]).find("4g"), std::string::npos);
  for (const std::size_t way : {1, 2})
    EXPECT_THROW(deployment("kubernetes", question, ways[way]), Error)
        << "the plugin's MPS has equal percentages alone";
  EXPECT_THROW(deployment("mps", question, ways[0]), Error);
}

TEST(Deployment, ForALiveRunIsAnExperiment) {
  const AdviceQuestion question = two_programs();
  PolicyRegistry policies = builtin_policies();
  const Experiment experiment =
      parse_experiment(deployment("live", question, sharing_ways(question)[0]), "a.yaml", {}, policies);
  ASSERT_EQ(experiment.scenarios[0].clients.size(), 2U);
  EXPECT_EQ(experiment.scenarios[0].clients[1].command.words, std::vector<std::string>{"COMMAND"});
}

}  // namespace
}  // namespace corun
