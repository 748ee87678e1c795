#include "sim/workload/capture/job_split.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "sim/workload/capture/steps/repetition.h"
#include "sim/workload/workload.h"

namespace corun {
namespace {

/// Writes captures as text, one character a call of the host, 10 us apart: a letter launches a kernel of that name,
/// `-` lets 50 us pass, `!` waits for the device, `?` for the launch before the last.
class Script {
 public:
  Script& play(const std::string& calls, int times = 1) {
    for (int i = 0; i < times; ++i)
      for (const char call : calls) play(call);
    return *this;
  }
  Script& untraced_pass(std::uint64_t launches, std::int64_t duration_us) {
    builder_.provenance().untraced_rate =
        UntracedRate{.launches = launches, .duration_ns = duration_us * 1'000, .jitter_ppm = 20'000};
    return *this;
  }
  Timeline end() {
    builder_.fidelity().has_calls = true;
    return std::move(builder_).seal();
  }

 private:
  void play(char call) {
    now_us_ += call == '-' ? 50 : 10;
    if (call == '-') return;
    CallRecord record{.start_ns = now_us_ * 1'000, .duration_ns = 1'000, .thread = thread_, .queue = queue_};
    if (call == '!') record.kind = CallKind::kSynchronizeDevice;
    if (call == '?') record.kind = CallKind::kSynchronizeEvent;
    if (call == '?') record.awaited = static_cast<std::uint32_t>(builder_.op_count() - 2);
    const std::uint32_t index = builder_.add(record);
    if (record.kind != CallKind::kLaunch) return;
    builder_.add(OpRecord{.start_ns = record.start_ns + 5'000,
                          .duration_ns = 2'000,
                          .name = builder_.intern(std::string(1, call)),
                          .queue = queue_,
                          .call = index});
  }

