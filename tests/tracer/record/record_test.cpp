#include <sys/resource.h>
#include <sys/stat.h>

#include <thread>

#include "tests/tracer/record/programs.h"
#include "traces/parts/part_record.h"

namespace corun {
namespace {

namespace fs = std::filesystem;
using testing::comes_true;
using testing::content_of;
using testing::Recorder;
using testing::Running;

constexpr auto kOwnerOnly = fs::perms::owner_read | fs::perms::owner_write;

std::uint64_t kernels_of(const Timeline& timeline) { return summarize(timeline).kernels; }

TEST_F(Recorder, PassesTheProgramThroughAndWritesItsCapture) {
  const Finished done = record({}, {"open=cuda", "print=out", "complain=err", "kernels=100", "exit=7"});
  EXPECT_EQ(done.code, 7) << done.err;
  EXPECT_EQ(done.out, "out\n");
  EXPECT_TRUE(done.err.starts_with("err\n")) << done.err;
  EXPECT_NE(done.err.find("100, and 0 copies"), std::string::npos) << done.err;
  EXPECT_EQ(kernels_of(capture()), 100u);
  EXPECT_EQ(fs::status(folder_ / "x.corun").permissions(), kOwnerOnly);
  EXPECT_FALSE(exists("x.corun.parts")) << "the parts are gone when the capture is there";
}

TEST_F(Recorder, ExitCodesAreThoseOfShells) {
  EXPECT_EQ(record({}, {"open=cuda", "kernels=1", "raise=9"}).code, 128 + 9);
  EXPECT_EQ(simtrace({"record", "-o", "y.corun", "--", "no-such-program"}).code, 127);
  EXPECT_EQ(simtrace({"record", "-o", "y.corun", "--", "/etc/passwd"}).code, 126);
  EXPECT_FALSE(exists("y.corun.parts")) << "nothing is left where nothing ran";
  EXPECT_EQ(simtrace({"record", "-o", "y.corun", "--", "true"}).code, 0);
  EXPECT_EQ(simtrace({"record", "-o", "y.corun", "--", "false"}).code, 1);
}

TEST_F(Recorder, AKilledProgramLeavesACaptureThatSaysSo) {
  const Finished done = record({}, {"open=cuda", "kernels=5000", "sleep=1200", "kernels=1", "raise=9"});
  EXPECT_EQ(done.code, 137);
  EXPECT_GE(kernels_of(capture()), 5000u);
  EXPECT_NE(done.err.find("killed"), std::string::npos) << done.err;
}

TEST_F(Recorder, WrongUsageIsRefusedBeforeAnythingRuns) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"record", "-o", "x.corun"},
                                             {"record", "--no-such-option", "--", "touch", "ran"},
                                             {"record", "--timed", "30", "--", "touch", "ran"},
                                             {"record", "--frames", "9..3", "--", "touch", "ran"},
                                             {"record", "--frames", "0..3", "--", "touch", "ran"},
                                             {"record", "--frames", "-1..3", "--", "touch", "ran"},
                                             {"record", "--delay", "2562047h", "--timed", "1h", "--", "touch", "ran"},
                                             {"record", "--max-size", "100", "--", "touch", "ran"},
                                             {"record", "--redact", "faces", "--", "touch", "ran"},
                                             {"record", "--kill", "term", "--", "touch", "ran"},
                                             {"record", "--rate-pass", "--cuda", "off", "--", "touch", "ran"},
                                             {"record", "--rate-pass", "--detail", "kernels", "--", "touch", "ran"},
                                             {"record", "touch", "ran"},
                                             {"recrod", "--", "touch", "ran"},
                                             {}}) {
    const Finished done = simtrace(words);
    EXPECT_EQ(done.code, 2) << ::testing::PrintToString(words);
    EXPECT_FALSE(done.err.empty());
    EXPECT_EQ(done.out, "");
    EXPECT_FALSE(exists("ran")) << ::testing::PrintToString(words);
  }
}

