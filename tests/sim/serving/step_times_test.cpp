#include "sim/solo/step_times.h"

#include <gtest/gtest.h>

#include <memory>

#include "sim/solo/solo.h"
#include "sim/workload/synthetic/synthetic.h"

namespace corun {
namespace {

using namespace std::chrono_literals;

/// Steps of ten kernels after 1 ms of host work: decodes take 5 ms on the device, and 100 us for each sequence.
ClientSpec engine() {
  EngineProfile profile;
  profile.prefill_per_token = 10us;
  profile.decode_base = 5ms;
  profile.decode_per_sequence = 100us;
  profile.kernels = 10;
  profile.host_per_step = 1ms;
  ClientSpec spec;
  spec.name = "engine";
  spec.workload = std::make_shared<Workload>(make_engine(profile));
  return spec;
}

constexpr StepSize kDecode{StepSize::Kind::kDecode, 1, 0};

/// What a step of this size takes alone once it was fitted.
double milliseconds(const StepTimesFit& fit, const StepSize& size) {
  const Workload& all = *fit.workload;
  for (std::size_t number = 0; number < all.jobs.size(); ++number) {
    if (all.step_sizes[number] != size) continue;
    Duration time = all.device_time(all.jobs[number]);
    for (std::uint32_t i = 0; i < all.jobs[number].step_count; ++i)
      time += all.steps[all.jobs[number].first_step + i].gap;
    return to_milliseconds(time);
  }
  return 0;
}

TEST(StepTimes, HostTimeGivesWayFirst) {
  const ClientSpec spec = engine();
  const StepTimesFit fit = fit_to_step_times(spec, DeviceSpec{}, {{kDecode, 5400us}});
  EXPECT_NEAR(milliseconds(fit, kDecode), 5.4, 0.01);
  EXPECT_EQ(fit.workload->device_time(fit.workload->jobs[1]), spec.workload->device_time(spec.workload->jobs[1]));
  EXPECT_TRUE(fit.out_of_reach.empty());
}

TEST(StepTimes, DeviceTimesGiveWayWhereHostTimeIsNotEnough) {
  const StepTimesFit fit = fit_to_step_times(engine(), DeviceSpec{}, {{kDecode, 4800us}});
  EXPECT_NEAR(milliseconds(fit, kDecode), 4.8, 0.01);
}

TEST(StepTimes, SizesWithoutATimeStayAsCapturedAndAreNamed) {
  const ClientSpec spec = engine();
  const StepTimesFit fit = fit_to_step_times(spec, DeviceSpec{}, {{kDecode, 5400us}});
  EXPECT_EQ(fit.unknown.size(), spec.captured_steps().size() - 1);
  EXPECT_EQ(fit.workload->device_time(fit.workload->jobs[0]), spec.workload->device_time(spec.workload->jobs[0]));
}

TEST(StepTimes, TimesThatAreHardlyThoseOfTheEngineAreSaidToBeOutOfReach) {
  const StepTimesFit fit = fit_to_step_times(engine(), DeviceSpec{}, {{kDecode, 2ms}});
  EXPECT_EQ(fit.out_of_reach, std::vector<StepSize>{kDecode});
}

}  // namespace
}  // namespace corun
