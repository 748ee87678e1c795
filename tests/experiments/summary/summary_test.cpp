#include "experiments/summary/summary.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/experiments/question/experiment_text.h"

namespace corun {
namespace {

/// Two programs under two policies for 2 s, of which 200 ms are warm-up.
Experiment pair_of_programs(const std::string& more = "") {
  return testing::read_text(
      "name: x\nhorizon: 2s\ndevice: h200\npolicies: [passthrough, exclusive]\n"
      "clients: [{ name: a, synthetic: { training: resnet50 } },"
      " { name: b, synthetic: { training: bert } }]\n" +
      more);
}

RunOutcome outcome_of(const std::vector<Metric>& metrics) {
  RunOutcome outcome;
  outcome.metrics = metrics;
  outcome.metrics.push_back({"device", "gpu_busy_ratio", 0.5, "ratio"});
  return outcome;
}

Metric rate_of(const char* client, double per_s, const char* name = "throughput_per_s") {
  return {client, name, per_s, "1/s"};
}

const RunSpec kFirst{0, 0, 1, ""};

std::vector<std::string> lines_with(const std::string& text, const std::string& word) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    if (line.find(word) != std::string::npos) lines.push_back(line);
  }
  return lines;
}

TEST(SummaryNotes, AClientOfWhichNothingCountsIsSaidToHaveNoTime) {
  Experiment experiment = pair_of_programs();
  Summary summary(experiment);
  EXPECT_TRUE(summary.notes(experiment.scenarios[0]).empty()) << "no run was done";
  summary.add(kFirst, outcome_of({rate_of("a", 20)}));
  const std::vector<std::string> notes = summary.notes(experiment.scenarios[0]);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(notes[0].starts_with(
      "b: nothing of it counts: it has no time between the warm-up and the end, 200ms to 2s; shorten"))
      << notes[0];
  experiment.scenarios[0].clients[1].command.words = {"program"};
  EXPECT_TRUE(summary.notes(experiment.scenarios[0]).empty()) << "a live run itself says why";
}

TEST(SummaryNotes, AClientThatWasTurnedAwayCountsForNothingAndNeedsNoNote) {
  const Experiment experiment = pair_of_programs();
  Summary summary(experiment);
  summary.add(kFirst, outcome_of({rate_of("a", 20), {"b", "refused", 1, "count"}}));
  EXPECT_TRUE(summary.notes(experiment.scenarios[0]).empty());
  EXPECT_EQ(lines_with(summary.table(experiment.scenarios[0]), "refused").size(), 1u);
}

TEST(SummaryNotes, WhatRunsAssumedIsSaidOnceEachInOrder) {
  const Experiment experiment = pair_of_programs();
  Summary summary(experiment);
  RunOutcome outcome = outcome_of({rate_of("a", 20), rate_of("b", 20)});
  outcome.notes = "one\ntwo";
  summary.add(kFirst, outcome);
  outcome.notes = "two\nthree\n";
  summary.add({0, 1, 1, ""}, outcome);
  EXPECT_EQ(summary.notes(experiment.scenarios[0]), (std::vector<std::string>{"one", "two", "three"}));
}

TEST(SummaryTable, SaysWhyThereIsNoFigure) {
  const Experiment experiment = pair_of_programs();
  Summary summary(experiment);
  const Scenario& scenario = experiment.scenarios[0];
  EXPECT_EQ(lines_with(summary.table(scenario), "not run").size(), 4u);
  summary.add(kFirst, outcome_of({rate_of("a", 20)}));
  RunOutcome broken;
  broken.error = Error(ErrorKind::kPolicy, {}, "it broke");
  summary.add({0, 1, 3, ""}, broken);
  const std::string table = summary.table(scenario);
  EXPECT_EQ(lines_with(table, "failed").size(), 2u) << table;
  EXPECT_EQ(lines_with(table, "not measured").size(), 1u) << table;
  EXPECT_EQ(lines_with(table, "20.0 /s").size(), 1u) << table;
  EXPECT_EQ(summary.failures(), 1u);
  EXPECT_EQ(summary.failure_kinds(), std::set{ErrorKind::kPolicy});
  EXPECT_EQ(summary.failure_lines()[0].substr(0, 23), "x, exclusive, seed 3: i");
}

