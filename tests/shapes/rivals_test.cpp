// What the rivals promise, on the whole simulator: how long an urgent client waits, and what is left for the others.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "tests/shapes/run_policy.h"

namespace corun {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Settings;

/// Of client 0: from the submission of a job's first operation to the end of its last.
class Latencies : public Recorder {
 public:
  void on_op(const OpFact& op) override {
    if (op.client.value != 0) return;
    const auto [span, is_new] = jobs_.try_emplace(op.job, op.submitted, op.end);
    if (is_new) return;
    span->second.first = std::min(span->second.first, op.submitted);
    span->second.second = std::max(span->second.second, op.end);
  }
  /// In milliseconds; 0.5 is the median, 1 the worst.
  double quantile(double q) const {
    std::vector<double> sorted;
    for (const auto& [job, span] : jobs_) sorted.push_back(to_milliseconds(span.second - span.first));
    std::ranges::sort(sorted);
    return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))];
  }

 private:
  std::map<std::uint64_t, std::pair<Time, Time>> jobs_;
};

struct Outcome {
  double worst_ms = 0, median_ms = 0;  // latency of client 0's jobs
  std::vector<std::uint64_t> jobs;     // by client
};

/// Kernels of one name, `count` a job, each of `duration` alone in `blocks` blocks of 1024 threads (0 = not known).
std::shared_ptr<const Workload> kernels(std::string name, std::size_t count, Duration duration, Duration first_gap,
                                        std::uint32_t blocks = 0, Duration gap = microseconds{5}) {
  Workload workload;
  workload.names = {std::move(name)};
  testing::append_job(workload, std::vector<Duration>(count, duration), first_gap, gap, false);
  workload.ops.change([&](WorkOp& op) {
    if (blocks > 0)
      op.shape = {.grid_x = blocks, .grid_y = 1, .grid_z = 1, .block_x = 1024, .block_y = 1, .block_z = 1};
  });
  workload.check();
  return std::make_shared<const Workload>(std::move(workload));
}

/// A request now and then, waited for.
ClientSpec urgent(std::shared_ptr<const Workload> workload) {
  ClientSpec client;
  client.name = "urgent";
  client.workload = std::move(workload);
  client.pacing.mode = Pacing::Mode::kSyncEachJob;
  client.priority = 1;
  return client;
}

ClientSpec busy(std::string name, std::shared_ptr<const Workload> workload) {
  ClientSpec client;
  client.name = std::move(name);
  client.workload = std::move(workload);
  return client;
}

Outcome run(Sharing sharing, std::vector<ClientSpec> clients, Policy& policy) {
  RunInput input;
  input.device.sm_count = 80;
  input.device.sharing = sharing;
  input.clients = std::move(clients);
  input.policy = &policy;
  input.policy_name = "policy";
  input.horizon = seconds{5};
  Latencies latencies;
  const RunResult result = simulate(input, latencies);
  return {latencies.quantile(1.0), latencies.quantile(0.5), result.jobs_finished};
}

/// A kernel of 1 ms every 20 ms against kernels of 0.5 ms without end, one operation at a time on the device.
Outcome preempt(std::string_view name, const Settings& settings = {}) {
  const auto policy = testing::make_policy(name, settings);
  return run(Sharing::kExclusive,
             {urgent(kernels("urgent", 1, milliseconds{1}, milliseconds{20})),
              busy("endless", kernels("endless", 1, microseconds{500}, microseconds{10}))},
             *policy);
}

TEST(RivalsShape, WithoutPreemptionAnUrgentKernelWaitsForAWholeLaunchQueue) {
  EXPECT_GT(preempt("passthrough").worst_ms, 100);
}

