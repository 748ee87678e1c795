#include "sim/calibration/probes/sample.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "traces/base/error.h"

namespace corun::calibration {
namespace {

std::string failure(const std::string& text) {
  try {
    samples_from_json_lines(text, "x.jsonl");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "";
}

TEST(Samples, ComeBackFromTheirFileAsTheyWere) {
  EXPECT_TRUE(rc::check([] {
    Sample sample;
    sample.trial = *rc::gen::arbitrary<std::string>();
    std::erase_if(sample.trial, [](char c) { return c == '\0' || static_cast<unsigned char>(c) >= 0x80; });
    sample.repetition = *rc::gen::inRange(0U, 1000U);
    sample.settings["length_ns"] = *rc::gen::arbitrary<std::int64_t>();
    sample.series["gaps_ns"] = *rc::gen::arbitrary<Series>();
    sample.texts["device"] = sample.trial;
    sample.failure_kind = 3;
    const std::string line = to_json_line(sample);
    const Samples back = samples_from_json_lines(line + "\n\n" + line, "x");
    RC_ASSERT(back.size() == 2U);
    RC_ASSERT(to_json_line(back[1]) == line);
    RC_ASSERT(back[0].of("gaps_ns") == sample.of("gaps_ns"));
    RC_ASSERT(back[0].trial == sample.trial);
  }));
}

TEST(Samples, WhatIsNoneIsRefusedWithItsLine) {
  EXPECT_NE(failure("{\"series\":{}}\nnonsense\n").find("x.jsonl:2: found `nonsense`"), std::string::npos);
  EXPECT_NE(failure("[1]").find("x.jsonl:1: found no JSON object"), std::string::npos);
  EXPECT_NE(failure("{\"series\":{\"a_ns\":[1.5]}}").find("whole numbers"), std::string::npos);
}

TEST(Samples, ASeriesThatIsNotThereIsEmpty) {
  const Sample sample;
  EXPECT_TRUE(sample.of("gaps_ns").empty());
  EXPECT_EQ(sample.first("gaps_ns", 7), 7);
}

}  // namespace
}  // namespace corun::calibration