TEST_F(Recorder, AnExistingCaptureIsReplacedOnlyWithForce) {
  std::ofstream(folder_ / "x.corun") << "mine";
  const Finished refused = record({}, {"touch=ran"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("exists"), std::string::npos) << refused.err;
  EXPECT_FALSE(exists("ran"));
  EXPECT_EQ(content_of(folder_ / "x.corun"), "mine");
  EXPECT_EQ(record({"-f"}, {"open=cuda", "kernels=3"}).code, 0);
  EXPECT_EQ(kernels_of(capture()), 3u);
}

TEST_F(Recorder, ASymbolicLinkIsNeverWrittenThrough) {
  std::ofstream(folder_ / "target") << "mine";
  fs::create_symlink("target", folder_ / "x.corun");
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{{}, {"-f"}}) {
    EXPECT_EQ(record(options, {"touch=ran"}).code, 2);
    EXPECT_EQ(content_of(folder_ / "target"), "mine");
    EXPECT_FALSE(exists("ran"));
  }
  fs::create_directory(folder_ / "elsewhere");
  fs::create_symlink("elsewhere", folder_ / "y.corun.parts");
  EXPECT_EQ(simtrace({"record", "-f", "-o", "y.corun", "--", stand_in_path(), "touch=ran"}).code, 2);
  EXPECT_FALSE(exists("ran"));
}

TEST_F(Recorder, PartsOfAnEarlierRecordingAreDeletedOnlyWithForceAndNothingElseIs) {
  fs::create_directory(folder_ / "x.corun.parts");
  std::ofstream(folder_ / "x.corun.parts/1-1-cuda.part") << "old";
  EXPECT_EQ(record({}, {"touch=ran"}).code, 2);
  EXPECT_FALSE(exists("ran"));
  std::ofstream(folder_ / "x.corun.parts/diary") << "mine";
  EXPECT_EQ(record({"-f"}, {"touch=ran"}).code, 2);
  EXPECT_TRUE(exists("x.corun.parts/diary"));
  fs::remove(folder_ / "x.corun.parts/diary");
  EXPECT_EQ(record({"-f"}, {"open=cuda", "kernels=3"}).code, 0);
  EXPECT_EQ(kernels_of(capture()), 3u);
}

TEST_F(Recorder, ARecordingThatStillRunsIsNotDeletedByForce) {
  Running running = start(recording({}, {"touch=ready", "await=go", "open=cuda", "kernels=3"}));
  ASSERT_TRUE(comes_true([&] { return exists("ready"); }));
  const Finished refused = record({"-f"}, {"touch=ran"});
  EXPECT_EQ(refused.code, 2) << "its recorder lives";
  EXPECT_NE(refused.err.find("still runs"), std::string::npos) << refused.err;
  EXPECT_EQ(simtrace({"merge", "x.corun.parts"}).code, 2);
  EXPECT_FALSE(exists("ran"));
  std::ofstream(folder_ / "go") << "";
  EXPECT_EQ(running.wait(), 0);
  EXPECT_EQ(kernels_of(capture()), 3u);
}

TEST_F(Recorder, APartWhoseWriterLivesIsNotDeletedByForce) {
  Running running = start(recording({}, {"open=cuda", "touch=ready", "await=go"}));
  ASSERT_TRUE(comes_true([&] { return exists("ready"); }));
  running.send(SIGKILL);
  EXPECT_EQ(running.wait(), 137);
  const Finished refused = record({"-f"}, {"touch=ran"});
  EXPECT_EQ(refused.code, 2) << "the recorder is gone, the program goes on";
  EXPECT_NE(refused.err.find("still writes"), std::string::npos) << refused.err;
  EXPECT_FALSE(exists("ran"));
  std::ofstream(folder_ / "go") << "";
}

TEST_F(Recorder, APartThatCannotBeReadIsKept) {
  Running running = start(recording({}, {"open=cuda", "kernels=3", "touch=ready", "await=go"}));
  ASSERT_TRUE(comes_true([&] { return exists("ready"); }));
  std::ofstream(folder_ / "x.corun.parts/1-1-cuda.part") << "of a newer version";
  std::ofstream(folder_ / "x.corun.parts/2-1-cuda.part") << "";
  std::ofstream(folder_ / "go") << "";
  EXPECT_EQ(running.wait(), 0);
  EXPECT_EQ(kernels_of(capture()), 3u);
  EXPECT_NE(running.err().find("is kept"), std::string::npos) << running.err();
  EXPECT_TRUE(exists("x.corun.parts/1-1-cuda.part"));
}

TEST_F(Recorder, AProgramThatGoesOnWithoutEndingItsPartIsNotCalledKilled) {
  Running running = start(recording({"--timed", "1s"}, {"open=gl", "frames=20", "await=go"}));
  EXPECT_TRUE(comes_true([&] { return exists("x.corun") && !exists("x.corun.parts"); }));
  EXPECT_EQ(capture().frames().size(), 20u);
  std::ofstream(folder_ / "go") << "";
  EXPECT_EQ(running.wait(), 0);
  EXPECT_EQ(running.err().find("killed"), std::string::npos) << running.err();
  EXPECT_NE(running.err().find("goes on"), std::string::npos) << running.err();
}