TEST(RivalsShape, XschedLevel1WaitsForAsManyKernelsAsItsThresholdLetsIn) {
  for (const int threshold : {1, 8, 32}) {
    const std::string text = std::to_string(threshold);
    const Outcome outcome = preempt("xsched_fixed_priority", {{"threshold", text}, {"batch_size", "1"}});
    EXPECT_LE(outcome.worst_ms, 1 + 0.5 * threshold + 0.02) << threshold;
    EXPECT_GT(outcome.worst_ms, 1 + 0.5 * (threshold - 1)) << threshold;
  }
}

TEST(RivalsShape, ReefWaitsForItsDeviceQueueAndHarvestsTheRest) {
  const Outcome outcome = preempt("reef", {{"device_queue", "2"}});
  EXPECT_LE(outcome.worst_ms, 2.02);
  // The urgent client takes 1 ms of about 21.5; the rest is 0.5 ms each.
  EXPECT_GT(outcome.jobs[1], 0.95 * 5000 * (1 - 1 / 21.5) / 0.5);
}

TEST(RivalsShape, XschedPartitionOfThreeToOneDividesTheDeviceThreeToOne) {
  const auto training = kernels("training", 10, microseconds{500}, microseconds{10});
  Parameters parameters = xsched_utilization_policy().defaults();
  parameters.set("threshold", std::int64_t{1});
  parameters.set("utilizations", ByClient{{"a", 0.75}, {"b", 0.25}});
  const auto policy = xsched_utilization_policy().create(parameters);
  const Outcome outcome = run(Sharing::kTimeSliced, {busy("a", training), busy("b", training)}, *policy);
  // Published for a GV100: 109.8 against 37.1 jobs a second, 2.96.
  EXPECT_NEAR(static_cast<double>(outcome.jobs[0]) / static_cast<double>(outcome.jobs[1]), 3.0, 0.3);
}

/// In 5 s, under equal shares with a client that is always busy: jobs of 40 kernels of 50 us, which the host launches
/// every 100 us and waits for. Alone they take 4 ms.
std::uint64_t jobs_of_a_slow_host(std::string_view buffer) {
  const auto policy = testing::make_policy("xsched_utilization", {{"buffer", buffer}, {"threshold", "1"}});
  const Duration gap = microseconds{100};
  const Outcome outcome = run(Sharing::kExclusive,
                              {urgent(kernels("slow host", 40, microseconds{50}, gap, 0, gap)),
                               busy("busy", kernels("busy", 10, microseconds{500}, microseconds{10}))},
                              *policy);
  return outcome.jobs[0];
}

TEST(RivalsShape, ASlowHostKeepsItsShareUnderXschedByItsBuffer) {
  constexpr std::uint64_t kHalf = 5000 / 4 / 2;
  EXPECT_GT(jobs_of_a_slow_host("true"), 0.8 * kHalf);
  EXPECT_LT(jobs_of_a_slow_host("false"), 0.2 * kHalf);
}

/// Requests of small matrix products against large kernels of another kind, in one context.
Outcome beside_large_kernels(std::string_view name, bool is_alone) {
  const auto policy = testing::make_policy(name, {});
  std::vector<ClientSpec> clients{urgent(kernels("gemm", 40, microseconds{100}, milliseconds{4}, 80))};
  if (!is_alone) clients.push_back(busy("large", kernels("elementwise", 4, milliseconds{1}, microseconds{10}, 1600)));
  return run(Sharing::kConcurrent, std::move(clients), *policy);
}

TEST(RivalsShape, OrionKeepsLargeKernelsAwayFromHighPriorityRequestsAndRunsThemBetween) {
  const Outcome alone = beside_large_kernels("passthrough", true);
  const Outcome shared = beside_large_kernels("passthrough", false);
  const Outcome orion = beside_large_kernels("orion", false);
  EXPECT_GT(shared.median_ms, 1.5 * alone.median_ms);
  EXPECT_LT(orion.median_ms, 1.35 * alone.median_ms);
  EXPECT_GT(orion.jobs[1], 600U);  // 4 ms of about 8 are free: one large job of four kernels each time
}

}  // namespace
}  // namespace corun
