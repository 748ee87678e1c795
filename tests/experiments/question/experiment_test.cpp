#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "experiments/question/clients/client_fields.h"
#include "experiments/question/device_file.h"
#include "experiments/run/run_inputs.h"
#include "tests/experiments/question/experiment_text.h"

namespace corun {
namespace {

using testing::complaints;
using testing::kTinyExperiment;
using testing::read_text;
using Lines = std::vector<std::string>;

std::string with(const std::string& more) { return kTinyExperiment + more + "\n"; }

TEST(ExperimentFile, FillsInDefaults) {
  const Experiment experiment = read_text(kTinyExperiment);
  ASSERT_EQ(experiment.scenarios.size(), 1U);
  const Scenario& scenario = experiment.scenarios[0];
  EXPECT_EQ(scenario.name, "tiny");
  EXPECT_EQ(scenario.seeds, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(scenario.warmup_or_default(), Duration(50'000'000));
  EXPECT_EQ(scenario.device.sm_count, 132U);
  EXPECT_EQ(scenario.clients[0].pacing->period, Duration(16'666'667));
  EXPECT_EQ(scenario.clients[0].duration_jitter, 0.05);
  EXPECT_TRUE(scenario.clients[0].random_phase);
}

TEST(ExperimentFile, AMissingUnitIsAnErrorThatSuggestsOne) {
  EXPECT_EQ(complaints("name: x\nhorizon: 100\ndevice: h200\nclients: [{ name: a, synthetic: { game: rdr2 } "
                       "}]\npolicies: [passthrough]\n")[0],
            "2:10: E0202 found `100`, expected a duration / a duration needs a unit: did you mean `100s`?");
}

TEST(ExperimentFile, AnUnknownKeyIsAnErrorThatSuggestsOne) {
  EXPECT_EQ(complaints(with("horizn: 2s")), Lines{"10:1: E0201 unknown key `horizn` / did you mean `horizon`?"});
  EXPECT_EQ(complaints(with("exploration: {}")), Lines{"10:1: E0201 unknown key `exploration`"});
}

TEST(ExperimentFile, AllErrorsComeAtOnceInTheOrderOfTheFile) {
  const Lines found = complaints(R"(
name: x
device: { model: h2oo, switch_cost: 100 }
horizon: soon
clients:
  - { name: a, synthetic: { game: rdr3 }, role: interactiv }
  - { name: a, synthetic: { game: rdr2 } }
policies:
  - pilotfsh
  - nvshare: { quantm: 3s, quantum: 3 }
)");
  ASSERT_EQ(found.size(), 9U) << fmt::format("{}", fmt::join(found, "\n"));
  EXPECT_EQ(found[0], "3:18: E0302 unknown device model `h2oo` / did you mean `h200`?");
  EXPECT_EQ(found[2],
            "4:10: E0202 found `soon`, expected a duration in ns, us, ms, s, min or h / for example `16.6ms`");
  EXPECT_EQ(found[3], "6:35: E0303 unknown game `rdr3` / did you mean `rdr2`?");
  EXPECT_EQ(found[5], "7:5: E0202 client `a` is given twice / two that are alike are `count: 2`");
  EXPECT_EQ(found[6], "9:5: E0301 unknown policy `pilotfsh` / did you mean `pilotfish`?");
  EXPECT_EQ(found[7], "10:16: E0203 unknown parameter of policy `nvshare`: `quantm` / did you mean `quantum`?");
  EXPECT_TRUE(found[8].starts_with("10:37: E0204 parameter 'quantum' is '3'")) << found[8];
}

TEST(ExperimentFile, AtMostTwentyErrorsAreShownAndTheRestCounted) {
  std::string text = "name: x\n";
  for (int i = 0; i < 30; ++i) text += fmt::format("unknown{}: 1\n", i);
  try {
    read_text(text);
    FAIL();
  } catch (const InvalidInput& invalid) {
    EXPECT_EQ(invalid.diagnostics().size(), 20U);
    EXPECT_EQ(invalid.suppressed(), 13U);  // thirty keys, and device, clients and policies are missing
  }
}

TEST(ExperimentFile, AClientNeedsExactlyOneKindOfWork) {
  const std::string head = "name: x\ndevice: h200\npolicies: [passthrough]\nclients:\n";
  EXPECT_EQ(
      complaints(head + "  - { name: a }\n"),
      Lines{
          "5:5: E0202 client `a` has no work / give it a `trace:` or a `synthetic:`, or a `command:` for a live run"});
  EXPECT_EQ(complaints(head + "  - { name: a, trace: t, synthetic: { game: rdr2 } }\n"),
            Lines{"5:5: E0202 client `a` has a `trace` and a `synthetic`: which?"});
  EXPECT_EQ(complaints(head + "  - { name: device, trace: t }\n"), Lines{"5:5: E0202 `device` cannot name a client"});
}

/// The complaints about one kind of synthetic work, without the place of the client.
Lines about_synthetic(const std::string& work) {
  return complaints("name: x\ndevice: h200\npolicies: [passthrough]\nclients:\n  - { name: a, synthetic: { " + work +
                    " } }\n");
}

TEST(ExperimentFile, EveryKindOfSyntheticWorkIsRead) {
  for (const char* work :
       {"game: rdr2", "game: { profile: rdr2, subtasks: measured }",
        "game: { scenes: [{ gpu: 3ms, dwell: 2s }, { gpu: 6ms, cv: 0.1, dwell: 3s }] }",
        "game: { gpu: 4ms, subtasks: { least: 2, most: 3, gap: 100us } }",
        "training: { profile: bert, launch_gap: 5us, straggler_probability: 0.01%, straggler_factor: 100 }",
        "requests: { rate: 5/s, mean: 3ms, kernels: 10 }",
        "program: [{ cpu: 1s }, { gpu: 2s, kernel: 20ms, duty: 85% }]",
        "kernels: { duration: 1ms, blocks: 4096, count: 3, launch_gap: 5us }"})
    EXPECT_EQ(about_synthetic(work), Lines{}) << work;
}

TEST(ExperimentFile, SyntheticWorkOverridesAProfile) {
  const Experiment experiment =
      read_text(with("scenarios: [{ name: s, clients: [{ name: a, synthetic: { training: { "
                     "profile: resnet50, launch_gap: 3us } } }] }]"));
  const auto& training = std::get<TrainingProfile>(experiment.scenarios[0].clients[0].synthetic->numbers);
  EXPECT_EQ(training.launch_gap, Duration(3'000));
  EXPECT_EQ(training.kernels_per_iteration, 946U);
}

TEST(ExperimentFile, MistakesInSyntheticWorkAreLocatedAndSayWhatIsMissing) {
  EXPECT_EQ(about_synthetic("program: [{ cpu: 1s, gpu: 2s }]")[0],
            "5:39: E0202 a phase is either `cpu` time or `gpu` time with a `kernel` length");
  EXPECT_EQ(about_synthetic("program: [{ gpu: 2s }]")[0],
            "5:39: E0202 a phase of `gpu` time needs `kernel`, the length of its kernels");
  EXPECT_EQ(about_synthetic("program: [{ cpu: 2s }]")[0], "5:38: E0202 a program needs a phase of `gpu` time");
  EXPECT_EQ(about_synthetic("kernels: { blocks: 5 }")[0], "5:38: E0202 kernels need a `duration`");
  EXPECT_EQ(about_synthetic("kernels: { duration: 1ms, block: 5 }")[0],
            "5:55: E0201 unknown key `block` / did you mean `blocks`?");
  EXPECT_EQ(about_synthetic("game: { gpu: 4ms, visits: 2, subtasks: measured }")[0],
            "5:35: E0202 a frame is cut into `visits` or into `subtasks`: which?");
  EXPECT_EQ(about_synthetic("game: { scenes: [{ gpu: 4ms }] }")[0],
            "5:46: E0202 a scene needs `gpu`, the mean GPU time of its frames, or a `trace` of them, and `dwell`, the "
            "length of a "
            "stay");
  EXPECT_EQ(about_synthetic("training: { launch_gap: 3us }")[0],
            "5:39: E0202 a training job needs a `profile` / for example `{ profile: resnet50, launch_gap: 5us }`");
  EXPECT_EQ(about_synthetic("game: { gpu: 4ms, subtasks: { gap: 3ms } }")[0],
            "5:57: E0202 `longest_gap_sum` is below half of what the gaps of the most pieces sum to on average");
}

TEST(ExperimentFile, ALimitForAnUnknownClientIsRefused) {
  const Lines found = complaints(with("scenarios: [{ name: s, policies: [{ gaiagpu: { limits: { gaem: 0.4 } } }] }]"));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("did you mean `game`?"), std::string::npos) << found[0];
}

TEST(ExperimentFile, ALimitOutsideItsRangeIsRefused) {
  const Lines found = complaints(with("scenarios: [{ name: s, policies: [{ gaiagpu: { limits: { game: 1.4 } } }] }]"));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("found `1.4`, expected a number from 0.01 to 1"), std::string::npos) << found[0];
}

TEST(ExperimentFile, TheSamePolicyTwiceNeedsALabel) {
  EXPECT_EQ(complaints(with("scenarios: [{ name: s, policies: [nvshare, nvshare] }]")).size(), 1U);
  const Experiment experiment =
      read_text(with("scenarios: [{ name: s, policies: [nvshare, { nvshare: { quantum: 5s }, as: short }] }]"));
  EXPECT_EQ(experiment.scenarios[0].policies[1].label, "short");
  EXPECT_EQ(experiment.scenarios[0].policies[1].parameters.duration("quantum"), std::chrono::seconds(5));
}

TEST(ExperimentFile, ScenariosTakeWhatTheyDoNotSayFromTheTop) {
  const Experiment experiment =
      read_text(with("scenarios: [{ name: a, horizon: 1s }, { name: b, device: { sharing: concurrent } }]"));
  EXPECT_EQ(experiment.scenarios[0].horizon, std::chrono::seconds(1));
  EXPECT_EQ(experiment.scenarios[1].horizon, std::chrono::milliseconds(500));
  EXPECT_EQ(experiment.scenarios[0].device.sharing, Sharing::kTimeSliced);
  EXPECT_EQ(experiment.scenarios[1].device.sharing, Sharing::kConcurrent);
  EXPECT_EQ(experiment.scenarios[1].device.sm_count, 132U);
}

TEST(ExperimentFile, AQualityLevelIsNamedOrCountedInTheClientOrTheDefaults) {
  const Experiment experiment =
      read_text(with("defaults: { quality_level: LO }\n"
                     "scenarios: [{ name: s, clients: [{ name: a, synthetic: { game: rdr2 }, quality: default }, "
                     "{ name: b, synthetic: { game: rdr2 }, quality: default, quality_level: 1 }] }]"));
  EXPECT_EQ(experiment.scenarios[0].clients[0].quality_level, 2U);
  EXPECT_EQ(experiment.scenarios[0].clients[1].quality_level, 1U);
  EXPECT_EQ(complaints(with("defaults: { quality_level: LO }")).size(), 1U);
}

/// An experiment with one game, `keys` among those of the client.
std::string with_game(const std::string& keys, const std::string& game = "{ gpu: 4ms }") {
  return fmt::format(
      "name: x\ndevice: h200\npolicies: [passthrough]\nclients:\n  - {{ name: a, {}, synthetic: {{ game: "
      "{} }} }}\n",
      keys, game);
}

ClientChoice game_with(const std::string& keys) { return read_text(with_game(keys)).scenarios[0].clients[0]; }

TEST(Clients, ManyAlikeAreNumberedAndComeOneAfterAnother) {
  const Experiment experiment = read_text(with_game("arrival: 1s, count: 3, every: 2s, stay: 5s"));
  const std::vector<ClientChoice>& clients = experiment.scenarios[0].clients;
  ASSERT_EQ(clients.size(), 3U);
  EXPECT_EQ(clients[0].name, "a") << "as where it is alone, so that expectations hold for every count";
  EXPECT_EQ(clients[2].name, "a#3");
  EXPECT_EQ(clients[2].arrival, std::chrono::seconds(5));
  EXPECT_EQ(clients[2].stay, std::chrono::seconds(5));
  EXPECT_EQ(game_with("stay: 1ms").name, "a") << "one alone has its name";
}

TEST(Clients, ANumberedNameThatIsTakenIsAnError) {
  const auto found = complaints(
      "name: x\ndevice: h200\npolicies: [passthrough]\ndefaults: { synthetic: { game: rdr2 } }\n"
      "clients: [{ name: a#2 }, { name: a, count: 2 }]\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("client `a#2` is given twice"), std::string::npos) << found[0];
}

TEST(Quality, KnobsAreTheUsualOnesCutDownToThirtyTwoSettings) {
  const ClientChoice game = game_with("quality: knobs");
  EXPECT_EQ(game.quality_menu.size(), 32U);
  EXPECT_EQ(game.knobs.size(), 7U);
  EXPECT_EQ(game_with("quality: { knobs: usual, most: 5 }").quality_menu.size(), 5U);
}

TEST(Quality, OwnKnobsMakeTheMenu) {
  const ClientChoice game = game_with(
      "quality: { knobs: [{ name: fog, levels: [{ cost: 1, loss: 0 }, { cost: 0.9, loss: 30% }], switch_cost: 5ms }, "
      "{ name: aa, levels: [{}, { cost: 0.5, loss: 0.2 }] }] }, quality_level: 1/1");
  ASSERT_EQ(game.quality_menu.size(), 3U) << "1/0 costs and loses more than 0/1";
  EXPECT_EQ(game.knobs[0].switch_cost, Duration(5'000'000));
  EXPECT_EQ(game.quality_menu[game.quality_level].name, "1/1");
  EXPECT_DOUBLE_EQ(game.quality_menu.back().cost, 0.45);
}

TEST(Quality, ASettingOfAListMayCostSomethingToSwitchTo) {
  const ClientChoice game =
      game_with("quality: [{ name: HI }, { name: LO, cost: 0.3, quality: 0.7, switch_cost: 5ms }]");
  EXPECT_EQ(game.switch_costs, (std::vector<Duration>{Duration(0), Duration(5'000'000)}));
}

TEST(Quality, AClientsMenuReplacesThatOfTheDefaults) {
  const Experiment experiment =
      read_text(with("defaults: { quality: knobs }\nscenarios: [{ name: s, clients: [{ name: a, "
                     "synthetic: { game: rdr2 }, quality: default }] }]"));
  EXPECT_EQ(experiment.scenarios[0].clients[0].quality_menu.size(), 3U);
  EXPECT_TRUE(experiment.scenarios[0].clients[0].knobs.empty());
}

TEST(Quality, MistakesInKnobsAreLocatedAndSayWhatIsExpected) {
  const auto about = [](const std::string& menu) {
    const Lines found = complaints(with_game("quality: " + menu));
    return found.empty() ? "accepted" : found[0];
  };
  const auto about_levels = [&](const std::string& levels) {
    return about("{ knobs: [{ name: fog, levels: [" + levels + "] }] }");
  };
  EXPECT_EQ(about("{ most: 8 }"),
            "5:25: E0202 a menu made of knobs needs `knobs` / for example `{ knobs: usual, most: 16 }`");
  EXPECT_EQ(about("{ knobs: usual, most: 1 }"), "5:47: E0202 found `1`, expected a whole number from 2 to 64");
  EXPECT_EQ(about("{ knobs: usual, most: 65 }"), "5:47: E0202 found `65`, expected a whole number from 2 to 64");
  EXPECT_EQ(about("{ knobs: [] }"), "5:34: E0202 found 0 knobs, expected 1 to 8");
  EXPECT_EQ(about("{ knobs: [{ name: fog }] }").substr(0, 57),
            "5:35: E0202 a knob needs a `name` and `levels` / for exam");
  EXPECT_EQ(about_levels("{ cost: 1 }"), "5:56: E0202 found 1 levels, expected 2 to 5");
  EXPECT_EQ(about_levels("{ cost: 0.9 }, { cost: 0.8, loss: 0.1 }"),
            "5:57: E0202 the first level of knob `fog` costs 0.9 and loses 0 / the first level is the best, which the "
            "others are measured by: cost 1, loss 0");
  EXPECT_EQ(about_levels("{}, { cost: 0.8, loss: 0.1 }, { cost: 0.8, loss: 0.2 }"),
            "5:87: E0202 a level of knob `fog` costs 0.8 and loses 0.2, the one before costs 0.8 and loses 0.1 / each "
            "level costs less and loses more than the one before");
  EXPECT_EQ(about("{ knobs: [{ name: a, levels: [{}, { cost: 0.8, loss: 0.1 }] }, { name: a, levels: [{}, { cost: 0.8, "
                  "loss: 0.1 }] }] }"),
            "5:88: E0202 knob `a` is given twice");
  EXPECT_EQ(about("knob"),
            "5:25: E0202 found text, expected a list / for example: [{ name: HI, cost: 1, quality: 1 }, "
            "...], `default`, or `knobs`");
}

TEST(Resizes, WhatOneDoesNotStateStaysAsItWas) {
  const ClientChoice game = game_with(
      "resizes: [{ at: 20s, share: 0.6 }, { at: 30s, memory: 4GiB }, { at: 40s, share: 20%, memory: 1GiB }], "
      "share: 0.3, requested_memory: 2GiB");
  EXPECT_EQ(game.requested_share, 0.3);
  EXPECT_EQ(game.requested_bytes, std::uint64_t{2} << 30);
  ASSERT_EQ(game.resizes.size(), 3U);
  EXPECT_EQ(game.resizes[0].at, std::chrono::seconds(20));
  EXPECT_EQ(game.resizes[0].share, 0.6);
  EXPECT_EQ(game.resizes[0].bytes, std::uint64_t{2} << 30);
  EXPECT_EQ(game.resizes[1].share, 0.6);
  EXPECT_EQ(game.resizes[1].bytes, std::uint64_t{4} << 30);
  EXPECT_EQ(game.resizes[2].share, 0.2);
}

TEST(Resizes, MistakesAreLocated) {
  EXPECT_EQ(complaints(with_game("share: 1.5")), Lines{"5:23: E0202 found `1.5`, expected a number from 0.001 to 1"});
  EXPECT_EQ(complaints(with_game("resizes: [{ at: 2s }]")),
            Lines{"5:26: E0202 a resize needs `at`, and a `share` or a `memory` from then on"});
  EXPECT_EQ(complaints(with_game("resizes: [{ at: 2s, share: 0.5 }, { at: 2s, share: 0.6 }]")),
            Lines{"5:50: E0202 found a resize at 2s after one at 2s, expected a later one"});
  EXPECT_EQ(complaints(with_game("resizes: [{ at: 2, share: 0.5 }]"))[0],
            "5:32: E0202 found `2`, expected a duration / a duration needs a unit: did you mean `2s`?");
}

constexpr char kFrames[] =
    "Application,ProcessID,SwapChainAddress,Runtime,SyncInterval,PresentFlags,Dropped,TimeInSeconds,msInPresentAPI,"
    "msBetweenPresents,msGPUActive\n"
    "game.exe,1000,0x1,D3D12,0,0,0,1.000,0.1,16.7,5.0\n"
    "game.exe,1000,0x1,D3D12,0,0,0,1.017,0.1,16.7,6.0\n"
    "game.exe,1000,0x1,D3D12,0,0,0,1.033,0.1,16.7,7.0\n";

constexpr char kKernels[] = CORUN_SOURCE_DIR "/tests/experiments/transcripts/files/alone.corun";

/// One game in a folder with a capture of frames of 5, 6 and 7 ms.
class CapturedScenes {
 public:
  explicit CapturedScenes(const std::string& scenes, const std::string& frames = kFrames,
                          const std::string& more = "") {
    add_builtin_policies(policies_);
    testing::write_text(folder_, "frames.csv", frames);
    const std::string text = with_game("phase: 0", "{ scenes: [" + scenes + "]" + more + " }");
    experiment_ = read_experiment(testing::write_text(folder_, "e.yaml", text), {}, policies_);
    plan_ = make_plan(experiment_);
  }

  Workload workload() {
    RunInputs run_inputs(experiment_, plan_.hashes, policies_);
    return *run_inputs.clients(experiment_.scenarios[0], 1)[0].workload;
  }
  const std::string& run_id() const { return plan_.runs[0].id; }

 private:
  testing::TemporaryFolder folder_;
  PolicyRegistry policies_;
  Experiment experiment_;
  Plan plan_;
};

TEST(CapturedScenes, HaveTheCapturesGpuTimesScaledBesideDrawnScenes) {
  CapturedScenes lab("{ trace: frames.csv, scale: 1.5, dwell: 1s, settings_on_cost: 0.5 }, { gpu: 2ms, dwell: 1s }");
  const Workload workload = lab.workload();
  ASSERT_EQ(workload.scenes.size(), 2U);
  EXPECT_EQ(workload.scenes[0].on_cost, 0.5);
  EXPECT_EQ(workload.scenes[1].on_cost, 1);
  std::set<double> captured, drawn;
  for (const Job& job : workload.jobs)
    (job.scene == 1 ? captured : drawn).insert(to_milliseconds(workload.device_time(job)));
  EXPECT_EQ(captured, (std::set{7.5, 9.0, 10.5}));
  EXPECT_EQ(drawn, std::set{2.0});
}

TEST(SyntheticGames, FramesThatAreNotPacedMayTakeAnyTime) {
  const auto longest = [](const std::string& pacing) {
    const Experiment experiment = read_text(with_game("pacing: " + pacing, "{ gpu: 57ms }"));
    PolicyRegistry policies;
    const FileHashes hashes;
    RunInputs run_inputs(experiment, hashes, policies);
    const auto workload = run_inputs.clients(experiment.scenarios[0], 1)[0].workload;
    return workload->device_time(workload->jobs[0]);
  };
  EXPECT_EQ(longest("uncapped"), std::chrono::milliseconds(57));
  EXPECT_EQ(longest("60fps"), 2 * Duration(16'666'667));
}

TEST(CapturedScenes, CountInTheRunsIdByTheirContentScaleEffectsAndOrder) {
  const std::string scene = "{ trace: frames.csv, dwell: 1s }";
  const std::string id = CapturedScenes(scene).run_id();
  EXPECT_EQ(CapturedScenes(scene).run_id(), id);
  EXPECT_NE(CapturedScenes(scene, std::string(kFrames) + " ").run_id(), id);
  EXPECT_NE(CapturedScenes("{ trace: frames.csv, dwell: 1s, scale: 2 }").run_id(), id);
  EXPECT_NE(CapturedScenes("{ trace: frames.csv, dwell: 1s, settings_on_loss: 2 }").run_id(), id);
  EXPECT_NE(CapturedScenes(scene, kFrames, ", scene_order: listed").run_id(), id);
}

TEST(CapturedScenes, ACaptureOfOtherWorkIsRefusedAtItsPlace) {
  CapturedScenes lab(fmt::format("{{ trace: {}, dwell: 1s }}", std::filesystem::absolute(kKernels).string()));
  try {
    lab.workload();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_EQ(error.where().line, 5U);
    EXPECT_NE(error.message().find("a scene is made of frames"), std::string::npos) << error.message();
  }
}

TEST(CapturedScenes, AMissingCaptureIsAnErrorAtItsPlace) {
  try {
    CapturedScenes lab("{ trace: none.csv, dwell: 1s }");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_EQ(error.where().line, 5U);
  }
}

TEST(Scenes, MistakesAreLocated) {
  EXPECT_EQ(about_synthetic("game: { scenes: [{ gpu: 4ms, trace: t, dwell: 1s }] }"),
            Lines{"5:46: E0202 a scene has `gpu` and `cv`, or the frames of a `trace`: which?"});
  EXPECT_EQ(about_synthetic("game: { scenes: [{ trace: t }] }")[0].substr(0, 12), "5:46: E0202 ");
  EXPECT_EQ(about_synthetic("game: { scenes: [{ trace: '', dwell: 1s }] }"),
            Lines{"5:55: E0202 `trace` names no file"});
  EXPECT_EQ(about_synthetic("game: { scenes: [{ gpu: 4ms, scale: 2, dwell: 1s }] }"),
            Lines{"5:46: E0202 `scale` is for the frames of a `trace`"});
  EXPECT_EQ(about_synthetic("game: { gpu: 4ms, scene_order: listed }"),
            Lines{"5:60: E0202 `scene_order` needs `scenes`"});
  EXPECT_EQ(about_synthetic("game: { scene_order: liste, scenes: [{ gpu: 4ms, dwell: 1s }] }"),
            Lines{"5:50: E0202 found `liste`, expected one of markov, listed / did you mean `listed`?"});
  EXPECT_EQ(about_synthetic("game: { scenes: [{ gpu: 4ms, dwell: 1s, settings_on_cost: -1 }] }"),
            Lines{"5:87: E0202 found `-1`, expected a number from 0 to 3"});
}

TEST(Plan, WhatSettingsAndRequestsSayCountsInTheRunsId) {
  std::set<std::string> ids;
  const std::vector<std::string> clients = {
      "phase: 0",
      "share: 0.3",
      "requested_memory: 1GiB",
      "resizes: [{ at: 2s, share: 0.3 }]",
      "resizes: [{ at: 3s, share: 0.3 }]",
      "quality: [{ name: HI }, { name: LO, cost: 0.3 }]",
      "quality: [{ name: HI }, { name: LO, cost: 0.3, switch_cost: 1ms }]",
      "quality: { knobs: [{ name: fog, levels: [{}, { cost: 0.9, loss: 0.1 }] }] }",
      "quality: { knobs: [{ name: fog, levels: [{}, { cost: 0.9, loss: 0.1 }], switch_cost: 1ms }] }",
  };
  for (const std::string& keys : clients) ids.insert(make_plan(read_text(with_game(keys))).runs[0].id);
  EXPECT_EQ(ids.size(), clients.size());
}

TEST(SetOption, ChangesValuesByIndexAndByName) {
  const Experiment experiment =
      read_text(kTinyExperiment, {{"horizon=2s", "clients.game.pacing=30fps", "clients[1].arrival=10ms",
                                   "policies[1]=nvshare", "policies.nvshare.quantum=7s", "device.switch_cost=0s"},
                                  {},
                                  {}});
  const Scenario& scenario = experiment.scenarios[0];
  EXPECT_EQ(scenario.horizon, std::chrono::seconds(2));
  EXPECT_EQ(scenario.clients[0].pacing->period, Duration(33'333'333));
  EXPECT_EQ(scenario.clients[1].arrival, std::chrono::milliseconds(10));
  EXPECT_EQ(scenario.policies[1].parameters.duration("quantum"), std::chrono::seconds(7));
}

TEST(SetOption, ErrorsNameThePlaceOnTheCommandLine) {
  try {
    read_text(kTinyExperiment, {{"seeds=2", "horizon=soon"}, {}, {}});
    FAIL();
  } catch (const InvalidInput& invalid) {
    EXPECT_EQ(invalid.diagnostics()[0].where.to_string(), "<command line>:2:9");
    EXPECT_EQ(invalid.diagnostics()[0].source_line, "horizon=soon");
  }
  EXPECT_EQ(complaints(kTinyExperiment, {{"clients.nobody.arrival=1s"}, {}, {}}).size(), 1U);
  EXPECT_EQ(complaints(kTinyExperiment, {{"horizon"}, {}, {}}).size(), 1U);
  EXPECT_EQ(complaints(kTinyExperiment, {{"clients[7].arrival=1s"}, {}, {}}).size(), 1U);
}

TEST(Overrides, SeedsReplaceAndUntilShortens) {
  const Experiment experiment = read_text(kTinyExperiment, {{}, {9}, std::chrono::milliseconds(100)});
  EXPECT_EQ(experiment.scenarios[0].seeds, std::vector<std::uint64_t>{9});
  EXPECT_EQ(experiment.scenarios[0].horizon, std::chrono::milliseconds(100));
  EXPECT_EQ(experiment.scenarios[0].warmup_or_default(), std::chrono::milliseconds(10));
}

TEST(ExperimentDocument, DescribesEveryKey) {
  std::ifstream stream(CORUN_SOURCE_DIR "/docs/experiment.md");
  const std::string page(std::istreambuf_iterator<char>(stream), {});
  ASSERT_FALSE(page.empty());
  for (const char* key : {"version", "name", "description", "device", "horizon", "warmup", "seeds", "defaults",
                          "clients", "policies", "scenarios", "record", "output", "expect", "sweep"})
    EXPECT_NE(page.find(fmt::format("`{}`", key)), std::string::npos) << key;
  for (const auto& field : device_fields())
    EXPECT_NE(page.find(fmt::format("`{}`", field.key)), std::string::npos) << field.key;
  for (const auto& field : client_fields())
    EXPECT_NE(page.find(fmt::format("`{}`", field.key)), std::string::npos) << field.key;
  for (const char* key : {"scenes", "scene_order", "trace", "scale", "dwell", "settings_on_cost", "settings_on_loss"})
    EXPECT_NE(page.find(fmt::format("`{}`", key)), std::string::npos) << key;
}

}  // namespace
}  // namespace corun