TEST_F(Recorder, OtherSignalsGoOnToTheProgramToo) {
  Running running = start(recording({}, {"on-user", "open=cuda", "kernels=3", "touch=ready", "await=user", "exit=4"}));
  ASSERT_TRUE(comes_true([&] { return exists("ready"); }));
  running.send(SIGUSR1);
  EXPECT_EQ(running.wait(), 4);
  EXPECT_EQ(kernels_of(capture()), 3u);
}

TEST_F(Recorder, AFolderThatCannotBeWrittenToIsAnErrorBeforeTheProgramStarts) {
  const Finished done = simtrace({"record", "-o", "/proc/x.corun", "--", stand_in_path(), "touch=ran"});
  EXPECT_EQ(done.code, 2);
  EXPECT_NE(done.err.find("/proc/x.corun"), std::string::npos) << done.err;
  EXPECT_FALSE(exists("ran"));
}

TEST_F(Recorder, PartsAreForTheOwnerOnly) {
  Running running = start(recording({}, {"open=cuda", "kernels=1", "await=looked"}));
  ASSERT_TRUE(comes_true([&] { return !files("x.corun.parts").empty(); }));
  EXPECT_EQ(fs::status(folder_ / "x.corun.parts").permissions(), fs::perms::owner_all);
  for (const std::string& file : files("x.corun.parts")) EXPECT_EQ(fs::status(file).permissions(), kOwnerOnly) << file;
  std::ofstream(folder_ / "looked") << "";
  EXPECT_EQ(running.wait(), 0);
}

TEST_F(Recorder, AProgramThatCannotBeRecordedIsToldWhy) {
  const Finished plain = record({}, {"exit=3"});
  EXPECT_EQ(plain.code, 3) << "the program's own code, not ours";
  EXPECT_NE(plain.err.find("nothing was recorded"), std::string::npos) << plain.err;
  EXPECT_FALSE(exists("x.corun"));
  EXPECT_FALSE(exists("x.corun.parts"));
  const Finished linked = simtrace({"record", "-o", "x.corun", "--", fs::absolute(CORUN_STATIC_PROGRAM)});
  EXPECT_EQ(linked.code, 0);
  EXPECT_NE(linked.err.find("statically linked"), std::string::npos) << linked.err;
  const Finished shell =
      simtrace({"record", "-o", "x.corun", "--", "sh", "-c", stand_in_path() + " open=cuda kernels=1; true"});
  EXPECT_NE(shell.err.find("--follow-children"), std::string::npos) << shell.err;
  const Finished taken = record({}, {"open=cuda", "end=7"});
  EXPECT_NE(taken.err.find("another profiler"), std::string::npos) << taken.err;
}

TEST_F(Recorder, ChildrenAreRecordedOnlyWhenAsked) {
  const std::vector<std::string> words = {"open=cuda", "kernels=10", "spawn", "open=cuda", "kernels=5", "exit=4"};
  EXPECT_EQ(record({}, words).code, 4);
  EXPECT_EQ(kernels_of(capture()), 10u);
  EXPECT_EQ(record({"-f", "--follow-children"}, words).code, 4);
  EXPECT_EQ(kernels_of(capture()), 15u);
}

TEST_F(Recorder, AChildThatOutlivesTheProgramIsWaitedFor) {
  const Finished done =
      record({"--follow-children"}, {"leave=ready", "open=cuda", "kernels=5", "touch=ready", "sleep=300", "kernels=5"});
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(kernels_of(capture()), 10u);
}

TEST_F(Recorder, AForkedChildWritesNothingIntoItsParentsPart) {
  EXPECT_EQ(record({"--follow-children"}, {"open=cuda", "kernels=10", "fork-and-add=1000", "kernels=1"}).code, 0);
  EXPECT_EQ(kernels_of(capture()), 11u);
}

TEST_F(Recorder, WhatAnExecLeavesBehindIsMergedWithWhatComesAfter) {
  EXPECT_EQ(record({}, {"open=cuda", "kernels=1000", "sleep=1300", "exec", "open=cuda", "kernels=20"}).code, 0);
  EXPECT_EQ(kernels_of(capture()), 1020u);
}

