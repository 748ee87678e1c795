#include "tests/tracer/record/programs.h"

namespace corun {
namespace {

using testing::content_of;
using testing::Recorder;

// The stand-in's kernels are of one block and one thread.
constexpr const char* kReport =
    R"("ID","Kernel Name","Block Size","Grid Size","gpu__time_duration.sum",)"
    R"("dram__throughput.avg.pct_of_peak_sustained_elapsed","sm__throughput.avg.pct_of_peak_sustained_elapsed")"
    "\n"
    R"("","","","","ns","%","%")"
    "\n"
    R"csv("0","secret_kernel","(1, 1, 1)","(1, 1, 1)","1,000","72.5","5")csv"
    "\n";

class Counters : public Recorder {
 protected:
  /// A program `ncu` on the way of commands, which leaves its words in `words` and `report` where it is told to.
  void make_ncu(const std::string& report, int code = 0) {
    std::filesystem::create_directory(folder_ / "bin");
    std::ofstream(folder_ / "report.csv") << report;
    std::ofstream(folder_ / "bin/ncu") << "#!/bin/sh\nprintf '%s\\n' \"$@\" > " << folder_ / "words"
                                       << "\nfor word; do case $word in --log-file=*) cat " << folder_ / "report.csv"
                                       << " > \"${word#--log-file=}\";; esac; done\nexit " << code << "\n";
    std::filesystem::permissions(folder_ / "bin/ncu", std::filesystem::perms::owner_all);
  }
  Finished count(const std::vector<std::string>& words) {
    return simtrace(joined({"counters"}, words), {{"PATH", (folder_ / "bin") + ":/usr/bin:/bin"}});
  }
};

TEST_F(Counters, AProgramIsRunUnderNcuAndItsCaptureKeepsAllElse) {
  ASSERT_EQ(record({}, {"open=cuda", "kernels=100"}).code, 0);
  const Timeline before = capture();
  make_ncu(kReport);
  const Finished done = count({"x.corun", "--skip", "7", "--launches", "9", "--", stand_in_path(), "exit=3"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_NE(done.err.find("DRAM 72 %"), std::string::npos) << done.err;
  const std::string words = content_of(folder_ / "words");
  for (const std::string& word : {std::string("--launch-skip=7"), std::string("--launch-count=9"),
                                  std::string("--clock-control=none"), stand_in_path(), std::string("exit=3")})
    EXPECT_NE(words.find(word + "\n"), std::string::npos) << words;
  const Timeline after = capture();
  ASSERT_EQ(after.counters().size(), 1u);
  EXPECT_EQ(after.counters()[0].dram_ppm, 725'000u);
  EXPECT_EQ(after.ops(), before.ops());
  EXPECT_EQ(after.calls(), before.calls());
  EXPECT_EQ(after.provenance().programs, before.provenance().programs);
}

TEST_F(Counters, AReportOfElsewhereGoesIntoANewFile) {
  ASSERT_EQ(record({}, {"open=cuda", "kernels=10"}).code, 0);
  std::ofstream(folder_ / "ncu.csv") << kReport;
  EXPECT_EQ(simtrace({"counters", "x.corun", "--csv", "ncu.csv", "-o", "y.corun"}).code, 0);
  EXPECT_TRUE(capture().counters().empty());
  EXPECT_EQ(capture("y.corun").counters().size(), 1u);
  EXPECT_EQ(simtrace({"counters", "x.corun", "--csv", "ncu.csv", "-o", "y.corun"}).code, 2) << "it exists";
}

TEST_F(Counters, JsonSaysWhatTheKernelsAreBoundByAndUse) {
  ASSERT_EQ(record({}, {"open=cuda", "kernels=10"}).code, 0);
  std::ofstream(folder_ / "ncu.csv") << kReport;
  EXPECT_EQ(simtrace({"counters", "x.corun", "--csv", "ncu.csv", "-o", "y.corun", "--json"}).err,
            R"({"schema_version":1,"output":"y.corun","kernels":1,"counted":1,)"
            R"("bound_by":{"dram":1.0000,"l2":0.0000,"sms":0.0000,"nothing":0.0000},)"
            R"("mean_use":{"dram":0.7250,"l2":0.0000,"sms":0.0500,"counted":1.0000}})"
            "\n");
}

TEST_F(Counters, WhatCannotBeCountedIsToldAndChangesNothing) {
  ASSERT_EQ(record({}, {"open=cuda", "kernels=10"}).code, 0);
  const std::string before = content_of(folder_ / "x.corun");
  EXPECT_EQ(simtrace({"counters", "x.corun"}).code, 2) << "neither a command nor a report";
  const Finished missing = simtrace({"counters", "x.corun", "--", "true"});
  EXPECT_EQ(missing.code, 3) << missing.err;
  EXPECT_NE(missing.err.find("Nsight Compute"), std::string::npos) << missing.err;
  make_ncu("==PROF== Connected\n==ERROR== ERR_NVGPUCTRPERM - the user does not have permission\n", 1);
  const Finished refused = count({"x.corun", "--", "true"});
  EXPECT_EQ(refused.code, 4) << refused.err;
  EXPECT_NE(refused.err.find("NVreg_RestrictProfilingToAdminUsers"), std::string::npos) << refused.err;
  std::string other = kReport;
  other.replace(other.find("secret_kernel"), 13, "others_kernel");
  make_ncu(other);
  const Finished unlike = count({"x.corun", "--", "true"});
  EXPECT_EQ(unlike.code, 2);
  EXPECT_NE(unlike.err.find("none of its kernels"), std::string::npos) << unlike.err;
  EXPECT_EQ(content_of(folder_ / "x.corun"), before);
}

}  // namespace
}  // namespace corun
