#include "sim/serving/batch_former.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace corun {
namespace {

BatchLimits limits(Batching batching) {
  return {.batching = batching, .max_batch = 4, .chunk = 100, .kv_tokens = 10'000, .max_queue = 0};
}

/// "p100+0 p50+100 d1@150": chunks and the tokens before them, decodes and their longest context.
std::string steps_of(BatchFormer& batch, int most = 100) {
  std::string text;
  for (int i = 0; i < most; ++i) {
    const auto step = batch.begin_step();
    if (!step) break;
    if (!text.empty()) text += ' ';
    const bool reads = step->reads_prompt();
    text += fmt::format("{}{}{}{}", reads ? 'p' : 'd', step->count, reads ? '+' : '@', step->context);
    if (step->prompts > 1) text += fmt::format("({} prompts)", step->prompts);
    if (step->kind == StepSize::Kind::kMixed) text += fmt::format("d{}@{}", step->decodes, step->decode_context);
    batch.end_step();
  }
  return text;
}

TEST(BatchFormer, APromptIsReadInChunksAndItsLastGivesTheFirstToken) {
  BatchFormer batch(limits(Batching::kChunked));
  batch.arrive(0, 250, 3);
  EXPECT_EQ(steps_of(batch), "p100+0 p100+100 p50+200 d1@251 d1@252");
  EXPECT_TRUE(batch.is_idle());
}

TEST(BatchFormer, ChunksAndDecodesTakeTurns) {
  BatchFormer batch(limits(Batching::kChunked));
  batch.arrive(0, 100, 4);
  batch.arrive(1, 300, 2);
  EXPECT_EQ(steps_of(batch), "p100+0 d1@101 p100+0 d1@102 p100+100 d1@103 p100+200 d1@301");
}

TEST(BatchFormer, AMixedStepDecodesAndReadsWhatIsLeftOfTheChunk) {
  BatchFormer batch(limits(Batching::kMixed));
  batch.arrive(0, 100, 4);
  batch.arrive(1, 150, 2);
  EXPECT_EQ(steps_of(batch), "p100+0 p99+0d1@101 p51+99d1@102 d2@151");
}

TEST(BatchFormer, AMixedStepReadsNothingWhereDecodesTakeTheWholeChunk) {
  BatchLimits narrow = limits(Batching::kMixed);
  narrow.chunk = 1;
  BatchFormer batch(narrow);
  batch.arrive(0, 1, 3);
  batch.arrive(1, 1, 1);
  EXPECT_EQ(steps_of(batch), "p1+0 d1@2 d1@3 p1+0");
}

TEST(BatchFormer, PrefillFirstReadsAllThatFitsBeforeItDecodes) {
  BatchFormer batch(limits(Batching::kPrefillFirst));
  batch.arrive(0, 100, 3);
  batch.arrive(1, 300, 2);
  EXPECT_EQ(steps_of(batch), "p100+0 p100+0 p100+100 p100+200 d2@301 d1@102");
}

TEST(BatchFormer, AStepOfSeveralPromptsIsFilledInOrderOfArrival) {
  BatchLimits several = limits(Batching::kPrefillFirst);
  several.prompts_per_step = 2;
  BatchFormer batch(several);
  for (const std::size_t request : {0u, 1u, 2u}) batch.arrive(request, 60, 1);
  EXPECT_EQ(steps_of(batch), "p100+0(2 prompts) p80+0(2 prompts)") << "60 and 40, then the other 20 and 60";
}

TEST(BatchFormer, EachBatchingReadsSeveralPromptsInAStep) {
  for (const auto& [batching, steps] : {std::pair{Batching::kPrefillFirst, "p30+0(2 prompts) d2@21 d2@22"},
                                        std::pair{Batching::kChunked, "p30+0(2 prompts) d2@21 d2@22"},
                                        std::pair{Batching::kMixed, "p30+0(2 prompts) d2@21 d2@22"}}) {
    BatchLimits several = limits(batching);
    several.prompts_per_step = 8;
    BatchFormer batch(several);
    batch.arrive(0, 10, 3);
    batch.arrive(1, 20, 3);
    EXPECT_EQ(steps_of(batch), steps);
  }
}

TEST(BatchFormer, AMixedStepReadsSeveralPromptsNextToItsDecodes) {
  BatchLimits several = limits(Batching::kMixed);
  several.prompts_per_step = 3;
  BatchFormer batch(several);
  batch.arrive(0, 10, 3);
  steps_of(batch, 1);
  for (const std::size_t request : {1u, 2u}) batch.arrive(request, 20, 1);
  EXPECT_EQ(steps_of(batch), "p40+0(2 prompts)d1@11 d1@12");
}

TEST(BatchFormer, TheContextOfSeveralPromptsIsThatOfAsMuchAttention) {
  BatchLimits several = limits(Batching::kPrefillFirst);
  several.prompts_per_step = 2;
  BatchFormer batch(several);
  batch.arrive(0, 350, 1);
  steps_of(batch, 3);
  batch.arrive(1, 50, 1);
  // 50 tokens behind 300 and 50 behind none attend to 17,500 tokens, as 100 tokens behind 125 do.
  EXPECT_EQ(steps_of(batch), "p100+125(2 prompts)");
}

TEST(BatchFormer, PromptsAreReadWhileOtherSequencesAreDecoded) {
  BatchFormer batch(limits(Batching::kChunked));
  batch.arrive(0, 100, 3);
  EXPECT_EQ(batch.begin_step(StepLoop::kDecodes), std::nullopt) << "nothing is read yet";
  EXPECT_EQ(batch.begin_step(StepLoop::kPrompts), (StepSize{StepSize::Kind::kPrefill, 100, 0}));
  EXPECT_EQ(batch.end_step(StepLoop::kPrompts).began, std::vector<std::size_t>{0});
  batch.arrive(1, 50, 3);
  EXPECT_EQ(batch.begin_step(StepLoop::kDecodes), (StepSize{StepSize::Kind::kDecode, 1, 101}));
  EXPECT_EQ(batch.begin_step(StepLoop::kPrompts), (StepSize{StepSize::Kind::kPrefill, 50, 0}));
  EXPECT_EQ(batch.end_step(StepLoop::kPrompts).began, std::vector<std::size_t>{1});
  EXPECT_TRUE(batch.end_step(StepLoop::kDecodes).ended.empty());
  EXPECT_EQ(batch.begin_step(StepLoop::kDecodes), (StepSize{StepSize::Kind::kDecode, 2, 102}))
      << "the second was read while the first was decoded: both have tokens to come";
  EXPECT_EQ(batch.end_step(StepLoop::kDecodes).ended, std::vector<std::size_t>{0});
  batch.begin_step(StepLoop::kDecodes);
  EXPECT_EQ(batch.end_step(StepLoop::kDecodes).ended, std::vector<std::size_t>{1});
  EXPECT_TRUE(batch.is_idle());
}

TEST(BatchFormer, ARequestWaitsUntilTheCacheHasRoomForAllOfItsTokens) {
  BatchLimits few = limits(Batching::kPrefillFirst);
  few.kv_tokens = 250;
  BatchFormer batch(few);
  batch.arrive(0, 100, 2);
  batch.arrive(1, 149, 2);
  batch.arrive(2, 10, 2);
  EXPECT_EQ(steps_of(batch, 1), "p100+0");
  EXPECT_EQ(batch.waiting(), 2u) << "the third would fit, and waits for the second";
  EXPECT_EQ(batch.kv_tokens(), 102u);
}

TEST(BatchFormer, AFullQueueRejects) {
  BatchLimits short_queue = limits(Batching::kChunked);
  short_queue.max_batch = 1;
  short_queue.max_queue = 1;
  BatchFormer batch(short_queue);
  EXPECT_TRUE(batch.arrive(0, 10, 2));
  EXPECT_TRUE(batch.arrive(1, 10, 2)) << "the first is in the batch, this one waits";
  EXPECT_FALSE(batch.arrive(2, 10, 2));
}

/// Requests come at random between steps.
RC_GTEST_PROP(BatchFormer, EveryRequestGetsAllOfItsTokensWithinTheLimits, ()) {
  BatchLimits bounds;
  bounds.batching = *rc::gen::element(Batching::kChunked, Batching::kPrefillFirst, Batching::kMixed);
  bounds.max_batch = *rc::gen::inRange(1u, 6u);
  bounds.chunk = *rc::gen::inRange(1u, 40u);
  bounds.kv_tokens = *rc::gen::inRange(100u, 300u);
  bounds.prompts_per_step = *rc::gen::inRange(1u, 4u);
  BatchFormer batch(bounds);
  const auto asked = *rc::gen::container<std::vector<std::pair<std::uint32_t, std::uint32_t>>>(
      rc::gen::pair(rc::gen::inRange(1u, 60u), rc::gen::inRange(1u, 40u)));
  std::map<std::size_t, std::uint32_t> ended;
  std::uint64_t read = 0, decoded = 0, first_tokens = 0;
  std::size_t next = 0;
  while (next < asked.size() || !batch.is_idle()) {
    if (next < asked.size() && (batch.is_idle() || *rc::gen::inRange(0, 3) == 0)) {
      batch.arrive(next, asked[next].first, asked[next].second);
      ++next;
    }
    const auto step = batch.begin_step();
    RC_ASSERT(step.has_value() == !batch.is_idle());
    if (!step) continue;
    RC_ASSERT(batch.kv_tokens() <= bounds.kv_tokens && batch.sequences() <= bounds.max_batch);
    if (step->reads_prompt()) read += step->count;
    RC_ASSERT(step->prompts >= 1 && step->prompts <= bounds.prompts_per_step);
    decoded += step->decoded();
    RC_ASSERT(!step->reads_prompt() || step->count + step->decodes <= bounds.chunk);
    RC_ASSERT(step->decoded() <= bounds.max_batch);
    const auto progress = batch.end_step();
    first_tokens += progress.began.size();
    for (const std::size_t request : progress.ended) ++ended[request];
  }
  std::uint64_t prompts = 0, outputs = 0;
  for (const auto& [prompt, output] : asked) prompts += prompt, outputs += output;
  RC_ASSERT(read == prompts);
  RC_ASSERT(decoded + asked.size() == outputs);
  RC_ASSERT(first_tokens == asked.size() && ended.size() == asked.size());
  RC_ASSERT(batch.kv_tokens() == 0u);
}

}  // namespace
}  // namespace corun
