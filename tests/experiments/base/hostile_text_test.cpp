// Experiment files that were made to harm: what is said of them stays short, and is said soon.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>

#include "experiments/base/diagnostic.h"
#include "experiments/base/terminal.h"
#include "experiments/base/yaml.h"
#include "tests/experiments/question/experiment_text.h"

namespace corun {
namespace {

using testing::complaints;
using namespace std::chrono_literals;

constexpr char kRest[] = ", clients: [{ name: a, synthetic: { kernels: { duration: 1ms } } }]";

std::string rendered(const std::string& text) {
  try {
    testing::read_text(text);
  } catch (const InvalidInput& invalid) {
    std::string all;
    for (const Diagnostic& diagnostic : invalid.diagnostics()) all += render(diagnostic, DiagnosticStyle::kFull, false);
    return all + std::to_string(invalid.suppressed());
  }
  return "accepted";
}

long peak_kb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

struct Huge {
  const char* name;
  std::string text;
  std::size_t problems;
};

std::string repeated(std::size_t count, const std::function<std::string(std::size_t)>& piece) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += piece(i);
  return text;
}

class HugeFile : public ::testing::TestWithParam<Huge> {};
INSTANTIATE_TEST_SUITE_P(
    Of, HugeFile,
    ::testing::Values(Huge{"Policies",
                           "{name: ok, device: h200, policies: [" + repeated(200'000, [](auto) { return "x,"; }) + "]" +
                               kRest + "}",
                           1},
                      Huge{"SamePolicies",
                           "{name: ok, device: h200, policies: [" +
                               repeated(5000, [](auto) { return "passthrough,"; }) + "]" + kRest + "}",
                           4999},
                      Huge{"Keys",
                           "{name: ok, device: h200, policies: [passthrough]" + std::string(kRest) +
                               repeated(60'000, [](auto i) { return ",k" + std::to_string(i) + ": 1"; }) + "}",
                           60'000},
                      Huge{"Seeds",
                           "{name: ok, device: h200, policies: [passthrough], seeds: [" +
                               repeated(150'000, [](auto i) { return std::to_string(i) + ","; }) + "x]" + kRest + "}",
                           1},
                      Huge{"LongKey",
                           "{name: ok, device: h200, policies: [passthrough]" + std::string(kRest) + ", " +
                               std::string(900'000, 'k') + ": 1}",
                           1}),
    [](const auto& file) { return file.param.name; });

TEST_P(HugeFile, IsRefusedSoonAndInFewWords) {
  const long before = peak_kb();
  const auto begin = std::chrono::steady_clock::now();
  const std::string text = rendered(GetParam().text);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s) << "a second on an idle machine";
  EXPECT_LT(peak_kb() - before, 300'000) << "kB";
  EXPECT_LT(text.size(), 100'000u);
  const std::string more = std::to_string(GetParam().problems - std::min<std::size_t>(GetParam().problems, 20));
  EXPECT_TRUE(text.ends_with("\n" + more)) << text.substr(text.size() - 300);
}

TEST(Diagnostic, ALongLineIsShownAroundThePlace) {
  Diagnostics diagnostics;
  const std::string line = std::string(5000, 'a') + "HERE" + std::string(5000, 'b');
  diagnostics.add_source("e.yaml", line);
  diagnostics.add({"E0201", {"e.yaml", 1, 5001, 4}, "wrong"});
  try {
    diagnostics.throw_if_any();
    FAIL();
  } catch (const InvalidInput& invalid) {
    const std::string text = render(invalid.diagnostics()[0], DiagnosticStyle::kFull, false);
    EXPECT_LT(text.size(), 600u);
    const std::size_t shown = text.find("HERE"), carets = text.find("^^^^");
    ASSERT_NE(shown, std::string::npos);
    EXPECT_EQ(shown - text.rfind('\n', shown), carets - text.rfind('\n', carets)) << text;
    EXPECT_EQ(text.find("^^^^^"), std::string::npos);
  }
}

/// The first in the file are shown, in whatever order they are found.
TEST(Diagnostic, OfManyTheFirstOfTheFileAreShownEachOnce) {
  Diagnostics diagnostics;
  diagnostics.add_source("e.yaml", "");
  for (std::uint32_t line = 5000; line > 0; --line)
    for (int twice = 0; twice < 2; ++twice) diagnostics.add({"E0201", {"e.yaml", line, 1, 1}, "wrong"});
  EXPECT_EQ(diagnostics.count(), 5000u);
  try {
    diagnostics.throw_if_any();
    FAIL();
  } catch (const InvalidInput& invalid) {
    ASSERT_EQ(invalid.diagnostics().size(), 20u);
    for (std::uint32_t i = 0; i < 20; ++i) EXPECT_EQ(invalid.diagnostics()[i].where.line, i + 1);
    EXPECT_EQ(invalid.suppressed(), 4980u);
  }
}

TEST(Yaml, AByteOrderMarkIsNoPartOfTheText) {
  Diagnostics diagnostics;
  const Node root = parse_yaml("\xEF\xBB\xBFname: x\nb: 1\n", "f.yaml", diagnostics);
  EXPECT_TRUE(diagnostics.empty());
  ASSERT_NE(root.find("name"), nullptr);
  EXPECT_EQ(root.entries[0].where.to_string(), "f.yaml:1:1");
}

std::string of_name(const std::string& name) {
  return "{name: " + name + ", device: h200, policies: [passthrough]" + kRest + "}";
}

TEST(ExperimentName, IsTheNameOfAFile) {
  for (const std::string& name : {std::string("/x/y"), std::string("../x"), std::string(".."), std::string(300, 'n'),
                                  std::string("\"a\\nb\""), std::string("\"\\e[31m\"")}) {
    const std::vector<std::string> found = complaints(of_name(name));
    ASSERT_EQ(found.size(), 1u) << name;
    EXPECT_NE(found[0].find("cannot name an experiment"), std::string::npos) << found[0];
    EXPECT_EQ(found[0].substr(0, 5), "1:8: ") << "at the name";
  }
  EXPECT_NE(complaints(of_name("\"a\\0b\""))[0].find("holds the character NUL"), std::string::npos);
  EXPECT_EQ(testing::read_text(of_name("a b-c_1.2")).name, "a b-c_1.2");
}

TEST(Pacing, WhatNoDisplayCanDoIsFoundInTheFile) {
  const auto paced = [](const std::string& pacing) {
    return "{name: x, device: h200, policies: [passthrough], clients: [{ name: a, pacing: " + pacing +
           ", synthetic: { game: { gpu: 4ms } } }]}";
  };
  for (const char* pacing : {"99999999999999fps", "2000000fps", "0.00001/s", "{ rate: 99999999999999/s }"}) {
    const std::vector<std::string> found = complaints(paced(pacing));
    ASSERT_GE(found.size(), 1u) << pacing;
    EXPECT_NE(found[0].find("out of range, expected a rate from"), std::string::npos) << found[0];
  }
}

TEST(Printable, TurnsNoDirectionOfWriting) {
  for (const char* mark : {"\u202E", "\u2066", "\u200F", "\u061C", "\u2028"})
    EXPECT_EQ(printable(std::string("a") + mark + "b").find(mark), std::string::npos);
  EXPECT_EQ(printable("\u05d0\u05d1 \u2013 \u20ac"), "\u05d0\u05d1 \u2013 \u20ac");
}

}  // namespace
}  // namespace corun