TEST_F(Recorder, SignalsGoOnToTheProgramAndTheCaptureIsWritten) {
  for (const int number : {SIGTERM, SIGINT}) {
    Running running =
        start(recording({"-f"}, {"on-term", "open=cuda", "kernels=10", "touch=ready", "kernels-for=5000"}));
    ASSERT_TRUE(comes_true([&] { return exists("ready"); }));
    running.send(number);
    EXPECT_EQ(running.wait(), 0) << "the program's own code";
    EXPECT_EQ(running.out(), "terminated\n");
    EXPECT_GE(kernels_of(capture()), 10u);
    fs::remove(folder_ / "ready");
  }
}

TEST_F(Recorder, AWindowEndsTheRecordingAndNotTheProgram) {
  const Finished done =
      record({"--delay", "100ms", "--timed", "500ms"}, {"open=cuda", "kernels-for=3000", "print=went on", "exit=5"});
  EXPECT_EQ(done.code, 5) << done.err;
  EXPECT_EQ(done.out, "went on\n");
  const Timeline timeline = capture();
  EXPECT_GT(kernels_of(timeline), 0u);
  EXPECT_LE(summarize(timeline).span_ns, 550'000'000);
}

TEST_F(Recorder, TheCaptureOfAWindowIsThereWhileTheProgramGoesOn) {
  Running running = start(recording({"--timed", "100ms"}, {"on-term", "open=cuda", "kernels-for=9000"}));
  EXPECT_TRUE(comes_true([&] { return exists("x.corun") && !exists("x.corun.parts"); }));
  EXPECT_EQ(::kill(running.process(), 0), 0) << "simtrace waits for the program";
  running.send(SIGTERM);
  EXPECT_EQ(running.wait(), 0);
  EXPECT_EQ(running.out(), "terminated\n");
}

TEST_F(Recorder, AfterAWindowTheProgramIsTerminatedWhereThatWasAsked) {
  const Finished done = record({"--timed", "500ms", "--kill", "term"}, {"open=cuda", "kernels-for=9000"});
  EXPECT_EQ(done.code, 128 + SIGTERM) << done.err;
  EXPECT_EQ(done.err.find("killed"), std::string::npos) << "the signal waits for the end of the parts: " << done.err;
  EXPECT_GT(kernels_of(capture()), 20u);
}

TEST_F(Recorder, FramesOutsideTheWindowAreLeftOut) {
  EXPECT_EQ(record({"--frames", "11..30"}, {"open=gl", "frames=100"}).code, 0);
  EXPECT_EQ(capture().frames().size(), 20u);
}

TEST_F(Recorder, FramesThatNeverCameAreNothingRecordedAndNoFailure) {
  const Finished done = record({"--frames", "500..600", "--json"}, {"open=gl", "open=cuda", "kernels=3", "exit=7"});
  EXPECT_EQ(done.code, 7) << "the program's own code";
  EXPECT_NE(done.err.find("no frame of 500 to 600"), std::string::npos) << done.err;
  EXPECT_FALSE(exists("x.corun"));
  EXPECT_NE(done.err.find("\n{\"schema_version\":1,\"output\":null"), std::string::npos) << done.err;
  EXPECT_TRUE(done.err.ends_with("}\n")) << done.err;
}

TEST_F(Recorder, KernelsAreNumberedWhereNamesAreRedacted) {
  EXPECT_EQ(record({}, {"open=cuda", "kernels=3"}).code, 0);
  EXPECT_EQ(capture().text(capture().ops()[0].name), "secret_kernel");
  EXPECT_EQ(record({"-f", "--redact", "names"}, {"open=cuda", "kernels=3"}).code, 0);
  EXPECT_TRUE(capture().text(capture().ops()[0].name).starts_with("kernel_"));
  EXPECT_TRUE(capture().text(capture().ops()[0].name).ends_with("_1"));
}

TEST_F(Recorder, TheCaptureSaysHowMuchMemoryCameIntoUse) {
  const std::vector<std::string> words = {"open=cuda", "kernels=3", "touch=allocated", "sleep=900"};
  const Finished done = record({}, words, {{"LD_LIBRARY_PATH", CORUN_FAKE_NVML}});
  EXPECT_EQ(done.code, 0) << done.err;
  const std::vector<MemoryPeak> expected = {{.bytes = 2ull << 30, .source = MemorySource::kInUse}};
  EXPECT_EQ(capture().memory_peaks(), expected) << "what was in use before is not the program's";
}

