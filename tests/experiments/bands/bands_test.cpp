#include "experiments/bands/bands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "experiments/bands/counted_use.h"
#include "experiments/bands/figure_band.h"
#include "tests/experiments/question/experiment_text.h"

namespace corun {
namespace {

constexpr char kTable[] =
    "figure,mechanism,bound,programs,count,low,high,least,most\n"
    "kept,turns,any,2,30,0.80,1.20,0.50,1.90\nkept,turns,any,3+,22,0.70,1.30,0.60,1.40\n"
    "kept,turns,any,any,52,0.75,1.25,0.50,1.90\n"
    "kept,turns,device,2,21,0.95,1.04,0.90,1.10\nkept,turns,device,any,23,0.94,1.05,0.89,1.11\n"
    "kept,mps,any,2,25,0.85,1.15,0.40,1.80\nkept,mps,any,any,25,0.85,1.15,0.40,1.80\n"
    "kept,mps,host,any,24,0.80,1.30,0.40,1.80\nkept,mps,device,any,24,0.98,1.02,0.9,1.1\n"
    "kept,games,any,any,20,0.86,1.00,0.81,1.00\nkept,games,frames,any,20,0.90,1.00,0.81,1.00\n"
    "p99,turns,any,any,30,0.50,2.40,0.30,5.00\np99,games,frames,any,20,0.80,1.40,0.70,1.50\n";

TEST(Bands, AreThoseOfTheClassOrElseOfAnyNumberAndThenOfAnyBound) {
  const Bands bands{kTable};
  EXPECT_EQ(bands.of("kept", "turns", "device", 2)->low, 0.95);
  EXPECT_EQ(bands.of("kept", "turns", "device", 3)->low, 0.94) << "no class of three programs of this bound";
  EXPECT_EQ(bands.of("kept", "turns", "host", 2)->high, 1.20) << "no class of this bound";
  EXPECT_EQ(bands.of("kept", "turns", "host", 5)->high, 1.30);
  EXPECT_EQ(bands.of("kept", "turns", "host", 5)->count, 22U);
  EXPECT_EQ(bands.of("p99", "turns", "device", 2)->high, 2.40);
  EXPECT_FALSE(bands.of("kept", "mig", "device", 2)) << "never measured";
  EXPECT_FALSE(bands.of("p99", "mps", "device", 2)) << "a figure of its own";
}

TEST(Bands, OfWhatWasMeasuredInPartAloneHoldAllOfItsClass) {
  const Bands bands{kTable};
  const auto wide = bands.of("kept", "turns", "device", 2, Measured::kPart);
  EXPECT_TRUE(wide->low == 0.90 && wide->high == 1.10);
  const auto three = bands.of("kept", "mps", "any", 3);
  EXPECT_TRUE(three->low == 0.40 && three->high == 1.80) << "only pairs were measured under it";
}

TEST(Bands, WithServersAreThoseOfTheMechanismOrElseOfAllMechanismsAndNeverOfTrainings) {
  const Bands bands{std::string(kTable) +
                    "ttft,turns with servers,requests,2,18,0.60,2.00,0.60,2.00\n"
                    "ttft,any with servers,requests,2,45,0.70,2.50,0.40,3.00\n"
                    "kept,any with servers,programs,any,25,0.80,1.30,0.70,1.40\n"};
  EXPECT_EQ(bands.of("ttft", "turns with servers", "requests", 2)->high, 2.00);
  EXPECT_EQ(bands.of("ttft", "split with servers", "requests", 2)->high, 2.50) << "too few of this mechanism";
  EXPECT_EQ(bands.of("ttft", "split with servers", "requests", 2, Measured::kPart)->high, 3.00);
  EXPECT_EQ(bands.of("kept", "turns with servers", "programs", 2)->low, 0.80);
  EXPECT_FALSE(bands.of("kept", "turns with servers", "requests", 2)) << "a server is no program next to it";
  EXPECT_FALSE(bands.of("ttft", "games", "requests", 2));
  EXPECT_FALSE(bands.of("kept", "turns with servers with games", "programs", 2)) << "never measured";
}

TEST(Bands, BuiltInOnesHoldWhatIsPredictedAndAreNarrowerWhereTheDeviceBinds) {
  const Bands& bands = Bands::built_in();
  for (const char* mechanism : {"turns", "mps"}) {
    const auto device = bands.of("kept", mechanism, "device", 2), any = bands.of("kept", mechanism, "any", 2);
    ASSERT_TRUE(device && any) << mechanism;
    EXPECT_LT(device->low, 1.0);
    EXPECT_GT(device->high, 1.0);
    EXPECT_LT(device->high / device->low, any->high / any->low) << mechanism;
    const auto wide = bands.of("kept", mechanism, "any", 2, Measured::kPart);
    EXPECT_TRUE(wide->low < any->low && wide->high > any->high) << mechanism;
  }
}

/// The classes of clients a and b under the first policy; `more` are lines of the experiment.
std::map<std::string, ErrorClass> classes_of(const std::string& policy, const std::string& keys_of_a = "",
                                             const std::string& device = "h200") {
  const Experiment experiment = testing::read_text(
      fmt::format("name: x\ndevice: {}\nhorizon: 1s\npolicies: [{}]\nclients:\n"
                  "  - {{ name: a, trace: a.corun{} }}\n  - {{ name: b, trace: b.corun, solo_rate: 5/s }}\n",
                  device, policy, keys_of_a));
  return error_classes(experiment.scenarios[0], experiment.scenarios[0].policies[0]);
}

TEST(ErrorClasses, FollowHowTheDeviceIsShared) {
  EXPECT_EQ(classes_of("passthrough").at("a").mechanism, "turns");
  EXPECT_EQ(classes_of("passthrough").at("b").programs, 2U);
  const std::string mps = "{ model: h200, sharing: concurrent }";
  EXPECT_EQ(classes_of("passthrough", "", mps).at("a").mechanism, "mps");
  EXPECT_EQ(classes_of("passthrough", ", sm_cap: 0.5", mps).at("b").mechanism, "split");
  EXPECT_EQ(classes_of("mps_percentage: { percentages: { a: 50, b: 50 } }", "", mps).at("a").mechanism, "split");
}

TEST(ErrorClasses, AreNoneOfWhatWasNeverCompared) {
  for (const char* policy : {"exclusive", "nvshare", "mig: { instances: { a: 3, b: 3 } }", "pilotfish"})
    EXPECT_TRUE(classes_of(policy).empty()) << policy;
  EXPECT_TRUE(classes_of("passthrough", "", "{ model: h200, sharing: exclusive }").empty());
  EXPECT_TRUE(classes_of("passthrough", ", replay: open").empty()) << "a rate that is asked for is no rate kept";
  const Experiment made_up = testing::read_text(
      "name: x\ndevice: h200\nhorizon: 1s\npolicies: [passthrough]\nclients:\n"
      "  - { name: a, trace: a.corun }\n  - { name: b, synthetic: { training: resnet50 } }\n");
  EXPECT_TRUE(error_classes(made_up.scenarios[0], made_up.scenarios[0].policies[0]).empty());
  Experiment alone = made_up;
  alone.scenarios[0].clients.pop_back();
  EXPECT_TRUE(error_classes(alone.scenarios[0], alone.scenarios[0].policies[0]).empty());
}

TEST(ErrorClasses, OfServersAndOfProgramsNextToThemAreTheirOwn) {
  const std::string server = ", server: { requests: { rate: 1/s, prompt: 8, output: 8 }, max_batch: 4, kv_tokens: 99";
  const auto classes = classes_of("passthrough", server + ", step_times: s.csv }");
  EXPECT_EQ(classes.at("a").label(), "turns with servers of 2 programs");
  EXPECT_EQ(classes.at("b").label(), "turns with servers of 2 programs");
  EXPECT_EQ(classes_of("passthrough", server + " }").at("a").unmeasured, "the times of its steps alone");
  EXPECT_EQ(classes_of("passthrough", server + ", batching: mixed, step_times: s.csv }").at("a").unmeasured,
            "mixed steps in company");
  EXPECT_EQ(classes_of("passthrough", server + ", prefill_share: 25%, step_times: s.csv }").at("a").unmeasured,
            "divided servers in company");
  EXPECT_EQ(classes_of("passthrough", server + ", prompts_per_step: 2, step_times: s.csv }").at("a").unmeasured,
            "steps of several prompts");
  EXPECT_TRUE(classes_of("gpreempt", server + " }").empty());
}

TEST(ErrorClasses, SayWhatNothingMeasured) {
  EXPECT_EQ(classes_of("passthrough").at("b").unmeasured, "");
  EXPECT_EQ(classes_of("passthrough", ", host_gaps: recorded").at("a").unmeasured, "its rate alone");
  EXPECT_EQ(classes_of("passthrough", ", solo_rate: 4/s").at("a").unmeasured, "");
  EXPECT_EQ(classes_of("passthrough", "", "l4").at("b").unmeasured, "the device");
  EXPECT_EQ(classes_of("passthrough", "", "l4").at("b").label(), "turns of 2 programs, but not the device");
}

/// Two programs of which a is bound by the device, in turns: 10 jobs per second of 25 alone.
PredictedRuns two_programs(const std::string& mechanism = "turns") {
  std::map<std::pair<std::string, std::string>, double> figures = {
      {{"a", "throughput_per_s"}, 10}, {{"a", "solo_throughput_per_s"}, 25}, {{"a", "gpu_busy_ratio"}, 0.38},
      {{"a", "slowdown"}, 2.5},        {{"a", "job_time_p50_ms"}, 100},      {{"a", "job_interval_p99_ms"}, 120},
      {{"b", "throughput_per_s"}, 9},  {{"b", "solo_throughput_per_s"}, 10}, {{"b", "gpu_busy_ratio"}, 0.2},
      {{"b", "job_time_p50_ms"}, 300}, {{"b", "job_interval_p99_ms"}, 330},  {{"b", "wait_p99_ms"}, 5}};
  return {
      {{"a", {mechanism, 2}}, {"b", {mechanism, 2}}}, "passthrough", {}, [figures](const auto& client, auto metric) {
        const auto found = figures.find({client, std::string(metric)});
        return found == figures.end() ? std::optional<double>() : found->second;
      }};
}

/// The same with a game, whose name is "game".
PredictedRuns with_game() {
  PredictedRuns runs = two_programs();
  runs.classes["game"] = {"turns", 3};
  runs.mean = [programs = runs.mean](const auto& client, auto metric) -> std::optional<double> {
    if (client != "game") return programs(client, metric);
    if (metric == "fps_mean" || metric == "throughput_per_s") return 50;
    if (metric == "solo_throughput_per_s") return 60;
    return metric == "frame_time_p99_ms" ? std::optional(30.0) : std::nullopt;
  };
  return runs;
}

void expect_band(const PredictedRuns& runs, const char* client, const char* metric, double low, double high) {
  const auto band = figure_band(Bands(kTable), runs, client, metric);
  ASSERT_TRUE(band) << client << ' ' << metric;
  EXPECT_NEAR(band->low, low, 1e-9) << client << ' ' << metric;
  EXPECT_NEAR(band->high, high, 1e-9) << client << ' ' << metric;
}

TEST(FigureBand, OfARateIsThatOfItsBoundAndEndsAtTheRateAlone) {
  expect_band(two_programs(), "a", "throughput_per_s", 9.5, 10.4);
  expect_band(two_programs(), "b", "throughput_per_s", 7.2, 10);
  expect_band(two_programs(), "a", "slowdown", 25 / 10.4, 25 / 9.5);
}

TEST(FigureBand, UnderMpsADeviceBoundProgramIsNotToldFromAnyOther) {
  expect_band(two_programs("mps"), "a", "throughput_per_s", 8.5, 11.5);
  expect_band(two_programs("mps"), "b", "throughput_per_s", 7.2, 10);
}

TEST(FigureBand, OfCountedProgramsThatShareSmsHangsOnWhatTheirKernelsUse) {
  const std::string table = std::string(kTable) + "kept,mps,sms,any,24,0.95,1.10,0.9,1.2\n";
  const MeanUse streams{.dram = 0.8, .l2 = 0.7, .sms = 0.1, .counted = 0.9},
      caches{.dram = 0.2, .l2 = 0.7, .sms = 0.6, .counted = 0.9},
      computes{.dram = 0.3, .l2 = 0.3, .sms = 0.8, .counted = 1};
  const auto low_of = [&](const std::string& mechanism, const MeanUse& use, double busy) {
    PredictedRuns runs = two_programs(mechanism);
    runs.notes = {counted_use_note("b", computes, 1.0), counted_use_note("a", use, busy)};
    return figure_band(Bands(table), runs, "a", "throughput_per_s")->low;
  };
  EXPECT_NEAR(low_of("mps", streams, 0.97), 8.5, 1e-9) << "no class of its own";
  EXPECT_NEAR(low_of("mps", caches, 0.97), 8.5, 1e-9);
  EXPECT_NEAR(low_of("mps", computes, 0.97), 9.5, 1e-9);
  EXPECT_NEAR(low_of("mps", computes, 0.5), 8.5, 1e-9) << "its host holds it up, too";
  EXPECT_NEAR(low_of("turns", streams, 0.97), 9.5, 1e-9) << "turns share no SMs";
}

TEST(FigureBand, OfATailIsOfProgramsWhoseHostIsNotFarAhead) {
  expect_band(two_programs(), "a", "job_interval_p99_ms", 60, 288);
  EXPECT_FALSE(figure_band(Bands(kTable), two_programs(), "b", "job_interval_p99_ms")) << "three jobs are under way";
  EXPECT_FALSE(figure_band(Bands(kTable), two_programs(), "b", "wait_p99_ms")) << "never compared";
  EXPECT_FALSE(figure_band(Bands(kTable), two_programs("mps"), "a", "job_interval_p99_ms"));
}

TEST(FigureBand, WithAGameTurnsAreAClassOfTheirOwnAndMpsHasNone) {
  expect_band(with_game(), "game", "fps_mean", 45, 50);
  expect_band(with_game(), "game", "frame_time_p99_ms", 24, 42);
  expect_band(with_game(), "a", "throughput_per_s", 8.6, 10);
  PredictedRuns mps = with_game();
  for (auto& [client, its] : mps.classes) its.mechanism = "mps";
  EXPECT_FALSE(figure_band(Bands(kTable), mps, "a", "throughput_per_s"));
}

TEST(FigureBand, OfUnknownDrawsReachesOverTheirEndsAndNoOtherFigureOfTheRunHasOne) {
  PredictedRuns runs = with_game();
  runs.notes = {unknown_draws_note("game", {"nvshare 10.0 to 20.0", "passthrough 40.0 to 60.0"})};
  expect_band(runs, "game", "fps_mean", 36, 60);
  EXPECT_FALSE(figure_band(Bands(kTable), runs, "game", "frame_time_p99_ms"));
  EXPECT_FALSE(figure_band(Bands(kTable), runs, "a", "throughput_per_s"));
  runs.notes = {unknown_draws_note("game", {"passthrough unknown"})};
  EXPECT_FALSE(figure_band(Bands(kTable), runs, "game", "fps_mean"));
}

TEST(FigureBand, OfFewJobsReachesOverOneJobFewerOrMoreAndATailOfThemHasNone) {
  PredictedRuns runs = two_programs();
  for (auto& [client, its] : runs.classes) its.measured_s = 0.5;  // five jobs of a
  expect_band(runs, "a", "throughput_per_s", 9.5 * 4 / 5, 10.4 * 6 / 5);
  expect_band(runs, "a", "slowdown", 25 / (10.4 * 6 / 5), 25 / (9.5 * 4 / 5));
  EXPECT_FALSE(figure_band(Bands(kTable), runs, "a", "job_interval_p99_ms"));
  for (auto& [client, its] : runs.classes) its.measured_s = 1;
  expect_band(runs, "a", "throughput_per_s", 9.5, 10.4);
  expect_band(runs, "a", "job_interval_p99_ms", 60, 288);
}

TEST(FigureBand, IsWiderWhereTheDeviceWasNeverMeasured) {
  PredictedRuns runs = two_programs();
  for (auto& [client, its] : runs.classes) its.unmeasured = "the device";
  expect_band(runs, "a", "throughput_per_s", 9, 11);
  EXPECT_FALSE(figure_band(Bands(kTable), {{}, "passthrough", {}, runs.mean}, "a", "throughput_per_s"));
}

}  // namespace
}  // namespace corun
