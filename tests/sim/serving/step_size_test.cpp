#include "sim/serving/step_size.h"

#include <gtest/gtest.h>

namespace corun {
namespace {

using Kind = StepSize::Kind;

TEST(StepSize, ARangeStatesTokensOrSequencesAndTheirContext) {
  EXPECT_EQ(step_size_of("prefill tokens=512 context=1024"), (StepSize{Kind::kPrefill, 512, 1024}));
  EXPECT_EQ(step_size_of("decode batch=8 context=2048"), (StepSize{Kind::kDecode, 8, 2048}));
  EXPECT_EQ(step_size_of("decode batch=8"), (StepSize{Kind::kDecode, 8, 0}));
}

TEST(StepSize, AStepOfSeveralPromptsSaysSo) {
  const StepSize three{.kind = Kind::kPrefill, .count = 512, .context = 64, .prompts = 3};
  EXPECT_EQ(step_size_of("prefill tokens=512 context=64 prompts=3"), three);
  EXPECT_EQ(to_string(three), "prefill of 512 of 3 prompts at 64");
  EXPECT_EQ(step_size_of("mixed tokens=480 batch=32 prompts=2"), (StepSize{Kind::kMixed, 480, 0, 32, 0, 2}));
}

TEST(StepSize, RangesOfSglangAndVllmAreRead) {
  EXPECT_EQ(step_size_of("step[DECODE bs=32]"), (StepSize{Kind::kDecode, 32, 0}));
  EXPECT_EQ(step_size_of("step[EXTEND bs=2 toks=900]"), (StepSize{Kind::kPrefill, 900, 0}));
  EXPECT_EQ(step_size_of("execute_context_0(0)_generation_16(16)"), (StepSize{Kind::kDecode, 16, 0}));
  EXPECT_EQ(step_size_of("execute_context_2(700)_generation_0(0)"), (StepSize{Kind::kPrefill, 700, 0}));
}

TEST(StepSize, ALongNameOfVllmStatesTheMeanContext) {
  EXPECT_EQ(step_size_of("execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk32785sqsq32sqsk32785)"),
            (StepSize{Kind::kDecode, 32, (32785 - 32) / 32}));
}

TEST(StepSize, AStepOfPromptsAndDecodesHasTheSizesOfBoth) {
  EXPECT_EQ(step_size_of("mixed tokens=480 context=512 batch=32 decode_context=700"),
            (StepSize{Kind::kMixed, 480, 512, 32, 700}));
  EXPECT_EQ(step_size_of("mixed tokens=480 batch=32"), (StepSize{Kind::kMixed, 480, 0, 32, 0}));
  EXPECT_EQ(step_size_of("execute_context_1(512)_generation_5(5)"), (StepSize{Kind::kMixed, 512, 0, 5, 0}));
  EXPECT_EQ(step_size_of(
                "execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37(sq37sk34489sqsq37sqsk34489)"),
            (StepSize{Kind::kMixed, 8155, (8430 - 8155) / 9, 37, (34489 - 37) / 37}));
}

TEST(StepSize, ItsTextNamesEachPart) {
  EXPECT_EQ(to_string(StepSize{Kind::kMixed, 480, 512, 32, 700}), "prefill of 480 at 512 with decode of 32 at 700");
}

TEST(StepSize, OtherNamesStateNone) {
  for (const char* name : {"", "step", "prefill", "prefill tokens=", "prefill tokens=0",
                           "decode batch=8 context=", "decode batch=8 context=2 more", "decode batch=8 prompts=2",
                           "prefill tokens=2 prompts=3", "prefill tokens=2 prompts=0", "decode batch=99999999999",
                           "step[DECODE bs=]", "mixed tokens=480", "mixed tokens=480 batch=0", "mixed tokens=0 batch=4",
                           "execute_context_x(1)_generation_0(0)", "execute_context_0(0)_generation_0(0)"})
    EXPECT_FALSE(step_size_of(name)) << name;
}

}  // namespace
}  // namespace corun
