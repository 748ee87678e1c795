#include "sim/solo/capped_rates.h"

#include <gtest/gtest.h>

namespace corun {
namespace {

using namespace std::chrono_literals;

DeviceSpec shared_device() {
  DeviceSpec device;
  device.sharing = Sharing::kConcurrent;
  return device;
}

/// A job is a kernel of so many blocks before which the host works, and waits for it where `waits`.
ClientSpec program(Duration kernel, Duration gap = 0ns, std::uint32_t blocks = 1'000'000, bool waits = false) {
  Workload workload;
  workload.names = {"kernel"};
  WorkOp op;
  op.shape = {blocks, 1, 1, 128, 1, 1, 0, 0};
  op.duration = op.predicted_by_name = op.predicted_by_shape = kernel;
  workload.ops.push_back(op);
  workload.steps.push_back(HostStep{gap, StepKind::kSubmit, 0});
  workload.jobs.push_back(Job{0, 1, 0, 1});
  workload.recorded_span = kernel + gap;
  ClientSpec spec;
  spec.name = "a";
  spec.workload = std::make_shared<Workload>(std::move(workload));
  if (waits) spec.pacing.mode = Pacing::Mode::kSyncEachJob;
  return spec;
}

double rate_with(ClientSpec client, double sms) {
  client.context.sm_cap = sms;
  return solo_rate_at(client, shared_device(), 1);
}

ClientSpec fitted(ClientSpec client, const std::vector<CappedRate>& rates) {
  client.workload = fit_to_capped_rates(client, shared_device(), rates).workload;
  return client;
}

TEST(CappedRates, AreThoseOfTheProgramAloneWithSoManySms) {
  EXPECT_NEAR(rate_with(program(1ms), 0.5), 500, 5) << "by its launches";
  const ClientSpec client = fitted(program(1ms), {{0.25, 400}, {0.5, 800}});
  EXPECT_NEAR(rate_with(client, 1), 1000, 1);
  EXPECT_NEAR(rate_with(client, 0.5), 800, 2);
  EXPECT_NEAR(rate_with(client, 0.25), 400, 1);
  const double between = rate_with(client, 0.4);
  EXPECT_TRUE(550 < between && between < 700) << between;
}

TEST(CappedRates, OfAProgramBoundByItsHostLengthenItsKernelsAlone) {
  const ClientSpec client = fitted(program(100us, 900us, 1'000'000, true), {{0.25, 870}});
  EXPECT_NEAR(rate_with(client, 0.25), 870, 2);
  EXPECT_NEAR(client.workload->sm_curves.front().time_on(0.25), 2.5, 0.05);
}

TEST(CappedRates, OfAKernelOfFewBlocksAreMetToo) {
  EXPECT_NEAR(rate_with(program(1ms, 0ns, 1), 0.25), 1000, 1) << "by its launches";
  EXPECT_NEAR(rate_with(fitted(program(1ms, 0ns, 1), {{0.25, 500}}), 0.25), 500, 1);
}

TEST(CappedRates, ThatNothingGivesAreMetAtTheNearest) {
  const std::vector<CappedRate> stated{{0.5, 1500}, {0.25, 100}};
  const std::vector<CappedRate> reached = fit_to_capped_rates(program(1ms), shared_device(), stated).reached;
  ASSERT_EQ(reached.size(), 2u);
  EXPECT_NEAR(reached[0].jobs_per_s, 1000, 1) << "no faster than with all SMs";
  EXPECT_NEAR(reached[1].jobs_per_s, 250, 3) << "in proportion to the SMs";
  EXPECT_EQ(reached[1].fraction, 0.25);
}

}  // namespace
}  // namespace corun
