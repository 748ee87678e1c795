// Two training jobs under nvshare's lock: Table 12.2 of its thesis (two instances on one P100; nvshare-gaia.md 1.5) and
// the small model of nvshare-gaia.md 1.6. Each job is one CPU phase and then one GPU phase. Nothing is fitted to the
// checked numbers: the phases are halves of the solo time, as the table's "50/50" says, and memory, working set and
// bandwidth are the stated ones.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/shapes/run_policy.h"

namespace corun {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Settings;

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
constexpr Duration kStride = milliseconds{100};  // a kernel and the launch gap after it

DeviceSpec p100() {
  DeviceSpec device;
  device.name = "p100";
  device.sm_count = 56;
  device.memory_bytes = std::uint64_t{16260} << 20;  // of which a context takes 256 MiB: studies/memory
  device.context_bytes = std::uint64_t{256} << 20;
  device.time_slice = Duration{1'024'000};  // the open driver's default
  device.switch_cost = Duration{0};
  device.handover_bandwidth_bytes_per_s = 6'000'000'000;  // PCIe at 12 GB/s, shared by what goes out and what comes in
  device.thrash_bandwidth_bytes_per_s = static_cast<std::uint64_t>(1.03 * kGib);
  return device;
}

struct TrainingJob {
  Duration cpu_phase{};
  Duration gpu_phase{};
  double duty = 0.85;  // share of the GPU phase in which a kernel runs
  std::uint64_t working_set_bytes = 0;
};

constexpr std::uint64_t kBig = 15'300'000'000;

TrainingJob half_and_half(Duration solo, std::uint64_t working_set_bytes) {
  return TrainingJob{.cpu_phase = solo / 2, .gpu_phase = solo / 2, .working_set_bytes = working_set_bytes};
}

std::shared_ptr<const Workload> workload_of(const TrainingJob& job) {
  const Duration kernel{std::llround(static_cast<double>(to_ns(kStride)) * job.duty)};
  Workload workload;
  workload.names = {"kernel"};
  const std::vector<Duration> kernels(static_cast<std::size_t>(job.gpu_phase / kStride), kernel);
  testing::append_job(workload, kernels, job.cpu_phase, kStride - kernel, true);
  workload.check();
  return std::make_shared<const Workload>(std::move(workload));
}

/// Seconds until two instances of the job have finished, started half a kernel apart.
double seconds_for_two(const TrainingJob& job, std::string_view policy, const Settings& settings = {}) {
  RunInput input;
  input.device = p100();
  input.horizon = seconds{100'000};
  for (const char* name : {"first", "second"}) {
    ClientSpec client;
    client.name = name;
    client.workload = workload_of(job);
    client.repeat = 1;
    client.arrival = static_cast<std::int64_t>(input.clients.size()) * (kStride / 2);
    client.context.working_set_bytes = job.working_set_bytes;
    client.context.touch_period = seconds{1};  // a training iteration goes through all of its memory; ours
    input.clients.push_back(client);
  }
  const auto rule = testing::make_policy(policy, settings);
  input.policy = rule.get();
  input.policy_name = policy;
  Recorder nobody;
  return to_seconds(simulate(input, nobody).end - kRunStart);
}

struct Row {
  const char* quantum;
  double small_50_s;
  double big_50_s;
};
constexpr Row kTable[] = {
    {"1000s", 2053, 2043}, {"500s", 2053, 2070}, {"400s", 2030, 2081}, {"300s", 2010, 2085}, {"200s", 2007, 2092},
    {"100s", 2010, 2100},  {"60s", 2020, 2122},  {"50s", 1995, 2145},  {"40s", 1993, 2156},  {"30s", 2017, 2170},
    {"20s", 2007, 2204},   {"15s", 1983, 2305},  {"10s", 2009, 2465},
};

TEST(NvshareShape, TimeSlicedJobsThatFitFillOneAnothersLaunchGaps) {
  for (const double duty : {0.81, 0.85}) {
    const TrainingJob job{.cpu_phase = seconds{30}, .gpu_phase = seconds{60}, .duty = duty};
    EXPECT_NEAR(seconds_for_two(job, "passthrough"), 30 + 2 * 60 * duty, 0.5) << duty;
  }
}

TEST(NvshareShape, TheLockCostsTheLaunchGapsWhateverTheQuantumWhereMemoryFits) {
  const TrainingJob small_50 = half_and_half(seconds{1318}, 7'200'000'000);
  for (const Row& row : kTable) {
    const double elapsed = seconds_for_two(small_50, "nvshare", {{"quantum", row.quantum}});
    EXPECT_NEAR(elapsed, 659 + 2 * 659, 0.005 * 1977) << row.quantum;
    EXPECT_NEAR(elapsed, row.small_50_s, 0.04 * row.small_50_s) << row.quantum;
  }
}

TEST(NvshareShape, OversubscribedJobsPayForEachHandOverAsMeasured) {
  const TrainingJob big_50 = half_and_half(seconds{1383}, kBig);
  double squares = 0;
  for (const Row& row : kTable) {
    const double elapsed = seconds_for_two(big_50, "nvshare", {{"quantum", row.quantum}});
    const double error = elapsed / row.big_50_s - 1;
    EXPECT_LT(std::abs(error), 0.06) << row.quantum << ": " << elapsed << " s, measured " << row.big_50_s << " s";
    squares += error * error;
  }
  EXPECT_LT(std::sqrt(squares / static_cast<double>(std::size(kTable))), 0.03);
}

// At 5 s half of every quantum is paging, and a small error of the hand-over's cost counts twice.
TEST(NvshareShape, AQuantumOfTwoHandOversIsRuinousAsMeasured) {
  const TrainingJob big_50 = half_and_half(seconds{1383}, kBig);
  EXPECT_NEAR(seconds_for_two(big_50, "nvshare", {{"quantum", "5s"}}), 3496, 0.1 * 3496);
}

TEST(NvshareShape, WithoutTheLockOversubscribedJobsThrash) {
  const TrainingJob job = half_and_half(seconds{40}, kBig);
  const double locked = seconds_for_two(job, "nvshare"), thrashing = seconds_for_two(job, "passthrough");
  EXPECT_GT(thrashing, 4 * locked);
  // Each touches its 15.3 GB every second of compute, of which 1.03 GiB/s come in.
  EXPECT_NEAR(thrashing, 20 + 2 * 20 * 0.85 * (1 + 15.3e9 / (1.03 * kGib)), 0.05 * thrashing);
}

}  // namespace
}  // namespace corun