TEST(SummaryTable, FewJobsAreCountedWhereTheyMakeARate) {
  const Experiment experiment = pair_of_programs();
  const auto rate_cell = [&](double per_s) {
    Summary summary(experiment);
    summary.add(kFirst, outcome_of({rate_of("a", per_s), rate_of("b", 100)}));
    return lines_with(summary.table(experiment.scenarios[0]), " a ").at(0);
  };
  EXPECT_NE(rate_cell(5).find("5.00 /s (9 jobs)"), std::string::npos) << rate_cell(5);
  EXPECT_NE(rate_cell(0.5).find("0.500 /s (1 job)"), std::string::npos) << rate_cell(0.5);
  EXPECT_EQ(rate_cell(5.6).find("job"), std::string::npos) << "ten and more";
}

TEST(SummaryTable, JobsAloneDecideWhetherTheyAreFew) {
  const Experiment experiment = pair_of_programs();
  Summary summary(experiment);
  summary.add(kFirst, outcome_of({rate_of("a", 1), rate_of("a", 50, "solo_throughput_per_s"), rate_of("b", 100)}));
  const std::string table = summary.table(experiment.scenarios[0]);
  EXPECT_EQ(table.find("job"), std::string::npos) << "alone it ends enough: that it ends few here is a result";
}

TEST(SummaryGet, MeansAreOverTheSeedsThatWentWell) {
  const Experiment experiment = pair_of_programs();
  Summary summary(experiment);
  const Scenario& scenario = experiment.scenarios[0];
  for (const double per_s : {10, 20, 60}) summary.add(kFirst, outcome_of({rate_of("a", per_s)}));
  EXPECT_EQ(summary.get(scenario, "passthrough", "a", "throughput_per_s")->mean, 30);
  EXPECT_EQ(summary.get(scenario, "passthrough", "a", "throughput_per_s")->count, 3u);
  EXPECT_FALSE(summary.get(scenario, "exclusive", "a", "throughput_per_s"));
}

TEST(SummaryGet, FiguresThatCountFromZeroAreNoneInRunsThatDoNotNameThem) {
  const Experiment experiment = pair_of_programs();
  Summary summary(experiment);
  RunOutcome outcome = outcome_of({{"b", "gpu_busy_ratio", 0.1, "ratio"}});
  summary.add(kFirst, outcome);
  outcome.metrics.push_back({"b", "refused", 1, "count"});
  summary.add(kFirst, outcome);
  EXPECT_EQ(summary.get(experiment.scenarios[0], "passthrough", "b", "refused")->mean, 0.5);
}

TEST(SummaryVerdicts, CompareAFigureWithABoundOrWithAnother) {
  const Experiment experiment = pair_of_programs(
      "expect: [passthrough.a.throughput_per_s >= 20/s, passthrough.a.throughput_per_s > 20/s,"
      " passthrough.a.throughput_per_s >= 0.5 * passthrough.b.throughput_per_s,"
      " exclusive.a.throughput_per_s > 1/s]\n");
  Summary summary(experiment);
  summary.add(kFirst, outcome_of({rate_of("a", 20), rate_of("b", 41)}));
  const std::vector<Summary::Verdict> verdicts = summary.verdicts(experiment.scenarios[0], false);
  ASSERT_EQ(verdicts.size(), 4u);
  EXPECT_TRUE(verdicts[0].holds);
  EXPECT_EQ(verdicts[0].text, "passthrough.a.throughput_per_s >= 20/s: 20.0 /s");
  EXPECT_FALSE(verdicts[1].holds);
  EXPECT_FALSE(verdicts[2].holds) << "20 is less than half of 41";
  EXPECT_TRUE(verdicts[2].text.ends_with(": 20.0 /s against 41.0 /s")) << verdicts[2].text;
  EXPECT_FALSE(verdicts[3].holds);
  EXPECT_EQ(verdicts[3].text, "exclusive.a.throughput_per_s > 1/s: no run gave this figure");
  EXPECT_TRUE(summary.verdicts(experiment.scenarios[0], true).empty());
}

/// Two captured programs in turns and one after the other.
Experiment captured_pair(const std::string& device = "h200") {
  return testing::read_text("name: x\nhorizon: 2s\ndevice: " + device +
                            "\npolicies: [passthrough, exclusive]\n"
                            "clients: [{ name: a, trace: a.corun, solo_rate: 25/s },"
                            " { name: b, trace: b.corun, solo_rate: 10/s }]\n");
}

void add_pair(Summary& summary) {
  const RunOutcome outcome = outcome_of({rate_of("a", 10),
                                         rate_of("a", 25, "solo_throughput_per_s"),
                                         {"a", "gpu_busy_ratio", 0.39, "ratio"},
                                         rate_of("b", 5),
                                         rate_of("b", 10, "solo_throughput_per_s"),
                                         {"b", "gpu_busy_ratio", 0.1, "ratio"}});
  for (const std::size_t policy : {0, 1}) summary.add({0, policy, 1, ""}, outcome);
}