TEST_F(Recorder, TheCaptureSaysWhatTheGpuDrewWhileItsKernelsRan) {
  const std::vector<std::string> words = {"open=cuda", "kernels=3", "sleep=1200", "kernels=3"};
  EXPECT_EQ(record({}, words, {{"LD_LIBRARY_PATH", CORUN_FAKE_NVML}}).code, 0);
  const std::vector<PowerMean> power = capture().provenance().power;
  ASSERT_EQ(power.size(), 1u);
  EXPECT_NEAR(power[0].watts, 300, 3);
  EXPECT_EQ(power[0].sm_mhz, 1410);
  EXPECT_EQ(record({"-f"}, {"open=cuda", "kernels=3"}, {{"LD_LIBRARY_PATH", CORUN_FAKE_NVML}}).code, 0);
  EXPECT_TRUE(capture().provenance().power.empty()) << "too short for the meter";
}

bool has_neighbours(const Timeline& timeline) { return timeline.fidelity().co_run; }

// Frames name no GPU. The recorder counts as one of its own programs, process 1 does not.
TEST_F(Recorder, FramesHaveNeighboursOnTheGpuOnWhichTheyAreDrawn) {
  const auto frames_with = [&](const std::string& workers) {
    std::ofstream(folder_ / "workers") << workers;
    const Finished done = record({"-f"}, {"open=gl", "frames=20", "sleep=300"}, {{"LD_LIBRARY_PATH", CORUN_FAKE_NVML}});
    EXPECT_EQ(done.code, 0) << done.err;
    return capture();
  };
  EXPECT_TRUE(has_neighbours(frames_with("0 0\n1 0\n")));
  EXPECT_FALSE(has_neighbours(frames_with("0 0\n1 1\n"))) << "on another GPU";
  EXPECT_TRUE(has_neighbours(frames_with("1 1\n"))) << "it is not known on which the frames were drawn";
  EXPECT_FALSE(has_neighbours(frames_with("0 0\n")));
}

// It sleeps between its kernels but for the calls that make them.
TEST_F(Recorder, TheCaptureSaysWhatItsHostHadOfTheCpu) {
  const Finished done = record({}, {"open=cuda", "kernels=3", "sleep=900", "kernels=3"});
  EXPECT_EQ(done.code, 0) << done.err;
  const Timeline timeline = capture();
  const std::vector<HostUse>& uses = timeline.provenance().host_use;
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_EQ(uses[0].process, timeline.threads()[0].process);
  EXPECT_EQ(uses[0].thread, timeline.threads()[0].thread);
  EXPECT_GE(uses[0].span_ns, 300'000'000);
  EXPECT_LE(uses[0].running_ns, uses[0].span_ns / 4);
  EXPECT_NE(done.err.find("host"), std::string::npos) << done.err;
}

TEST_F(Recorder, WithoutTheDriversLibraryNoMemoryIsClaimed) {
  EXPECT_EQ(record({}, {"open=cuda", "kernels=3", "touch=allocated", "sleep=300"}).code, 0);
  EXPECT_TRUE(capture().memory_peaks().empty());
}

TEST_F(Recorder, ProgramsAreGivenTheLibraryForTheirRanges) {
  const auto printed = [&](const std::map<std::string, std::string>& more) {
    return simtrace({"record", "-f", "-o", "y.corun", "--", "/usr/bin/printenv", "NVTX_INJECTION64_PATH"}, more).out;
  };
  EXPECT_TRUE(printed({}).ends_with("/libcorun_cuda.so\n")) << printed({});
  EXPECT_EQ(printed({{"NVTX_INJECTION64_PATH", "/a/profiler.so"}}), "/a/profiler.so\n");
}

TEST_F(Recorder, WhatIsSwitchedOffIsNotRecorded) {
  EXPECT_EQ(record({"--gl", "off"}, {"open=gl", "frames=10"}).code, 0);
  EXPECT_FALSE(exists("x.corun"));
  EXPECT_EQ(record({"--detail", "kernels"}, {"open=cuda", "kernels=10"}).code, 0);
  EXPECT_EQ(kernels_of(capture()), 10u);
  EXPECT_TRUE(capture().calls().empty());
}

TEST_F(Recorder, APartStopsAtTheSizeThatWasGiven) {
  const Finished done = record({"--max-size", "200kB"}, {"open=cuda", "kernels=20000", "exit=7"});
  EXPECT_EQ(done.code, 7);
  EXPECT_GT(kernels_of(capture()), 500u);
  EXPECT_LT(kernels_of(capture()), 3000u);
  EXPECT_NE(done.err.find("note"), std::string::npos) << done.err;
}

