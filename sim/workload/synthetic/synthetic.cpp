#include "sim/workload/synthetic/synthetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "sim/workload/synthetic/steps.h"
#include "traces/base/error.h"

namespace corun {

namespace {

Duration from_us(double us) { return Duration{std::llround(us * 1e3)}; }

// Ours. A model's kernels have far fewer names than sizes, and one name covers many sizes. With this many names and
// this much noise, in standard deviations of the logarithm, a table of means by name errs by 60 to 80 % of the time,
// as the profiles do that these mixtures describe (61 to 87 %).
constexpr std::uint32_t kNameCount = 70;
constexpr double kNameNoise = 1.2;

double draw_kernel_us(double median_us, double sigma, double longest_us, RandomStream& random) {
  double us;
  do {
    us = median_us * std::exp(sigma * random.normal());
  } while (us > longest_us);
  return us;
}

/// Durations of one iteration: forward and backward pass first, then the optimiser's many short kernels.
std::vector<Duration> draw_kernels(const TrainingProfile& profile, RandomStream& random) {
  const auto short_count = static_cast<std::uint32_t>(std::lround(profile.short_share * profile.kernels_per_iteration));
  std::vector<Duration> kernels;
  for (std::uint32_t kernel = 0; kernel < profile.kernels_per_iteration; ++kernel) {
    const bool is_short = kernel + short_count >= profile.kernels_per_iteration;
    const double median_us = is_short ? profile.short_median_us : profile.long_median_us;
    const double sigma = is_short ? profile.short_sigma : profile.long_sigma;
    kernels.push_back(from_us(draw_kernel_us(median_us, sigma, profile.longest_us, random)));
  }
  return kernels;
}

/// Groups the kernels under names by noisy size: neighbours in size tend to share a name, others sometimes do.
std::vector<std::uint32_t> draw_names(const std::vector<Duration>& kernels, RandomStream& random) {
  std::vector<std::pair<double, std::uint32_t>> order;
  for (const Duration kernel : kernels) {
    const double noisy = std::log(static_cast<double>(to_ns(kernel)) + 1) + kNameNoise * random.normal();
    order.emplace_back(noisy, static_cast<std::uint32_t>(order.size()));
  }
  std::sort(order.begin(), order.end());
  std::vector<std::uint32_t> names(kernels.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    names[order[rank].second] = static_cast<std::uint32_t>(rank * kNameCount / order.size());
  }
  return names;
}

// About the SMs that the V100 profiles say kernels of a duration need: one block up to 8 us, some four blocks per
// microsecond above, in powers of two.
LaunchShape shape_of(Duration kernel) {
  const auto us = static_cast<std::uint32_t>(to_ns(kernel) / 1000);
  LaunchShape shape;
  shape.grid_x = us < 8 ? 1 : 4 * std::bit_floor(us);
  shape.grid_y = shape.grid_z = 1;
  shape.block_x = 256;
  shape.block_y = shape.block_z = 1;
  return shape;
}

}  // namespace

namespace {

/// A launch now and then takes `straggler_factor` times its usual duration; whether it does is drawn for each launch.
void delay_stragglers(Workload& workload, const TrainingProfile& profile, RandomStream& random) {
  workload.ops.change([&](WorkOp& op) {
    if (random.uniform() < profile.straggler_probability) op.duration = scaled(op.duration, profile.straggler_factor);
  });
}

}  // namespace

Workload make_training(const TrainingProfile& profile, std::uint32_t iterations, RandomStream& random) {
  CORUN_ASSERT(profile.short_share >= 0 && profile.short_share <= 1, "share {}", profile.short_share);
  CORUN_ASSERT(profile.longest_us >= std::max(profile.short_median_us, profile.long_median_us),
               "longest {} us is below a median", profile.longest_us);
  const std::vector<Duration> kernels = draw_kernels(profile, random);
  const std::vector<std::uint32_t> names = draw_names(kernels, random);
  const Duration device_time = std::accumulate(kernels.begin(), kernels.end(), Duration{0});
  const Duration length = std::max(device_time, profile.kernels_per_iteration * profile.launch_gap);
  Workload workload;
  workload.job_kind = JobKind::kIteration;
  for (std::uint32_t name = 0; name < kNameCount; ++name) workload.names.push_back(fmt::format("kernel_{:02}", name));
  for (std::uint32_t iteration = 0; iteration < iterations; ++iteration) {
    begin_job(workload, kRunStart + iteration * length);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      WorkOp op = synthetic_op(OpKind::kKernel, names[i], kernels[i]);
      op.shape = shape_of(kernels[i]);
      submit(workload, op, profile.launch_gap);
    }
  }
  predict_from_means(workload);
  if (profile.straggler_probability > 0) delay_stragglers(workload, profile, random);
  workload.recorded_span = iterations * length;
  workload.notes.push_back(fmt::format("its kernels are synthetic: {} of them take {:.1f} ms an iteration",
                                       kernels.size(), to_milliseconds(device_time)));
  return workload;
}

namespace {

Duration draw_interval(const RequestProfile& profile, RandomStream& random) {
  const double mean_ns = 1e9 / profile.rate_per_s;
  const bool poisson = profile.arrivals == RequestProfile::Arrivals::kPoisson;
  return Duration{std::llround(poisson ? random.exponential(mean_ns) : mean_ns)};
}

Duration draw_service(const RequestProfile& profile, RandomStream& random) {
  using Service = RequestProfile::Service;
  if (profile.service == Service::kConstant) return profile.service_mean;
  const auto mean_ns = static_cast<double>(to_ns(profile.service_mean));
  const double service_ns = profile.service == Service::kExponential ? random.exponential(mean_ns)
                                                                     : random.lognormal(mean_ns, profile.service_cv);
  return Duration{std::llround(service_ns)};
}

}  // namespace

Workload make_requests(const RequestProfile& profile, std::uint32_t requests, RandomStream& random) {
  CORUN_ASSERT(profile.rate_per_s > 0 && profile.service_mean > Duration{0} && profile.kernels > 0,
               "rate {}/s, service {} ns in {} kernels", profile.rate_per_s, to_ns(profile.service_mean),
               profile.kernels);
  Workload workload;
  workload.job_kind = JobKind::kRequest;
  workload.names = {"request"};
  Time arrival = kRunStart, finish = kRunStart;
  for (std::uint32_t request = 0; request < requests; ++request) {
    arrival += draw_interval(profile, random);
    const Duration service = draw_service(profile, random);
    begin_job(workload, arrival);
    for (std::uint32_t kernel = 0; kernel < profile.kernels; ++kernel) {
      const Duration begin = service * kernel / profile.kernels, end = service * (kernel + 1) / profile.kernels;
      submit(workload, synthetic_op(OpKind::kKernel, 0, end - begin), Duration{0});
    }
    finish = std::max(finish, arrival) + service;
  }
  if (requests > 0) workload.recorded_span = finish - workload.jobs.front().recorded_start;
  predict_from_means(workload);
  workload.notes.push_back(fmt::format("its requests are synthetic: {} per second, {:.3g} ms of service on average",
                                       profile.rate_per_s, to_milliseconds(profile.service_mean)));
  return workload;
}

}  // namespace corun
