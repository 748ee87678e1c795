// libcorun_cuda.so in a program of its own, with a fake libcupti that fails in every way on demand: the program's
// output and exit code must stay what they are, and the part must say what happened.
#include "tests/tracer/cuda/injection.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <set>
#include <string>

namespace corun {
namespace {

using part::EndReason;
using part::LossReason;

void expect_end(const Outcome& outcome, EndReason reason, std::uint32_t detail = 0) {
  EXPECT_TRUE(outcome.has_ended_as_without()) << outcome.output << outcome.complaints;
  ASSERT_TRUE(outcome.part().end.has_value());
  EXPECT_EQ(outcome.part().end->reason, reason);
  EXPECT_EQ(outcome.part().end->detail, detail);
}

TEST(Injection, EveryLaunchIsRecordedWithItsCalls) {
  const Outcome outcome = Injection().launches(5000).run();
  expect_end(outcome, EndReason::kExit);
  EXPECT_EQ(outcome.output, "launched 5000\n");
  EXPECT_EQ(outcome.complaints, "");
  const PartContent& part = outcome.part();
  EXPECT_EQ(part.process.source, part::Source::kCuda);
  EXPECT_EQ(part.process.detail, part::Detail::kCalls);
  EXPECT_EQ(part.process.api_version, 130000u);
  EXPECT_EQ(part.kernels.size(), 5000u);
  EXPECT_EQ(part.calls.size(), 5000u);
  EXPECT_TRUE(std::all_of(part.calls.begin(), part.calls.end(), [](const auto& call) { return call.is_driver; }));
  EXPECT_TRUE(part.lost.empty());
  std::set<std::string> names;
  for (const part::KernelRecord& kernel : part.kernels) names.insert(part.texts.at(kernel.name));
  EXPECT_EQ(names, (std::set<std::string>{"even", "odd"}));
}

TEST(Injection, TimesAreOnTheMonotonicClock) {
  const Outcome outcome = Injection().run();
  const PartContent& part = outcome.part();
  for (const part::KernelRecord& kernel : part.kernels) {
    EXPECT_GT(kernel.start_ns, part.process.monotonic_ns);
    EXPECT_LT(kernel.start_ns, part.end->at_ns);
  }
}

TEST(Injection, DevicesContextsAndStreamsThatWereThereBeforeAreRecorded) {
  const Outcome outcome = Injection().run();
  ASSERT_EQ(outcome.part().devices.size(), 1u);
  EXPECT_EQ(outcome.part().texts.at(outcome.part().devices[0].name), "a fake");
  EXPECT_EQ(outcome.part().contexts.size(), 1u);
  EXPECT_EQ(outcome.part().streams.size(), 1u);
}

std::vector<std::string> range_names(const PartContent& part) {
  std::vector<std::string> names;
  for (const part::MarkRecord& mark : part.marks) names.push_back(part.texts.at(mark.name));
  return names;
}

TEST(Injection, RangesOfNvtxAreRecordedWithTheirNamesAndTimes) {
  const Outcome outcome = Injection().mode("ranges").launches(0).run();
  expect_end(outcome, EndReason::kExit);
  const PartContent& part = outcome.part();
  const std::vector<std::string> expected = {"inner", "step",        "inner",      "step",   "inner", "step",
                                             "outer", "of a domain", "registered", "inside", "around"};
  EXPECT_EQ(range_names(part), expected) << "in the order in which they end";
  ASSERT_EQ(part.kernels.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const part::MarkRecord &inner = part.marks[2 * i], &step = part.marks[2 * i + 1];
    EXPECT_LE(step.start_ns, inner.start_ns);
    EXPECT_LE(inner.end_ns, step.end_ns);
    EXPECT_EQ(step.thread, inner.thread);
    EXPECT_GT(step.thread, 0u);
  }
  EXPECT_LT(part.marks[1].end_ns, part.marks[3].start_ns);
}

TEST(Injection, RangesAreNumberedUnderRedaction) {
  const Outcome outcome = Injection().mode("ranges").launches(0).set("CORUN_TRACE_REDACT", "names").run();
  ASSERT_FALSE(outcome.part().marks.empty());
  for (const std::string& name : range_names(outcome.part())) EXPECT_TRUE(name.starts_with("range_")) << name;
  for (const auto& [id, text] : outcome.part().texts) EXPECT_EQ(text.find("step"), std::string::npos) << text;
}

TEST(Injection, RangesOutsideOfTheWindowAreNotKept) {
  const Outcome outcome =
      Injection().mode("ranges").launches(0).set("CORUN_TRACE_FROM_NS", std::to_string(INT64_MAX / 4)).run();
  EXPECT_TRUE(outcome.has_ended_as_without()) << outcome.output;
  EXPECT_TRUE(outcome.part().marks.empty());
}

TEST(Injection, NamesWithoutEndAndMisuseOfNvtxHarmNeitherProgramNorKernels) {
  const Outcome outcome = Injection().mode("bad_ranges").launches(5).run();
  expect_end(outcome, EndReason::kExit);
  const PartContent& part = outcome.part();
  EXPECT_EQ(part.kernels.size(), 5u);
  const std::vector<std::string> names = range_names(part);
  EXPECT_EQ(std::count(names.begin(), names.end(), "deep"), 33)
      << "as deep as ranges are kept, and once more though no new name has room";
  EXPECT_EQ(std::count(names.begin(), names.end(), "aaa step 0"), 1);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).count("quo step #"), 1u) << "numbers count as one";
  EXPECT_LE(part.texts.size(), 16'500u);
  EXPECT_GT(outcome.lost(LossReason::kNoRoomForName), 0u);
}

TEST(Injection, ATableOfNvtxThatIsShorterIsHookedAsFarAsItGoes) {
  const Outcome outcome = Injection().mode("short_nvtx").launches(3).run();
  expect_end(outcome, EndReason::kExit);
  EXPECT_EQ(range_names(outcome.part()).size(), 0u) << "an end without a push";
}

TEST(Injection, ThreadsThatEndLeaveRoomForTheRangesOfOthers) {
  const Outcome outcome = Injection().mode("threads_with_ranges").launches(0).run();
  expect_end(outcome, EndReason::kExit);
  EXPECT_EQ(outcome.part().marks.size(), 80'000u);
}

TEST(Injection, AStringRegisteredBeforeCudaStartsNamesRangesLater) {
  const Outcome outcome = Injection().mode("early_ranges").launches(0).run();
  expect_end(outcome, EndReason::kExit);
  EXPECT_EQ(range_names(outcome.part()), std::vector<std::string>{"registered early"});
}

TEST(Injection, ChildrenOfAForkMayNameRanges) {
  const Outcome outcome = Injection().mode("fork_with_ranges").launches(1).run();
  EXPECT_TRUE(outcome.has_ended_as_without()) << outcome.status;
  EXPECT_EQ(outcome.parts.size(), 1u);
}

TEST(Injection, ACountingPassHooksNoRanges) {
  const Outcome outcome = Injection().mode("ranges").launches(0).set("CORUN_TRACE_CUDA", "count").run();
  EXPECT_TRUE(outcome.has_ended_as_without()) << outcome.output;
  EXPECT_TRUE(outcome.part().marks.empty());
  EXPECT_TRUE(outcome.part().texts.size() <= 1u) << "the program's name";
}

// Handles of events have four digits, of streams two: see fake_cupti.cpp.
constexpr std::uint32_t kRecord = 119, kAwaitEvent = 121, kAwaitStream = 126, kStreamWaits = 295;
constexpr std::uint32_t kRecordWithFlags = 587, kAwaitStreamOfThread = 440;

std::string call(std::uint32_t function, const std::string& handles, const std::string& manner = "call") {
  return manner + " " + std::to_string(function) + " " + handles + "\n";
}

// The wait at `index`, after a look at whether the call it names is the one that waited.
part::SyncRecord wait_at(const Outcome& outcome, std::size_t index, std::uint32_t function) {
  const PartContent& part = outcome.part();
  if (index >= part.syncs.size()) ADD_FAILURE() << "only " << part.syncs.size() << " waits";
  const part::SyncRecord wait = index < part.syncs.size() ? part.syncs[index] : part::SyncRecord{};
  const auto has_its_id = [&](const part::CallRecord& call) { return call.correlation == wait.correlation; };
  const auto found = std::find_if(part.calls.begin(), part.calls.end(), has_its_id);
  EXPECT_TRUE(found != part.calls.end() && found->function == function) << "the call that waits";
  EXPECT_TRUE(found != part.calls.end() && found->role == wait.role);
  EXPECT_EQ(wait.context, 1u);
  return wait;
}

TEST(Injection, AStreamsWaitNamesTheStreamAndTheRecordItWaitsFor) {
  const Outcome outcome = Injection()
                              .script(call(kRecord, "1000 20") + call(kRecordWithFlags, "1000 21") +
                                      call(kRecord, "2000 20") + call(kStreamWaits, "22 1000"))
                              .run();
  const auto& records = outcome.part().event_records;
  ASSERT_EQ(records.size(), 3u);
  const part::SyncRecord wait = wait_at(outcome, 0, kStreamWaits);
  EXPECT_EQ(wait.role, part::CallRole::kStreamWaitEvent);
  EXPECT_EQ(wait.stream, 0x22u);
  EXPECT_EQ(wait.event, records[1].event);
  EXPECT_EQ(wait.event_sync, records[1].event_sync);
  EXPECT_EQ(records[1].stream, 0x21u);
  EXPECT_EQ(records[1].context, 1u);
  EXPECT_EQ(records[0].correlation, 101u) << "of the first call after 100 launches";
  EXPECT_EQ(records[1].correlation, 102u);
  EXPECT_EQ(records[0].event, records[1].event);
  EXPECT_NE(records[0].event, records[2].event);
}

TEST(Injection, AWaitForAnEventIsForTheRecordBeforeItBegan) {
  const Outcome outcome =
      Injection()
          .script(call(kRecord, "1000 20") + call(kAwaitEvent, "1000", "long_call") + call(kRecord, "1000 21"))
          .run();
  ASSERT_EQ(outcome.part().event_records.size(), 2u);
  const part::SyncRecord wait = wait_at(outcome, 0, kAwaitEvent);
  EXPECT_EQ(wait.event_sync, outcome.part().event_records[0].event_sync);
  EXPECT_EQ(wait.stream, UINT32_MAX);
}

TEST(Injection, AWaitForAStreamNamesIt) {
  const Outcome outcome = Injection()
                              .script(call(kAwaitStream, "20") + call(kAwaitStream, "0") + call(kAwaitStream, "1") +
                                      call(kAwaitStream, "2") + call(kAwaitStream, "BAD") +
                                      call(kAwaitStreamOfThread, "0") + call(kAwaitStreamOfThread, "1"))
                              .run();
  ASSERT_EQ(outcome.part().syncs.size(), 7u);
  const std::uint32_t streams[] = {0x20, 7, 7, 9, UINT32_MAX, 9, 7};
  for (std::size_t i = 0; i < 7; ++i) {
    const part::SyncRecord wait = wait_at(outcome, i, i < 5 ? kAwaitStream : kAwaitStreamOfThread);
    EXPECT_EQ(wait.stream, streams[i]) << i;
    EXPECT_EQ(wait.event, 0u);
  }
}

TEST(Injection, WhatCannotBeKnownOfAnEventIsLeftOpen) {
  const std::string recorded = call(kRecord, "1000 20");
  const std::string unknown[] = {"", recorded + call(kRecord, "1000 BAD"), call(kRecord, "1000 20", "failing_call")};
  for (const std::string& before : unknown) {
    const Outcome outcome = Injection().script(before + call(kAwaitEvent, "1000")).run();
    const part::SyncRecord wait = wait_at(outcome, 0, kAwaitEvent);
    EXPECT_EQ(wait.event, 0u) << before;
    EXPECT_EQ(wait.event_sync, 0u) << before;
  }
  const Outcome kept =
      Injection().script(recorded + call(kRecord, "1000 21", "failing_call") + call(kAwaitEvent, "1000")).run();
  ASSERT_EQ(kept.part().event_records.size(), 1u);
  EXPECT_EQ(wait_at(kept, 0, kAwaitEvent).event_sync, kept.part().event_records[0].event_sync);
}

TEST(Injection, RecordsOfWhatNobodyReadsAreNotAskedFor) {
  const Outcome outcome =
      Injection().script("fail kind5 1\nfail kind36 1\nfail kind38 1\n" + call(kRecord, "1000 20")).run();
  expect_end(outcome, EndReason::kExit);
  EXPECT_EQ(outcome.last_words(), "") << "runtime functions, events, synchronisation";
  EXPECT_EQ(outcome.part().event_records.size(), 1u);
  EXPECT_EQ(outcome.part().calls.size(), 100u) << "the launches: the record of an event needs no call";
}

TEST(Injection, KernelsOnlyMeansNoCalls) {
  const Outcome outcome =
      Injection().set("CORUN_TRACE_CUDA", "kernels").script(call(kRecord, "1000 20") + call(kAwaitStream, "20")).run();
  EXPECT_TRUE(outcome.part().event_records.empty());
  EXPECT_TRUE(outcome.part().syncs.empty());
  expect_end(outcome, EndReason::kExit);
  EXPECT_EQ(outcome.part().kernels.size(), 100u);
  EXPECT_TRUE(outcome.part().calls.empty());
}

TEST(Injection, IdleRecordsNothing) {
  const Outcome outcome = Injection().set("CORUN_TRACE_CUDA", "idle").run();
  expect_end(outcome, EndReason::kExit);
  EXPECT_EQ(outcome.part().process.detail, part::Detail::kNone);
  EXPECT_TRUE(outcome.part().kernels.empty());
}

TEST(Injection, OffLeavesNoPart) {
  const Outcome outcome = Injection().set("CORUN_TRACE_CUDA", "off").run();
  EXPECT_TRUE(outcome.has_ended_as_without());
  EXPECT_TRUE(outcome.parts.empty());
}

TEST(Injection, AnUntracedPassCountsLaunchesAndNothingElse) {
  const Outcome outcome = Injection().set("CORUN_TRACE_CUDA", "count").launches(1000).run();
  expect_end(outcome, EndReason::kExit);
  EXPECT_TRUE(outcome.part().kernels.empty());
  const auto& counts = outcome.part().launch_counts;
  ASSERT_EQ(counts.size(), 1000u / part::kLaunchesPerCount);
  EXPECT_EQ(counts.front().launches, part::kLaunchesPerCount);
  EXPECT_EQ(counts.back().launches, counts.size() * part::kLaunchesPerCount);
  EXPECT_TRUE(
      std::is_sorted(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.at_ns < b.at_ns; }));
}

TEST(Injection, RedactedNamesAreNumbers) {
  const Outcome outcome = Injection().set("CORUN_TRACE_REDACT", "names").run();
  expect_end(outcome, EndReason::kExit);
  for (const auto& [id, text] : outcome.part().texts) {
    EXPECT_NE(text, "even");
    EXPECT_NE(text, "odd");
  }
  const std::string process = std::to_string(outcome.part().process.process);
  EXPECT_EQ(outcome.part().texts.at(outcome.part().kernels[0].name), "kernel_" + process + "_1");
}

TEST(Injection, WithoutLibcuptiThePartSaysSo) {
  const Outcome outcome = Injection().cupti("/nonexistent/libcupti.so.13").run();
  if (outcome.part().process.api_version != 0) GTEST_SKIP() << "a real libcupti is installed here, and was found";
  expect_end(outcome, EndReason::kNoCupti);
  EXPECT_EQ(outcome.complaints, "");
}

TEST(Injection, AnotherMajorVersionIsRefused) {
  const Outcome outcome = Injection().script("version 120900").run();
  if (outcome.part().process.api_version != 120900) GTEST_SKIP() << "a real libcupti is installed here, and was found";
  expect_end(outcome, EndReason::kCuptiVersion, 120900);
  EXPECT_TRUE(outcome.part().kernels.empty());
}

TEST(Injection, ALibcuptiWithoutTheNewerFunctionsWillDo) {
  const Outcome outcome = Injection().cupti(FAKE_CUPTI_WITHOUT_OPTIONAL).run();
  expect_end(outcome, EndReason::kExit);
  EXPECT_EQ(outcome.part().kernels.size(), 100u);
  EXPECT_EQ(outcome.part().calls.size(), 100u);
}

TEST(Injection, AnotherProfilerIsLeftAloneAndMentionedOnce) {
  const Outcome outcome = Injection().script("fail cuptiSubscribe 39").run();
  expect_end(outcome, EndReason::kOtherSubscriber, 39);
  EXPECT_TRUE(outcome.complaints.starts_with("corun: another profiler"));
  EXPECT_EQ(std::count(outcome.complaints.begin(), outcome.complaints.end(), '\n'), 1);
}

std::string name_of_call(const testing::TestParamInfo<const char*>& call) { return call.param; }

class NeededCall : public testing::TestWithParam<const char*> {};

TEST_P(NeededCall, ThatFailsEndsTheRecordingAndNothingElse) {
  const std::string call = GetParam();
  const Outcome outcome = Injection().script("fail " + call + " 999").run();
  expect_end(outcome, EndReason::kCuptiFailed, 999);
  EXPECT_NE(outcome.last_words().find("cupti"), std::string::npos) << "which call it was";
  EXPECT_TRUE(outcome.part().kernels.empty());
  EXPECT_EQ(outcome.complaints, "");
}

INSTANTIATE_TEST_SUITE_P(Injection, NeededCall,
                         testing::Values("cuptiSubscribe", "cuptiSetThreadIdType",
                                         "cuptiActivityRegisterTimestampCallback", "cuptiActivityRegisterCallbacks",
                                         "cuptiActivityEnable", "kind1", "kind2", "kind10"),
                         name_of_call);

TEST(Injection, WithoutRecordsOfCallsTheRecordingEnds) {
  const Outcome outcome = Injection().script("fail cuptiActivityEnableDriverApi 1\nfail kind4 999").run();
  expect_end(outcome, EndReason::kCuptiFailed, 999);
  EXPECT_TRUE(outcome.part().kernels.empty());
}

class OptionalCall : public testing::TestWithParam<const char*> {};

TEST_P(OptionalCall, ThatFailsCostsNoKernel) {
  const Outcome outcome = Injection().script("fail " + std::string(GetParam()) + " 999").run();
  expect_end(outcome, EndReason::kExit);
  EXPECT_EQ(outcome.part().kernels.size(), 100u);
  EXPECT_EQ(outcome.part().calls.size(), 100u);
  EXPECT_TRUE(outcome.part().lost.empty());
}

INSTANTIATE_TEST_SUITE_P(Injection, OptionalCall,
                         testing::Values("cuptiActivitySetAttribute", "cuptiActivityEnableAndDump",
                                         "cuptiActivityEnableDriverApi", "cuptiEnableCallback", "cuptiGetStreamIdEx",
                                         "cuptiActivityGetNumDroppedRecords", "cuptiActivityDisable", "kind17",
                                         "kind22"),
                         name_of_call);

TEST(Injection, WhatCuptiRefusedIsNamedInTheLastWords) {
  const Outcome outcome = Injection().script("fail cuptiActivitySetAttribute 27").run();
  EXPECT_NE(outcome.last_words().find("cuptiActivitySetAttribute"), std::string::npos);
  EXPECT_NE(outcome.last_words().find("27"), std::string::npos);
}

TEST(Injection, WithoutAFlushTheRecordsAreMissedButTheProgramEnds) {
  expect_end(Injection().script("fail cuptiActivityFlushAll 999").run(), EndReason::kExit);
}

TEST(Injection, AnUntracedPassWithoutCallbacksSaysWhy) {
  const Outcome outcome =
      Injection().set("CORUN_TRACE_CUDA", "count").script("fail cuptiEnableCallback 2").launches(1000).run();
  expect_end(outcome, EndReason::kCuptiFailed, 2);
  EXPECT_TRUE(outcome.part().launch_counts.empty());
}

TEST(Injection, RecordsThatCuptiDroppedAreCounted) {
  const Outcome outcome = Injection().script("drop 17").run();
  expect_end(outcome, EndReason::kExit);
  EXPECT_EQ(outcome.lost(LossReason::kCuptiDropped), 17u);
  EXPECT_EQ(outcome.part().kernels.size(), 100u);
}

// The reader of the part counts them.
TEST(Injection, KernelsAndCallsWithoutATimeAreKeptAndNotCountedAsLost) {
  const Outcome outcome = Injection().script("no_time 3").run();
  EXPECT_TRUE(outcome.part().lost.empty());
  const auto has_time = [](const auto& record) { return record.end_ns != 0; };
  EXPECT_EQ(outcome.part().kernels.size(), 100u);
  EXPECT_EQ(std::ranges::count_if(outcome.part().kernels, has_time), 97);
  EXPECT_EQ(outcome.part().calls.size(), 100u);
  EXPECT_EQ(std::ranges::count_if(outcome.part().calls, has_time), 97);
}

TEST(Injection, GarbageIsCountedAndLeftOut) {
  const Outcome outcome = Injection().script("garbage").run();
  expect_end(outcome, EndReason::kExit);
  EXPECT_EQ(outcome.lost(LossReason::kBadRecord), 1u);
  EXPECT_EQ(outcome.part().kernels.size(), 100u);
}

TEST(Injection, ABufferThatCannotBeReadToItsEndCountsAsBad) {
  const Outcome outcome = Injection().script("break_off").run();
  expect_end(outcome, EndReason::kExit);
  EXPECT_EQ(outcome.lost(LossReason::kBadRecord), 1u);
}

TEST(Injection, WhenAllBuffersAreOutTheRestIsCountedAsLost) {
  const Outcome outcome = Injection().script("hold").launches(300).run();
  expect_end(outcome, EndReason::kExit);
  EXPECT_EQ(outcome.part().kernels.size(), 256u);
  EXPECT_EQ(outcome.part().calls.size(), 256u);
  EXPECT_EQ(outcome.lost(LossReason::kCuptiDropped), 2 * 44u);
}

TEST(Injection, CallbacksAfterTheEndAreHarmless) {
  for (const std::string detail : {"calls", "count"}) {
    const Outcome outcome = Injection().script("late_callback").set("CORUN_TRACE_CUDA", detail).run();
    expect_end(outcome, EndReason::kExit);
    EXPECT_EQ(outcome.part().damage, "");
  }
}

// It would be kept until SIGALRM.
TEST(Injection, AFlushThatNeverComesBackDoesNotKeepTheProgram) {
  const Outcome outcome = Injection().script("hang").run();
  expect_end(outcome, EndReason::kExit);
}

TEST(Injection, AKilledProgramLosesLessThanItsLastSecond) {
  const Outcome outcome = Injection().mode("killed").launches(900).run();
  EXPECT_TRUE(WIFSIGNALED(outcome.status));
  EXPECT_EQ(WTERMSIG(outcome.status), SIGKILL);
  EXPECT_GE(outcome.part().kernels.size(), 900u - 500u) << "at two milliseconds or more between launches";
}

TEST(Injection, TheTimeSpentInOurOwnCallbacksIsWrittenDown) {
  const Outcome outcome = Injection().script(call(kRecord, "1000 20") + call(kAwaitEvent, "1000")).run();
  ASSERT_EQ(outcome.part().overheads.size(), 1u);
  const part::OverheadRecord& overhead = outcome.part().overheads[0];
  EXPECT_EQ(overhead.kind, 0x10000000u);
  EXPECT_EQ(overhead.thread, 0u);
  EXPECT_GT(overhead.end_ns, overhead.start_ns);
  EXPECT_GT(overhead.start_ns, outcome.part().process.monotonic_ns);
}

TEST(Injection, AChildOfAForkRecordsNothingIntoItsParentsPart) {
  const Outcome outcome = Injection().mode("fork").run();
  expect_end(outcome, EndReason::kExit);
  EXPECT_EQ(outcome.part().kernels.size(), 100u);
  EXPECT_EQ(outcome.part().damage, "");
}

TEST(Injection, AProgramThatReplacesItselfIsRecordedOnBothSides) {
  const Outcome outcome = Injection().mode("exec").run();
  EXPECT_TRUE(outcome.has_ended_as_without()) << outcome.complaints;
  EXPECT_EQ(outcome.output, "launched 100\nlaunched 100\n");
  EXPECT_EQ(outcome.parts.size() + outcome.empty_parts, 2u);
  const auto has_end = [](const PartContent& part) { return part.end.has_value(); };
  ASSERT_EQ(std::count_if(outcome.parts.begin(), outcome.parts.end(), has_end), 1);
  const auto ended = std::find_if(outcome.parts.begin(), outcome.parts.end(), has_end);
  EXPECT_EQ(ended->kernels.size(), 100u);
}

TEST(Injection, ACrashStaysTheCrashItWas) {
  const Outcome outcome = Injection().mode("crash").run();
  EXPECT_TRUE(WIFSIGNALED(outcome.status));
  EXPECT_EQ(WTERMSIG(outcome.status), SIGSEGV);
  EXPECT_EQ(outcome.output, "launched 100\n");
}

TEST(Injection, AnEndWithoutExitHandlersIsNotHeldUp) {
  const Outcome outcome = Injection().script("hang").mode("_exit").run();
  EXPECT_TRUE(outcome.has_ended_as_without());
  for (const PartContent& part : outcome.parts) EXPECT_FALSE(part.end.has_value()) << "somebody waited to close it";
}

TEST(Injection, WhatEndsBeforeTheWindowIsLeftOutSilently) {
  const Outcome outcome =
      Injection().set("CORUN_TRACE_FROM_NS", "9000000000000000000").script(call(kAwaitStream, "20")).run();
  expect_end(outcome, EndReason::kExit);
  EXPECT_TRUE(outcome.part().kernels.empty());
  EXPECT_TRUE(outcome.part().calls.empty());
  EXPECT_TRUE(outcome.part().syncs.empty());
  EXPECT_TRUE(outcome.part().lost.empty());
  EXPECT_EQ(outcome.part().devices.size(), 1u) << "the machine is described whatever the window";
}

TEST(Injection, TheEndOfTheWindowEndsTheRecordingNotTheProgram) {
  const Outcome outcome = Injection().set("CORUN_TRACE_UNTIL_NS", "1").mode("await_disabled").run();
  expect_end(outcome, EndReason::kWindow);
  EXPECT_TRUE(outcome.part().kernels.empty());
}

TEST(Injection, TheUntracedPassEndsWithTheWindowToo) {
  const Outcome outcome = Injection()
                              .set("CORUN_TRACE_CUDA", "count")
                              .set("CORUN_TRACE_UNTIL_NS", "1")
                              .mode("await_disabled")
                              .launches(6400)
                              .run();
  expect_end(outcome, EndReason::kWindow);
  EXPECT_LE(outcome.part().launch_counts.size(), 100u) << "launches behind the window were counted";
}

TEST(Injection, ContextSwitchesAreAskedForOnlyWhereCuptiHasThem) {
  expect_end(Injection().script("version 130100\nfail kind57 21").run(), EndReason::kExit);
  EXPECT_EQ(Injection().script("version 130100\nfail kind57 21").run().last_words(), "");
  const Outcome newer = Injection().script("version 130200\nfail kind57 21").run();
  expect_end(newer, EndReason::kExit);
  EXPECT_NE(newer.last_words().find("57"), std::string::npos);
  EXPECT_EQ(newer.part().kernels.size(), 100u);
}

TEST(Injection, AFolderThatCannotBeWrittenLeavesTheProgramAlone) {
  const Outcome outcome = Injection().set("CORUN_TRACE_DIR", "/proc/nowhere").run();
  EXPECT_TRUE(outcome.has_ended_as_without());
  EXPECT_EQ(outcome.complaints, "");
}

TEST(Injection, APartAsLargeAsItMayBecomeEndsAlone) {
  const Outcome outcome = Injection().set("CORUN_TRACE_MAX_BYTES", "200000").launches(20000).run();
  expect_end(outcome, EndReason::kMaxSize);
  EXPECT_GT(outcome.lost(LossReason::kTooLarge), 0u);
  EXPECT_LT(outcome.part().kernels.size(), 20000u);
}

// What a shell command prints.
std::string printed_by(const std::string& command) {
  std::string text;
  FILE* const pipe = popen(command.c_str(), "r");
  char piece[256];
  while (std::fgets(piece, sizeof(piece), pipe) != nullptr) text += piece;
  pclose(pipe);
  return text;
}

TEST(Injection, TheLibraryNeedsLibcOnly) {
  const std::string needed = printed_by("readelf -d " CORUN_CUDA " | grep NEEDED | grep -v -e libc.so.6 -e ld-linux");
  EXPECT_EQ(needed, "");
}

TEST(Injection, TheLibraryExportsItsEntryPointsOnly) {
  EXPECT_EQ(printed_by("nm -D --defined-only " CORUN_CUDA " | cut -d' ' -f3"),
            "InitializeInjection\nInitializeInjectionNvtx2\n");
}

}  // namespace
}  // namespace corun