TEST_F(Recorder, AnUntracedPassGivesTheRateWithoutRecording) {
  const Finished done = record({"--rate-pass"}, {"open=cuda", "print=once", "kernels=20000"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.out, "once\n") << "the untraced pass is silent";
  EXPECT_EQ(kernels_of(capture()), 20000u);
  const auto rate = capture().provenance().untraced_rate;
  ASSERT_TRUE(rate.has_value()) << done.err;
  EXPECT_NEAR(static_cast<double>(rate->launches), 10000, 2 * part::kLaunchesPerCount);
  EXPECT_GT(rate->duration_ns, 0);
}

TEST_F(Recorder, AnUntracedPassThatIsInterruptedIsTheLast) {
  Running running = start(recording({"--rate-pass"}, {"open=cuda", "touch=ready", "kernels-for=9000"}));
  ASSERT_TRUE(comes_true([&] { return exists("ready"); }));
  running.send(SIGINT);
  EXPECT_EQ(running.wait(), 130);
  EXPECT_FALSE(exists("x.corun"));
  EXPECT_FALSE(exists("x.corun.parts"));
}

TEST_F(Recorder, TheSummaryAsJsonIsTheLastLine) {
  const Finished done = record({"--json"}, {"open=cuda", "kernels=12", "complain=hm"});
  const std::string line = done.err.substr(done.err.rfind('\n', done.err.size() - 2) + 1);
  EXPECT_TRUE(line.starts_with("{\"schema_version\":1,\"output\":\"x.corun\"")) << line;
  EXPECT_NE(line.find("\"kernels\":12,"), std::string::npos) << line;
  EXPECT_NE(line.find("\"program\":\"stand_in\""), std::string::npos) << line;
  EXPECT_TRUE(line.ends_with("}\n"));
}

TEST_F(Recorder, QuietSaysNothing) {
  const Finished done = record({"-q"}, {"open=cuda", "kernels=12"});
  EXPECT_EQ(done.out + done.err, "");
  EXPECT_EQ(kernels_of(capture()), 12u);
}

TEST_F(Recorder, WithoutANameTheCaptureIsCalledAfterTheProgram) {
  const Finished done = simtrace({"record", "--", stand_in_path(), "open=cuda", "kernels=1"});
  EXPECT_EQ(done.code, 0);
  const std::string name = done.err.substr(13, done.err.find('\n') - 13);
  EXPECT_TRUE(done.err.starts_with("recording to stand_in-2")) << done.err;
  EXPECT_TRUE(exists(name)) << name;
  fs::create_directory(folder_ / "captures");
  EXPECT_EQ(simtrace({"record", "-o", "captures", "--", stand_in_path(), "open=cuda", "kernels=1"}).code, 0);
  EXPECT_EQ(files("captures").size(), 1u);
}

TEST_F(Recorder, AFullDiskEndsTheRecordingAndNotTheProgram) {
  const std::string command = "ulimit -f 200; exec " + simtrace_path() + " record -o x.corun -- " + stand_in_path() +
                              " open=cuda kernels=20000 print=end exit=7";
  Running running({"/bin/bash", "-c", command}, folder_.path());
  EXPECT_EQ(running.wait(), 7) << running.err();
  EXPECT_EQ(running.out(), "end\n") << "the program never notices";
  EXPECT_GT(kernels_of(capture()), 500u);
  EXPECT_LT(kernels_of(capture()), 3000u);
  EXPECT_NE(running.err().find("note"), std::string::npos) << running.err();
}

TEST_F(Recorder, ACaptureThatCannotBeWrittenKeepsThePartsForAMerge) {
  const Finished done = record({}, {"open=cuda", "kernels=50", "touch=x.corun", "exit=7"});
  EXPECT_EQ(done.code, 125) << done.err;
  EXPECT_NE(done.err.find("simtrace merge"), std::string::npos) << done.err;
  EXPECT_EQ(simtrace({"merge", "x.corun.parts"}).code, 2) << "the name is still taken";
  EXPECT_EQ(simtrace({"merge", "x.corun.parts", "-o", "y.corun"}).code, 0);
  EXPECT_EQ(kernels_of(capture("y.corun")), 50u);
}

TEST_F(Recorder, SteamGetsALineThatStartsItsCommand) {
  const Finished done = simtrace({"record", "--steam"});
  EXPECT_EQ(done.code, 0);
  EXPECT_TRUE(done.out.starts_with('"' + simtrace_path() + "\" record --follow-children")) << done.out;
  EXPECT_TRUE(done.out.ends_with("-- %command%\n"));
}

}  // namespace
}  // namespace corun