TEST(SummaryBands, AreThoseOfTheClassesAndNamePoliciesThatHaveNone) {
  const Experiment experiment = captured_pair();
  Summary summary(experiment);
  add_pair(summary);
  const std::string text = summary.bands(experiment.scenarios[0]);
  const auto device = Bands::built_in().of("kept", "turns", "device", 2);
  EXPECT_EQ(lines_with(text, "passthrough  a ").size(), 1u) << text;
  EXPECT_EQ(lines_with(text, fmt::format("10.0 /s ({:.1f} to {:.1f})", 10 * device->low, 10 * device->high)).size(), 1u)
      << text;
  EXPECT_EQ(lines_with(text, fmt::format("0.40 ({:.2f} to {:.2f})", 0.4 * device->low, 0.4 * device->high)).size(), 1u)
      << text;
  EXPECT_EQ(lines_with(text, "no band, too few measured co-runs: exclusive").size(), 1u) << text;
  EXPECT_EQ(text.find("wider"), std::string::npos);
  EXPECT_NEAR(summary.band(experiment.scenarios[0], "passthrough", "a", "throughput_per_s")->low, 10 * device->low,
              1e-9);
  EXPECT_FALSE(summary.band(experiment.scenarios[0], "exclusive", "a", "throughput_per_s"));
}

TEST(SummaryBands, SayWhatMakesThemWider) {
  const Experiment experiment = captured_pair("l4");
  Summary summary(experiment);
  add_pair(summary);
  const std::string text = summary.bands(experiment.scenarios[0]);
  const auto all = Bands::built_in().of("kept", "turns", "device", 2, Measured::kPart);
  EXPECT_EQ(lines_with(text, "wider: nothing measured the device").size(), 2u) << text;
  EXPECT_EQ(lines_with(text, fmt::format("10.0 /s ({:.1f} to {:.1f})", 10 * all->low, 10 * all->high)).size(), 1u)
      << text;
}

TEST(SummaryBands, AreNoneOfMadeUpProgramsAndOfWhatRanOnHardware) {
  Experiment experiment = pair_of_programs();
  Summary summary(experiment);
  EXPECT_EQ(summary.bands(experiment.scenarios[0]), "") << "no run was done";
  add_pair(summary);
  EXPECT_EQ(summary.bands(experiment.scenarios[0]), "no band, too few measured co-runs: passthrough, exclusive\n");
  experiment.scenarios[0].backend = "gpu";
  EXPECT_EQ(summary.bands(experiment.scenarios[0]), "");
}

TEST(SummarySlowerHosts, MakeRangesOfWhatHangsOnThem) {
  const Experiment experiment = captured_pair();
  const Scenario& scenario = experiment.scenarios[0];
  Summary summary(experiment);
  add_pair(summary);
  summary.add_slower(scenario, "passthrough",
                     outcome_of({rate_of("a", 8), rate_of("a", 20, "solo_throughput_per_s"), rate_of("b", 5)}));
  const std::string table = summary.table(scenario);
  EXPECT_EQ(lines_with(table, "8.00 to 10.0 /s").size(), 1u) << "passthrough alone: " << table;
  EXPECT_EQ(lines_with(table, "5.00 /s").size(), 2u) << "what does not hang on them is one number: " << table;
  EXPECT_EQ(lines_with(summary.bands(scenario), "0.32 to 0.40").size(), 1u) << "of the rate alone with its own host";
  EXPECT_EQ(summary.get(scenario, "passthrough", "a", "throughput_per_s")->mean, 10) << "results stay";
  EXPECT_EQ(summary.slower(scenario, "passthrough", "a", "throughput_per_s"), 8);
  EXPECT_FALSE(summary.slower(scenario, "exclusive", "a", "throughput_per_s"));
}

TEST(SummaryTable, HasTheBasisOfEachPolicyOnce) {
  const Experiment experiment = captured_pair();
  Summary summary(experiment);
  add_pair(summary);
  const std::string table = summary.table(experiment.scenarios[0]);
  EXPECT_EQ(lines_with(table, " compared").size(), 2u) << table;
  EXPECT_EQ(lines_with(table, "never compared").size(), 1u) << "exclusive: " << table;
}

}  // namespace
}  // namespace corun