  TimelineBuilder builder_;
  const std::uint32_t queue_ = builder_.queue(QueueRecord{});
  const std::uint32_t thread_ = builder_.thread(ThreadRecord{});
  std::int64_t now_us_ = 0;
};

/// What each job launches, in order: "abc abc" for two jobs of three kernels.
std::string jobs_of(const Timeline& timeline, std::uint32_t iterations = 0) {
  WorkloadOptions options;
  options.iterations = iterations;
  const Workload workload = workload_from_timeline(timeline, options);
  std::string text;
  for (const Job& job : workload.jobs) {
    if (!text.empty()) text += ' ';
    for (std::uint32_t i = 0; i < job.op_count; ++i) text += workload.names[workload.ops[job.first_op + i].name];
  }
  return text;
}

std::vector<std::uint32_t> sequence_of(const std::string& text) { return {text.begin(), text.end()}; }

TEST(JobSplit, ACaptureWithoutMarksIsSplitWhereItsLaunchesRepeat) {
  EXPECT_EQ(jobs_of(Script().play("abc!", 4).end()), "abc abc abc abc");
}

TEST(JobSplit, EqualLayersDoNotPassForSteps) {
  EXPECT_EQ(jobs_of(Script().play("xlmlmlmlm!", 3).end()), "xlmlmlmlm xlmlmlmlm xlmlmlmlm");
  EXPECT_EQ(jobs_of(Script().play("lmlmlmlm!", 3).end()), "lmlmlmlm lmlmlmlm lmlmlmlm") << "the wait tells them apart";
  EXPECT_EQ(jobs_of(Script().play("x").play("lm", 6).play("y!").end()), "xlmlmlmlmlmlmy");
}

TEST(JobSplit, StartUpAndWhatFollowsTheLastWholeJobAreLeftOut) {
  const Timeline timeline = Script().play("ccb!cx!").play("abc!", 5).play("ab").end();
  EXPECT_EQ(jobs_of(timeline), "abc abc abc abc abc");
  const Workload workload = workload_from_timeline(timeline, {});
  ASSERT_EQ(workload.notes.size(), 1u);
  EXPECT_EQ(
      workload.notes[0],
      "taken as 5 jobs (likely): its launches repeat exactly, with a wait in each round; left out: 5 operations in "
      "6e-05 s before, 2 operations in 1e-05 s after");
}

TEST(JobSplit, OtherWorkAtTheEndIsLeftOutToo) {
  EXPECT_EQ(jobs_of(Script().play("abc!", 5).play("xy!").end()), "abc abc abc abc abc");
}

TEST(JobSplit, FirstStepsThatTookMuchLongerAreStartUp) {
  EXPECT_EQ(jobs_of(Script().play("a----------bc!").play("abc!", 4).end()), "abc abc abc abc");
}

TEST(JobSplit, JobsBeginAfterAWaitForAllWorkEvenWhereTheHostPausesLonger) {
  EXPECT_EQ(jobs_of(Script().play("ab--c!", 4).end()), "abc abc abc abc");
  EXPECT_EQ(jobs_of(Script().play("a!b!--c!--", 4).end()), "abc abc abc abc") << "the longest of several";
}

TEST(JobSplit, JobsBeginAfterTheLongestPauseOfTheHost) {
  // Captured from the middle of a step on: the launch after the wait and the pause is `a`.
  EXPECT_EQ(jobs_of(Script().play("c!--").play("abc!--", 4).end()), "abc abc abc abc");
  EXPECT_EQ(jobs_of(Script().play("cc-").play("ab?c-", 4).play("a").end()), "abc abc abc abc")
      << "waits for single kernels may be short";
}

TEST(JobSplit, AWaitForWorkThatIsLeftOutIsNoStepOfAJob) {
  const Workload workload = workload_from_timeline(Script().play("xy").play("a?b---", 4).end(), {});
  ASSERT_EQ(workload.jobs.size(), 4u);
  EXPECT_EQ(workload.jobs[0].step_count, 2u) << "its wait was for y";
  EXPECT_EQ(workload.jobs[1].step_count, 3u);
}

TEST(JobSplit, TheSpanIsThatOfTheJobsKept) {
  const Workload workload = workload_from_timeline(Script().play("xy!").play("abc!", 4).end(), {});
  EXPECT_EQ(workload.recorded_span, Duration{(3 * 40 + 20 + 2) * 1'000}) << "three jobs, two launches and a kernel";
}

TEST(JobSplit, AProgramWithoutRepetitionStaysOneJob) {
  EXPECT_EQ(jobs_of(Script().play("abc!defg!hij!").end()), "abcdefghij");
  EXPECT_EQ(jobs_of(Script().play("abc!abc!").end()), "abcabc") << "two are not enough";
  EXPECT_EQ(jobs_of(Script().play("uvwxyz").play("abc!", 4).play("defghijklmnopq").end()),
            "uvwxyzabcabcabcabcdefghijklmnopq")
      << "most of it does not repeat";
  EXPECT_EQ(jobs_of(Script().play("a").play("!", 20).end()), "a") << "waits alone are no work";
}

TEST(JobSplit, StatedIterationsGoBeforeRepetition) {
  EXPECT_EQ(jobs_of(Script().play("abc!", 4).end(), 2), "abcabc abcabc");
}

TEST(JobSplit, AUntracedPassSpeedsUpTheJobsThatAreKeptAsItDidAll) {
  // 203 launches in 32,810 us, 10,000 of them start-up, which the untraced pass makes in half the time. A job takes 230
  // us.
  Script script;
  script.play("xyz").play("-", 200).play("ab----!", 99).play("ab!").untraced_pass(202, 16'405);
  const Workload workload = workload_from_timeline(script.end(), {});
  ASSERT_EQ(workload.jobs.size(), 100u);
  constexpr double captured_per_s = 1e6 / 230;
  EXPECT_NEAR(workload.untraced_jobs_per_s, 2 * captured_per_s, 0.02 * captured_per_s);
  EXPECT_DOUBLE_EQ(workload.untraced_jitter, 0.02);
}

TEST(JobSplit, AUntracedPassSlowerThanTheCaptureDoesNotTellTheRateOfTheJobs) {
  Script script;
  script.play("xyz").play("ab!", 20).untraced_pass(40, 1'000'000);
  const Workload workload = workload_from_timeline(script.end(), {});
  EXPECT_EQ(workload.untraced_jobs_per_s, 0);
  EXPECT_EQ(workload.untraced_jitter, 0);
  ASSERT_EQ(workload.notes.size(), 2u);
  EXPECT_NE(workload.notes[1].find("state solo_rate"), std::string::npos);
}

TEST(JobSplit, JitterOfAUntracedPassIsNotThatOfJobsWhichMadeFewOfItsLaunches) {
  Script script;
  script.play("tuvwxyzstuvw").play("ab!", 10).untraced_pass(31, 100);
  const Workload workload = workload_from_timeline(script.end(), {});
  EXPECT_GT(workload.untraced_jobs_per_s, 0);
  EXPECT_EQ(workload.untraced_jitter, 0);
  ASSERT_EQ(workload.notes.size(), 2u);
  EXPECT_EQ(workload.notes[1],
            "its jobs make 62 % of its launches, too few to take their host_jitter from its untraced pass");
}

TEST(Repetition, IsTheLongestStretchWithTheShortestPeriod) {
  const std::optional<Repetition> found = find_repetition(sequence_of("xxabcabcabcabcaqq"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->begin, 2u);
  EXPECT_EQ(found->end, 15u);
  EXPECT_EQ(found->period, 3u);
}

TEST(Repetition, ShortSequencesDoNotRepeat) {
  for (const char* text : {"", "a", "aa", "abab"}) EXPECT_FALSE(find_repetition(sequence_of(text))) << text;
  EXPECT_TRUE(find_repetition(sequence_of("aaa")));
}

std::optional<Repetition> by_trying_all(const std::vector<std::uint32_t>& sequence) {
  std::optional<Repetition> best;
  for (std::size_t period = 1; 3 * period <= sequence.size(); ++period)
    for (std::size_t begin = 0; begin + period <= sequence.size(); ++begin) {
      std::size_t end = begin + period;
      while (end < sequence.size() && sequence[end] == sequence[end - period]) ++end;
      const std::size_t equal = end - begin - period;
      const bool is_enough = equal >= 2 * period && 2 * equal >= sequence.size();
      if (is_enough && (!best || end - begin > best->end - best->begin)) best = Repetition{begin, end, period};
    }
  return best;
}

RC_GTEST_PROP(Repetition, FindsWhatTryingEveryStretchFinds, ()) {
  const auto symbols = [](std::size_t longest) {
    return rc::gen::resize(static_cast<int>(longest),
                           rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0, 3)));
  };
  std::vector<std::uint32_t> sequence = *symbols(8);
  const std::vector<std::uint32_t> period = *symbols(6), tail = *symbols(8);
  for (int times = *rc::gen::inRange(0, 7); times > 0; --times)
    sequence.insert(sequence.end(), period.begin(), period.end());
  sequence.insert(sequence.end(), tail.begin(), tail.end());

  const std::optional<Repetition> found = find_repetition(sequence), expected = by_trying_all(sequence);
  RC_ASSERT(found.has_value() == expected.has_value());
  if (!found) return;
  RC_ASSERT(found->begin == expected->begin);
  RC_ASSERT(found->end == expected->end);
  RC_ASSERT(found->period == expected->period);
}

}  // namespace
}  // namespace corun
