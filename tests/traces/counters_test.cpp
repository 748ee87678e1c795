#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "traces/base/error.h"
#include "traces/counters/bound_by.h"
#include "traces/counters/count_kernels.h"
#include "traces/counters/ncu_csv.h"

namespace corun {
namespace {

// As Nsight Compute 2025.3 prints it, between what the program prints.
const std::string kHeader =
    R"("ID","Process ID","Process Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",)"
    R"("dram__throughput.avg.pct_of_peak_sustained_elapsed","gpu__time_duration.sum",)"
    R"("lts__t_sector_hit_rate.pct","lts__throughput.avg.pct_of_peak_sustained_elapsed",)"
    R"("sm__throughput.avg.pct_of_peak_sustained_elapsed","sm__warps_active.avg.pct_of_peak_sustained_active")"
    "\n"
    R"("","","","","","","","","","","%","ns","%","%","%","%")"
    "\n";

std::string row(const std::string& kernel, const std::string& grid, const std::string& dram, const std::string& ns) {
  return fmt::format(
      R"csv("0","7","python3","{}","1","7","(128, 1, 1)","({})","0","9.0","{}","{}","50.5","61","12.25","80")csv"
      "\n",
      kernel, grid, dram, ns);
}

std::vector<CountedLaunch> read(const std::string& text) { return read_ncu_csv(text, "report.csv"); }

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(NcuCsv, LaunchesAreReadBetweenWhatTheProgramPrints) {
  const auto launches =
      read("==PROF== Connected to process 7\nstep 1\n" + kHeader +
           row("_Z3addPfi", "7056, 2, 1", "84.25", "1,234,567") + "step 2\n" + row("gemm", "4, 1, 1", "0", "900"));
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].kernel, "add(float*, int)");
  EXPECT_EQ(launches[0].blocks, 14'112u);
  EXPECT_EQ(launches[0].threads, 128u);
  EXPECT_EQ(launches[0].counted.mean_ns, 1'234'567);
  EXPECT_EQ(launches[0].counted.dram_ppm, 842'500u);
  EXPECT_EQ(launches[0].counted.l2_hits_ppm, 505'000u);
  EXPECT_EQ(launches[0].counted.l2_ppm, 610'000u);
  EXPECT_EQ(launches[0].counted.sm_ppm, 122'500u);
  EXPECT_EQ(launches[0].counted.warps_ppm, 800'000u);
}

TEST(NcuCsv, AnySetOfNcuWillDoThatHasTimeAndDram) {
  const std::string report = R"("Kernel Name","Grid Size","Block Size","gpu__time_duration.sum",)"
                             R"("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed")"
                             "\n"
                             R"("","","","usecond","%")"
                             "\n"
                             R"csv("gemm","(2, 1, 1)","(64, 1, 1)","12.5","33")csv"
                             "\n";
  const auto launches = read(report);
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].counted.mean_ns, 12'500);
  EXPECT_EQ(launches[0].counted.dram_ppm, 330'000u);
  EXPECT_EQ(launches[0].counted.sm_ppm, 0u) << "not counted";
}

TEST(NcuCsv, ALaunchThatCouldNotBeCountedIsLeftOut) {
  EXPECT_TRUE(read(kHeader + row("gemm", "4, 1, 1", "n/a", "900")).empty());
}

// As seen on an H200: 428 % of the lookups of a kernel hit.
TEST(NcuCsv, MoreHitsThanLookupsAreNotCounted) {
  std::string odd = row("gemm", "4, 1, 1", "1", "900");
  odd.replace(odd.find("50.5"), 4, "428.06");
  const auto launches = read(kHeader + odd);
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].counted.l2_hits_ppm, 0u);
  EXPECT_EQ(launches[0].counted.l2_ppm, 610'000u);
}

TEST(NcuCsv, BadReportsAreRefusedWithTheirLine) {
  EXPECT_NE(refusal("==ERROR== no kernels\n").find("no launches of kernels"), std::string::npos);
  EXPECT_NE(refusal("\"Kernel Name\",\"Grid Size\",\"Block Size\"\n").find("gpu__time_duration.sum"),
            std::string::npos);
  const std::string units = refusal(kHeader.substr(0, kHeader.find('\n') + 1) + row("gemm", "4, 1, 1", "1", "900"));
  EXPECT_NE(units.find("unit"), std::string::npos) << units;
  for (const std::string& bad :
       {row("gemm", "4; 1", "1", "900"), row("gemm", "4, 0, 1", "1", "900"), row("gemm", "4, 1, 1", "much", "900"),
        row("gemm", "4, 1, 1", "301", "900"), row("gemm", "4, 1, 1", "1", "-4")}) {
    const std::string said = refusal(kHeader + row("good", "4, 1, 1", "1", "900") + bad);
    EXPECT_NE(said.find("report.csv:4"), std::string::npos) << bad << said;
  }
}

constexpr const char* kAdd = "void at::native::vectorized_elementwise_kernel<4, at::native::Add>(int, float*)";

/// Two kernels of an addition and one of a product, 100, 300 and 600 us.
Timeline capture() {
  TimelineBuilder builder;
  const std::uint32_t queue = builder.queue({});
  const auto add = [&](const char* name, std::uint32_t blocks, std::int64_t start_us, std::int64_t us) {
    builder.add(OpRecord{.start_ns = start_us * 1'000,
                         .duration_ns = us * 1'000,
                         .name = builder.intern(name),
                         .queue = queue,
                         .shape = builder.shape({blocks, 1, 1, 128, 1, 1, 32, 0})});
  };
  add(kAdd, 10, 0, 100);
  add(kAdd, 20, 100, 300);
  add("gemm", 10, 400, 600);
  return std::move(builder).seal();
}

CountedLaunch launch(const char* kernel, std::uint64_t blocks, std::int64_t ns, std::uint32_t dram_ppm,
                     std::uint32_t sm_ppm = 0) {
  CountedLaunch launch{.kernel = kernel, .blocks = blocks, .threads = 128, .counted = {}};
  launch.counted = {.launches = 1, .mean_ns = ns, .dram_ppm = dram_ppm, .sm_ppm = sm_ppm};
  return launch;
}

TEST(CountKernels, MeansGoByTheTimeOfLaunches) {
  const Timeline timeline = capture();
  const auto counters =
      count_kernels(timeline, std::vector{launch(kAdd, 10, 50'000, 800'000), launch(kAdd, 10, 150'000, 400'000),
                                          launch("gemm", 10, 600'000, 9)});
  ASSERT_EQ(counters.size(), 2u) << "the addition of 20 blocks was not counted";
  EXPECT_EQ(timeline.text(counters[0].name), kAdd);
  EXPECT_EQ(timeline.shapes()[counters[0].shape].grid_x, 10u);
  EXPECT_EQ(counters[0].launches, 2u);
  EXPECT_EQ(counters[0].mean_ns, 100'000);
  EXPECT_EQ(counters[0].dram_ppm, 500'000u);
}

// 100 us in the capture, 125 us at the clock at which it was counted: as many bytes in less time.
TEST(CountKernels, ThroughputOfDramIsThatWhileTheKernelTakesAsLongAsInTheCapture) {
  const Timeline timeline = capture();
  EXPECT_EQ(count_kernels(timeline, std::vector{launch(kAdd, 10, 125'000, 640'000)}).at(0).dram_ppm, 800'000u);
  EXPECT_EQ(count_kernels(timeline, std::vector{launch(kAdd, 10, 180'000, 640'000)}).at(0).dram_ppm, 1'000'000u)
      << "no more than there is";
}

TEST(CountKernels, NamesWrittenInAnotherWayCountWhereTheyAgree) {
  const Timeline timeline = capture();
  constexpr const char* kOther = "void native::vectorized_elementwise_kernel<4, Add>(int, T2)";
  const auto counters_of = [&](std::vector<CountedLaunch> launches) { return count_kernels(timeline, launches); };
  EXPECT_EQ(counters_of({launch(kOther, 10, 100'000, 800'000), launch(kOther, 10, 100'000, 700'000)}).at(0).dram_ppm,
            750'000u);
  EXPECT_TRUE(counters_of({launch(kOther, 10, 100'000, 800'000), launch(kOther, 10, 100'000, 300'000)}).empty())
      << "they may be different kernels";
  EXPECT_TRUE(counters_of({launch(kOther, 10, 150'000, 800'000)}).empty()) << "it takes longer: it is another one";
}

TEST(BoundBy, PartsAreOfTheKernelsTime) {
  Timeline timeline = capture();
  timeline.set_counters(count_kernels(timeline, std::vector{launch(kAdd, 10, 100'000, 840'000, 90'000),
                                                            launch("gemm", 10, 600'000, 300'000, 900'000)}));
  const BoundBy bound = bound_by(timeline);
  EXPECT_NEAR(bound.dram, 0.1, 1e-9);
  EXPECT_NEAR(bound.sms, 0.6, 1e-9);
  EXPECT_NEAR(bound.mean.counted, 0.7, 1e-9);
  EXPECT_NEAR(bound.mean.dram, (0.1 * 0.84 + 0.6 * 0.3) / 0.7, 1e-9);
  EXPECT_EQ(to_text(bound), "DRAM 10.0 %, SMs 60.0 %, not counted 30.0 % of the kernels' time");
}

TEST(TimelineCounters, OnesThatNoDeviceHasAreRefused) {
  Timeline timeline = capture();
  EXPECT_THROW(timeline.set_counters({{.shape = 99}}), Error);
  EXPECT_THROW(timeline.set_counters({{.name = StringId{99}}}), Error);
  EXPECT_THROW(timeline.set_counters({{.dram_ppm = CounterRecord::kMost + 1}}), Error);
}

}  // namespace
}  // namespace corun
