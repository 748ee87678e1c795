#include <gtest/gtest.h>

#include "sim/workload/synthetic/synthetic.h"

namespace corun {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

Workload training_of(const TrainingProfile& profile, std::uint32_t iterations = 1) {
  RandomStream random(1, "training");
  return make_training(profile, iterations, random);
}

std::vector<Duration> durations_of(const Workload& workload) {
  std::vector<Duration> durations;
  for (const WorkOp& op : workload.ops) durations.push_back(op.duration);
  return durations;
}

TEST(SyntheticTraining, KernelsHaveTheMedianOfTheirKindWhereNoSpreadIsStated) {
  const Workload workload =
      training_of({.kernels_per_iteration = 4, .short_share = 0.25, .long_median_us = 20, .longest_us = 20});
  EXPECT_EQ(durations_of(workload),
            (std::vector<Duration>{microseconds{20}, microseconds{20}, microseconds{20}, Duration{0}}))
      << "short ones take no time unless that is stated";
  const Workload both = training_of(
      {.kernels_per_iteration = 2, .short_share = 0.5, .short_median_us = 3, .long_median_us = 40, .longest_us = 40});
  EXPECT_EQ(durations_of(both), (std::vector<Duration>{microseconds{40}, microseconds{3}}));
}

TEST(SyntheticTraining, GridsGrowWithTheKernelInPowersOfTwo) {
  const auto blocks = [](double us) {
    const Workload workload = training_of({.kernels_per_iteration = 1, .long_median_us = us, .longest_us = us});
    EXPECT_EQ(workload.ops[0].shape.block_x, 256u);
    return workload.ops[0].shape.blocks();
  };
  EXPECT_EQ(blocks(7.9), 1u);
  EXPECT_EQ(blocks(8), 32u);
  EXPECT_EQ(blocks(15.9), 32u);
  EXPECT_EQ(blocks(16), 64u);
  EXPECT_EQ(blocks(100), 256u);
}

TEST(SyntheticTraining, IterationsFollowAsFastAsTheDeviceOrTheHostAllows) {
  TrainingProfile profile{.kernels_per_iteration = 4, .long_median_us = 20, .longest_us = 20};
  const Workload device_bound = training_of(profile, 3);
  EXPECT_EQ(device_bound.recorded_span, microseconds{3 * 80});
  EXPECT_EQ(device_bound.jobs[2].recorded_start, kRunStart + microseconds{160});
  profile.launch_gap = microseconds{50};
  const Workload host_bound = training_of(profile, 3);
  EXPECT_EQ(host_bound.recorded_span, microseconds{3 * 200});
  EXPECT_EQ(host_bound.jobs[2].recorded_start, kRunStart + microseconds{400});
}

RequestProfile even_requests(Duration service) {
  return {.arrivals = RequestProfile::Arrivals::kPeriodic,
          .rate_per_s = 10,
          .service = RequestProfile::Service::kConstant,
          .service_mean = service};
}

TEST(SyntheticRequests, NoneHaveNoSpan) {
  RandomStream random(1, "requests");
  const Workload workload = make_requests(even_requests(milliseconds{30}), 0, random);
  EXPECT_TRUE(workload.jobs.empty());
  EXPECT_EQ(workload.recorded_span, Duration{0});
}

TEST(SyntheticRequests, TheSpanIsFromTheFirstArrivalToTheEndOfTheLastThoughTheyQueue) {
  const auto span = [](Duration service) {
    RandomStream random(1, "requests");
    return make_requests(even_requests(service), 3, random).recorded_span;
  };
  EXPECT_EQ(span(milliseconds{30}), milliseconds{230});
  EXPECT_EQ(span(milliseconds{150}), milliseconds{450});
}

TEST(SyntheticRequests, UnequalKernelsOfOneAddUp) {
  RequestProfile profile = even_requests(Duration{10});
  profile.kernels = 3;
  RandomStream random(1, "requests");
  EXPECT_EQ(durations_of(make_requests(profile, 1, random)),
            (std::vector<Duration>{Duration{3}, Duration{3}, Duration{4}}));
}

TEST(SyntheticKernels, TheSpanIsThatOfTheSlowerOfHostAndDevice) {
  KernelsProfile profile{.duration = microseconds{30}, .count = 4, .launch_gap = microseconds{10}};
  EXPECT_EQ(make_kernels(profile).recorded_span, microseconds{10 + 4 * 30});
  profile.launch_gap = microseconds{50};
  EXPECT_EQ(make_kernels(profile).recorded_span, microseconds{50 + 4 * 50});
}

TEST(SyntheticProgram, TheLastKernelOfAPhaseFillsWhatIsLeftOfIt) {
  const Workload workload =
      make_program({{{.gpu = microseconds{25}, .kernel = microseconds{5}, .duty = 0.5}, {.host = microseconds{7}}}});
  EXPECT_EQ(durations_of(workload), (std::vector<Duration>{microseconds{5}, microseconds{5}, Duration{2'500}}));
  EXPECT_EQ(workload.steps[0].gap, microseconds{5});
  EXPECT_EQ(workload.steps[4].gap, Duration{2'500});
  EXPECT_EQ(workload.steps[6].gap, microseconds{7});
  EXPECT_EQ(workload.recorded_span, microseconds{32});
}

GameProfile even_game(Duration gpu) {
  GameProfile profile;
  profile.frame_gpu_mean = gpu;
  profile.cv = 0;
  profile.spike_probability = 0;
  return profile;
}

TEST(SyntheticGame, FramesFollowEachOtherOrThePeriod) {
  RandomStream random(1, "game");
  const Workload free = make_game(even_game(milliseconds{4}), Duration{0}, 3, random);
  EXPECT_EQ(free.jobs[2].recorded_start, kRunStart + milliseconds{8});
  EXPECT_EQ(free.recorded_span, milliseconds{12});
  const Workload paced = make_game(even_game(milliseconds{4}), milliseconds{10}, 3, random);
  EXPECT_EQ(paced.jobs[2].recorded_start, kRunStart + milliseconds{20});
  EXPECT_EQ(paced.recorded_span, milliseconds{24});
}

TEST(SyntheticGame, APacedFrameTakesTwoPeriodsAtMostAndNoneLessThanThreeTenthsOfAMillisecond) {
  const auto gpu = [](Duration mean, Duration period) {
    RandomStream random(1, "game");
    const Workload workload = make_game(even_game(mean), period, 1, random);
    return workload.device_time(workload.jobs[0]);
  };
  EXPECT_EQ(gpu(milliseconds{50}, milliseconds{10}), milliseconds{20});
  EXPECT_EQ(gpu(milliseconds{50}, Duration{0}), milliseconds{50});
  EXPECT_EQ(gpu(microseconds{100}, milliseconds{10}), microseconds{300});
  EXPECT_EQ(gpu(milliseconds{1}, microseconds{100}), microseconds{300}) << "also where that is over two periods";
}

TEST(SyntheticGame, LaterVisitsAreOfTheFramesOwnTime) {
  GameProfile profile = even_game(milliseconds{4});
  profile.visits = 3;
  profile.later_visit = microseconds{100};
  RandomStream random(1, "game");
  const Workload workload = make_game(profile, milliseconds{10}, 1, random);
  EXPECT_EQ(durations_of(workload), (std::vector<Duration>{microseconds{3'800}, microseconds{100}, microseconds{100}}));
  profile.later_visit = milliseconds{3};
  RandomStream again(1, "game");
  EXPECT_EQ(durations_of(make_game(profile, milliseconds{10}, 1, again)).front(), Duration{0})
      << "nothing is left for the first";
}

}  // namespace
}  // namespace corun
