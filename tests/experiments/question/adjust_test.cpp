#include <gtest/gtest.h>

#include <set>

#include "experiments/run/plan.h"
#include "tests/experiments/question/experiment_text.h"

namespace corun {
namespace {

using testing::complaints;
using testing::read_text;
using Lines = std::vector<std::string>;

/// The item of the policy begins at column 12.
std::string with_policy(const std::string& item, const std::string& more = "") {
  return "name: x\ndevice: h200\nclients: [{ name: a, synthetic: { game: rdr2 } }]\n" + more + "policies: [" + item +
         "]\n";
}
std::string with_adjust(const std::string& list) {
  return with_policy("{ nvshare: { quantum: 20s }, as: lock, adjust: " + list + " }");
}

TEST(Adjustments, AreReadInOrderOfTimeWithTheValuesOfTheirParameters) {
  const Experiment read =
      read_text(with_adjust("[{ at: 2s, quantum: 5s }, { at: 4s, anti_thrash: false, quantum: 9s }]"));
  const PolicyChoice& policy = read.scenarios[0].policies[0];
  EXPECT_EQ(policy.label, "lock");
  EXPECT_EQ(policy.parameters.duration("quantum"), std::chrono::seconds(20));
  Lines texts;
  for (const Adjustment& adjustment : policy.adjustments)
    texts.push_back(fmt::format("{} s: {}={}", to_seconds(adjustment.at), adjustment.parameter,
                                format_parameter(adjustment.value)));
  EXPECT_EQ(texts, (Lines{"2 s: quantum=5s", "4 s: anti_thrash=false", "4 s: quantum=9s"}));
}

TEST(Adjustments, MistakesAreLocated) {
  EXPECT_EQ(complaints(with_adjust("[{ at: 2s }]")),
            Lines{"4:60: E0202 an adjustment needs `at`, and a parameter's value from then on"});
  EXPECT_EQ(complaints(with_adjust("[{ at: 2s, quantm: 5s }]")),
            Lines{"4:70: E0203 unknown adjustable parameter of policy `nvshare`: `quantm` / did you mean `quantum`?"});
  EXPECT_EQ(complaints(with_adjust("[{ at: 2s, reserve_mib: 5 }]")),
            Lines{"4:70: E0203 unknown adjustable parameter of policy `nvshare`: `reserve_mib`"});
  EXPECT_EQ(complaints(with_adjust("[{ at: 2s, anti_thrash: off }]"))[0].substr(0, 50),
            "4:83: E0204 parameter 'anti_thrash' is 'off', expe");
  EXPECT_EQ(complaints(with_adjust("[{ at: 2s, quantum: 5s }, { at: 2s, quantum: 6s }]")),
            Lines{"4:85: E0202 found an adjustment at 2s after one at 2s, expected a later one"});
  EXPECT_EQ(complaints(with_adjust("[{ at: 2, quantum: 5s }]"))[0].substr(0, 40),
            "4:66: E0202 found `2`, expected a durati");
  EXPECT_EQ(complaints(with_policy("{ passthrough: {}, adjust: [{ at: 2s, quantum: 5s }] }")),
            Lines{"4:39: E0202 policy `passthrough` has no parameters that may change in a run"});
}

TEST(Adjustments, CountInTheRunsIdWithTimeAndValue) {
  std::set<std::string> ids;
  const Lines lists = {"[]", "[{ at: 2s, quantum: 5s }]", "[{ at: 3s, quantum: 5s }]", "[{ at: 2s, quantum: 6s }]"};
  for (const std::string& list : lists) ids.insert(make_plan(read_text(with_adjust(list))).runs[0].id);
  EXPECT_EQ(ids.size(), lists.size());
  const std::string without = with_policy("{ nvshare: { quantum: 20s }, as: lock }");
  EXPECT_TRUE(ids.contains(make_plan(read_text(without)).runs[0].id));
}

TEST(Adjustments, OfTheCardsOfAClusterAreRefused) {
  const std::string cluster =
      "cluster: { nodes: [{ name: n, cards: 1 }], pods: [{ name: p, client: a, cards: 0.5, runtime: 1s }], "
      "sharing: { nvshare: {}, adjust: [{ at: 2s, quantum: 5s }] } }\n";
  const Lines found = complaints(with_policy("bin_pack", cluster));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("`adjust` is for the policy of one device"), std::string::npos) << found[0];
}

}  // namespace
}  // namespace corun
