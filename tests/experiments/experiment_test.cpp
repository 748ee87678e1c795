#include <gtest/gtest.h>

#include "experiments/device_file.h"
#include "tests/experiments/experiment_text.h"

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
  EXPECT_EQ(complaints(with("sweep: {}")), Lines{"10:1: E0201 unknown key `sweep`"});
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
  EXPECT_EQ(found[5], "7:5: E0202 client `a` is given twice");
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
  EXPECT_EQ(complaints(head + "  - { name: a }\n"),
            Lines{"5:5: E0202 client `a` has no work / give it a `trace:` or a `synthetic:`"});
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
            "5:46: E0202 a scene needs `gpu`, the mean GPU time of its frames, and `dwell`, the mean length of a stay");
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

TEST(DeviceFiles, EveryBuiltInDeviceNamesTheSourceOfEveryNumber) {
  ASSERT_EQ(builtin_devices().size(), 4U);
  for (const BuiltinDevice& builtin : builtin_devices()) {
    const DeviceFile device = read_device_file(builtin.text, std::string(builtin.model));
    EXPECT_EQ(device.spec.name, builtin.model);
    for (const char* key : {"sm_count", "memory", "time_slice", "switch_cost", "sharing", "graphics"})
      EXPECT_FALSE(device.sources.at(key).empty()) << builtin.model << " " << key;
  }
}

TEST(DeviceFiles, TheMeasuredFiguresOfTheH200) {
  DeviceFile h200;
  for (const BuiltinDevice& builtin : builtin_devices())
    if (builtin.model == "h200") h200 = read_device_file(builtin.text, "h200.yaml");
  EXPECT_EQ(h200.spec.time_slice, Duration(2'097'152));
  EXPECT_EQ(h200.spec.switch_cost, Duration(175'000));
  EXPECT_EQ(h200.spec.memory_bytes, 150'109'880'320U);
}

TEST(DeviceFiles, ANumberWithoutASourceIsRefused) {
  EXPECT_THROW(read_device_file("name: x\nsm_count: { value: 3 }\n", "x.yaml"), InvalidInput);
  EXPECT_THROW(read_device_file("name: x\nsm_count: 3\n", "x.yaml"), InvalidInput);
}

TEST(ExperimentDocument, DescribesEveryKey) {
  std::ifstream stream(CORUN_SOURCE_DIR "/docs/experiment.md");
  const std::string page(std::istreambuf_iterator<char>(stream), {});
  ASSERT_FALSE(page.empty());
  for (const char* key : {"version", "name", "description", "device", "horizon", "warmup", "seeds", "defaults",
                          "clients", "policies", "scenarios", "record", "output", "expect"})
    EXPECT_NE(page.find(fmt::format("`{}`", key)), std::string::npos) << key;
  for (const auto& field : device_fields())
    EXPECT_NE(page.find(fmt::format("`{}`", field.key)), std::string::npos) << field.key;
}

}  // namespace
}  // namespace corun
