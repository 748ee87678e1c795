#include "sim/calibration/probes/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sim/calibration/probes/work_kind.h"

namespace corun::calibration {
namespace {

using Names = std::vector<std::string>;
using Settings = std::map<std::string, std::int64_t>;

constexpr std::int64_t kMicro = 1'000, kMilli = 1'000'000;
constexpr auto kCompute = static_cast<std::int64_t>(WorkKind::kCompute);
constexpr auto kAdd = static_cast<std::int64_t>(WorkKind::kAdd);
constexpr auto kCache = static_cast<std::int64_t>(WorkKind::kCache);

Names names_in(const std::string& group, const std::string& prefix = "") {
  Names names;
  for (const Trial& trial : calibration_plan())
    if (trial.group == group && trial.name.starts_with(prefix)) names.push_back(trial.name);
  return names;
}

const Trial& trial_called(const std::string& name) {
  const auto found = std::ranges::find(calibration_plan(), name, &Trial::name);
  if (found == calibration_plan().end()) throw std::runtime_error("no trial " + name);
  return *found;
}

const Settings& settings_of(const std::string& trial, std::size_t role = 0) {
  return trial_called(trial).probes.at(role).settings;
}

/// "spin spin short"
std::string probes_of(const std::string& trial) {
  std::string text;
  for (const ProbeChoice& probe : trial_called(trial).probes) text += (text.empty() ? "" : " ") + probe.probe;
  return text;
}

TEST(CalibrationPlan, BeginsWithThePropertiesAndHasItsGroupsInTheOrderOfTheirWorth) {
  EXPECT_EQ(calibration_groups(), (Names{"device", "slice", "idle", "copy", "launch", "context", "clock", "priority",
                                         "graphics", "sm_rate", "mps"}));
  EXPECT_EQ(calibration_plan().front().name, "device");
  std::set<std::string> names;
  for (const Trial& trial : calibration_plan()) EXPECT_TRUE(names.insert(trial.name).second) << trial.name;
}

TEST(CalibrationPlan, SlicesAreOfSpinnersAndOfProgramsOfEveryKindAndFill) {
  EXPECT_EQ(names_in("slice"),
            (Names{"slice_alone", "slice_two", "slice_three", "slice_full", "slice_work_compute", "slice_work_add",
                   "slice_work_cache", "slice_fill_5", "slice_fill_25", "slice_fill_50"}));
  EXPECT_EQ(settings_of("slice_alone"), (Settings{{"duration_ns", 300 * kMilli}, {"full", 0}}));
  EXPECT_EQ(probes_of("slice_three"), "spin spin spin");
  EXPECT_EQ(settings_of("slice_full", 1), (Settings{{"duration_ns", 1'000 * kMilli}, {"full", 1}}));
  EXPECT_EQ(settings_of("slice_work_add", 1), (Settings{{"kind", kAdd},
                                                        {"length_ns", 200 * kMicro},
                                                        {"duration_ns", 1'000 * kMilli},
                                                        {"waves", 1},
                                                        {"fill_percent", 100}}));
  EXPECT_EQ(settings_of("slice_fill_5").at("fill_percent"), 5);
  EXPECT_EQ(settings_of("slice_fill_5").at("kind"), kCompute);
  EXPECT_EQ(trial_called("slice_two").repetitions, 2u);
  EXPECT_EQ(trial_called("slice_three").repetitions, 1u);
}

TEST(CalibrationPlan, ShortKernelsWakeBesideSpinnersAndQueues) {
  EXPECT_EQ(names_in("idle"),
            (Names{"idle_short", "idle_two", "idle_queue_10000us", "idle_queue_500us", "idle_two_queues"}));
  EXPECT_EQ(probes_of("idle_two"), "spin spin short");
  EXPECT_EQ(probes_of("idle_two_queues"), "load load short");
  EXPECT_EQ(
      settings_of("idle_short", 1),
      (Settings{
          {"length_ns", 20 * kMicro}, {"period_ns", 7 * kMilli}, {"duration_ns", 2'500 * kMilli}, {"blocks", 1}}));
  EXPECT_EQ(settings_of("idle_two", 2).at("period_ns"), 12 * kMilli);
  EXPECT_EQ(settings_of("idle_queue_10000us").at("length_ns"), 10 * kMilli);
  EXPECT_EQ(settings_of("idle_queue_500us").at("length_ns"), 500 * kMicro);
  EXPECT_EQ(settings_of("idle_queue_500us", 1).at("period_ns"), 7 * kMilli);
  EXPECT_EQ(settings_of("idle_two_queues", 2).at("period_ns"), 12 * kMilli);
  EXPECT_EQ(settings_of("idle_two_queues").at("length_ns"), 10 * kMilli);
  for (const std::string& name : names_in("idle"))
    for (const ProbeChoice& probe : trial_called(name).probes)
      EXPECT_EQ(probe.settings.at("duration_ns"), 2'500 * kMilli) << name;
}

TEST(CalibrationPlan, FramesAreDrawnBesideAsManySpinnersAsTheirNameSays) {
  EXPECT_EQ(names_in("graphics"),
            (Names{"draw_long", "draw_1_ahead_1_beside_0", "draw_1_ahead_1_beside_1", "draw_1_finished_beside_1",
                   "draw_1_ahead_1_beside_2", "draw_1_finished_beside_2", "draw_1_ahead_1_beside_3",
                   "draw_1_finished_beside_3", "draw_1_ahead_3_beside_1", "draw_2_ahead_1_beside_1",
                   "draw_2_ahead_3_beside_1", "draw_4_ahead_1_beside_1", "draw_4_ahead_3_beside_1",
                   "draw_4_ahead_1_beside_3", "draw_1_paced_beside_1", "draw_1_paced_long_beside_1",
                   "draw_1_paced_beside_3", "draw_1_paced_long_beside_3"}));
  for (const std::string& name : names_in("graphics", "draw_")) {
    const std::size_t beside = name == "draw_long" ? 1 : static_cast<std::size_t>(name.back() - '0');
    const Trial& trial = trial_called(name);
    ASSERT_EQ(trial.probes.size(), 1 + beside) << name;
    EXPECT_EQ(trial.probes[0].probe, "draw");
    for (std::size_t i = 1; i <= beside; ++i) EXPECT_EQ(trial.probes[i].probe, "spin");
    for (const ProbeChoice& probe : trial.probes) EXPECT_EQ(probe.settings.at("duration_ns"), 800 * kMilli) << name;
    const Settings& draw = trial.probes[0].settings;
    const bool is_finished = name.find("finished") != std::string::npos,
               is_paced = name.find("paced") != std::string::npos;
    EXPECT_EQ(draw.at("finish"), is_finished ? 1 : 0) << name;
    EXPECT_EQ(draw.at("period_ns"), is_paced ? 16'666'667 : 0) << "60 a second: " << name;
    EXPECT_EQ(draw.at("draws"), name == "draw_long" ? 1 : name[5] - '0') << name;
    EXPECT_EQ(draw.at("ahead"), name.find("ahead_3") != std::string::npos ? 3 : 1) << name;
  }
  EXPECT_EQ(settings_of("draw_long").at("frame_ns"), 8 * kMilli);
  for (const char* name : {"draw_1_ahead_1_beside_0", "draw_1_finished_beside_2", "draw_2_ahead_3_beside_1",
                           "draw_4_ahead_1_beside_3", "draw_1_paced_beside_3"})
    EXPECT_EQ(settings_of(name).at("frame_ns"), 2'250 * kMicro) << name;
  EXPECT_EQ(settings_of("draw_1_paced_long_beside_1").at("frame_ns"), 8'850 * kMicro);
}

TEST(CalibrationPlan, RatesAreOfPartsOfTheMultiprocessorsThatMpsGives) {
  EXPECT_EQ(names_in("sm_rate"),
            (Names{"sm_rate_100", "sm_rate_75", "sm_rate_50", "sm_rate_33", "sm_rate_25", "sm_rate_12", "sm_fill"}));
  for (const int percent : {100, 75, 50, 33, 25, 12}) {
    const Trial& trial = trial_called("sm_rate_" + std::to_string(percent));
    EXPECT_TRUE(trial.under_mps);
    EXPECT_EQ(trial.probes[0].thread_percent, percent);
  }
  EXPECT_FALSE(trial_called("sm_fill").under_mps);
  EXPECT_EQ(probes_of("sm_fill"), "fills");
}

TEST(CalibrationPlan, PairsUnderMpsFillThePartsThatTheirNamesSay) {
  EXPECT_EQ(names_in("mps", "mps_part_"),
            (Names{"mps_part_whole_1000us_50_1000us_50", "mps_part_whole_1000us_75_1000us_75",
                   "mps_part_whole_2000us_75_250us_50", "mps_part_whole_1000us_90_1000us_25",
                   "mps_part_1000us_50x1_1000us_50x1", "mps_part_1000us_75x1_1000us_75x1",
                   "mps_part_2000us_75x1_250us_50x1", "mps_part_1000us_90x1_1000us_25x1",
                   "mps_part_1000us_100x1_300us_100x1", "mps_part_1000us_100x10_300us_100x10"}));
  EXPECT_EQ(settings_of("mps_part_2000us_75x1_250us_50x1", 1), (Settings{{"kind", kCompute},
                                                                         {"length_ns", 250 * kMicro},
                                                                         {"duration_ns", 600 * kMilli},
                                                                         {"waves", 1},
                                                                         {"fill_percent", 50}}));
  EXPECT_EQ(settings_of("mps_part_2000us_75x1_250us_50x1").at("length_ns"), 2'000 * kMicro);
  EXPECT_EQ(settings_of("mps_part_1000us_100x10_300us_100x10", 1).at("waves"), 10);
  EXPECT_EQ(settings_of("mps_part_whole_1000us_90_1000us_25").at("fill_percent"), 90);
  EXPECT_EQ(settings_of("mps_part_whole_1000us_90_1000us_25", 1).at("fill_percent"), 25);
  EXPECT_EQ(settings_of("mps_part_whole_1000us_90_1000us_25", 1).at("whole"), 1);
  for (const std::string& name : names_in("mps")) EXPECT_TRUE(trial_called(name).under_mps) << name;
}

TEST(CalibrationPlan, EveryKindOfWorkMeetsEveryOtherUnderMps) {
  EXPECT_EQ(names_in("mps", "mps_loss_"),
            (Names{"mps_loss_add_add", "mps_loss_add_cache", "mps_loss_add_compute", "mps_loss_cache_cache",
                   "mps_loss_cache_compute", "mps_loss_compute_compute"}));
  EXPECT_EQ(settings_of("mps_loss_add_cache").at("kind"), kAdd);
  EXPECT_EQ(settings_of("mps_loss_add_cache", 1), (Settings{{"kind", kCache},
                                                            {"length_ns", 200 * kMicro},
                                                            {"duration_ns", 600 * kMilli},
                                                            {"waves", 4},
                                                            {"fill_percent", 100}}));
}

TEST(CalibrationPlan, TinyKernelsMeetThoseThatFillTheDevice) {
  EXPECT_EQ(names_in("mps", "mps_tiny_"),
            (Names{"mps_tiny_beside_1_waves", "mps_tiny_beside_40_waves", "mps_tiny_beside_traffic",
                   "mps_tiny_beside_half", "mps_tiny_compute_beside_compute", "mps_tiny_cache_beside_compute",
                   "mps_tiny_compute_beside_add", "mps_tiny_cache_beside_add"}));
  EXPECT_EQ(
      settings_of("mps_tiny_beside_half"),
      (Settings{{"length_ns", 5 * kMicro}, {"period_ns", 2 * kMilli}, {"duration_ns", 600 * kMilli}, {"blocks", 4}}));
  EXPECT_EQ(settings_of("mps_tiny_beside_half", 1).at("fill_percent"), 50);
  EXPECT_EQ(settings_of("mps_tiny_beside_40_waves", 1).at("waves"), 40);
  EXPECT_EQ(settings_of("mps_tiny_beside_40_waves", 1).at("length_ns"), 1'000 * kMicro);
  EXPECT_EQ(settings_of("mps_tiny_beside_traffic", 1).at("kind"), kAdd);
  EXPECT_EQ(settings_of("mps_tiny_beside_traffic", 1).at("length_ns"), 200 * kMicro);
  EXPECT_EQ(settings_of("mps_tiny_cache_beside_add"), (Settings{{"length_ns", 20 * kMicro},
                                                                {"period_ns", 2 * kMilli},
                                                                {"duration_ns", 600 * kMilli},
                                                                {"blocks", 66},
                                                                {"kind", kCache},
                                                                {"threads", 256}}));
  EXPECT_EQ(settings_of("mps_tiny_cache_beside_compute", 1).at("waves"), 4);
}

TEST(CalibrationPlan, SmallKernelsComeOneAfterAnotherAndWorkingSetsFitOrDoNot) {
  EXPECT_EQ(names_in("mps", "mps_small_"), (Names{"mps_small_compute_beside_compute", "mps_small_cache_beside_compute",
                                                  "mps_small_compute_beside_add", "mps_small_cache_beside_add"}));
  EXPECT_EQ(settings_of("mps_small_compute_beside_add").at("length_ns"), 10 * kMicro);
  EXPECT_EQ(settings_of("mps_small_compute_beside_add").at("blocks"), 66);
  EXPECT_EQ(names_in("mps", "mps_turns_"),
            (Names{"mps_turns_4mib_32", "mps_turns_8mib_16", "mps_turns_16mib_8", "mps_turns_32mib_4"}));
  EXPECT_EQ(settings_of("mps_turns_32mib_4", 1), (Settings{{"kind", kCache},
                                                           {"length_ns", 0},
                                                           {"duration_ns", 400 * kMilli},
                                                           {"waves", 1},
                                                           {"fill_percent", 100},
                                                           {"place_bytes", 16 << 20},
                                                           {"passes", 4}}));
  EXPECT_EQ(probes_of("mps_spin"), "spin spin");
  EXPECT_EQ(settings_of("mps_spin").at("duration_ns"), 400 * kMilli);
}

TEST(CalibrationPlan, ATrialTakesAsLongAsItsLongestProbeAndTheStartOfEach) {
  const auto expected_ms = [](const std::string& name) { return to_ns(trial_called(name).expected()) / kMilli; };
  EXPECT_EQ(expected_ms("device"), 700 + 900);
  EXPECT_EQ(expected_ms("slice_alone"), 300 + 900);
  EXPECT_EQ(expected_ms("slice_two"), 2 * (1'000 + 2 * 900));
  EXPECT_EQ(expected_ms("copy_beside"), 700 + 2 * 900);
  EXPECT_EQ(expected_ms("context"), 2 * (700 + 2 * 900));
  EXPECT_EQ(settings_of("copy_beside").at("repetitions"), 15);
  EXPECT_EQ(settings_of("copy_beside", 1).at("duration_ns"), 500 * kMilli);
}

}  // namespace
}  // namespace corun::calibration
