#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/engine/random.h"
#include "tests/sim/device/device_driver.h"

namespace corun {
namespace {

using testing::DeviceDriver;

constexpr double kMeanService = 100'000;  // ns
constexpr double kLoad = 0.6;

struct Estimate {
  double mean = 0;
  double standard_error = 0;
};

// Batch means: neighbouring customers are correlated, batches of a thousand hardly.
Estimate estimate(const std::vector<double>& values) {
  constexpr std::size_t kBatches = 50;
  const std::size_t size = values.size() / kBatches;
  double sum = 0, squares = 0;
  for (std::size_t batch = 0; batch < kBatches; ++batch) {
    double mean = 0;
    for (std::size_t i = 0; i < size; ++i) mean += values[batch * size + i] / static_cast<double>(size);
    sum += mean;
    squares += mean * mean;
  }
  const double mean = sum / kBatches;
  return {mean, std::sqrt((squares / kBatches - mean * mean) / (kBatches - 1))};
}

struct Customer {
  std::int64_t arrival = 0;
  std::int64_t service = 0;
  std::int64_t end = 0;
  double sojourn() const { return static_cast<double>(end - arrival); }
};

// Poisson arrivals at a device. Each customer is an operation of a client that is free at the time, so that order
// within a stream never decides anything.
template <class Service>
std::vector<Customer> run_queue(const DeviceSpec& spec, int count, Service service) {
  constexpr std::uint32_t kClients = 200;
  DeviceDriver driver(spec, kClients);
  RandomStream arrivals(11, "arrivals");
  std::vector<Customer> customers;
  std::vector<std::uint32_t> idle;
  for (std::uint32_t client = 0; client < kClients; ++client) idle.push_back(client);
  driver.on_completion = [&](const Completion& done) {
    customers[done.ticket].end = to_ns(done.end);
    idle.push_back(done.client.value);
  };
  double at = 0;
  for (int i = 0; i < count; ++i) {
    at += arrivals.exponential(kMeanService / kLoad);
    driver.run_to(static_cast<std::int64_t>(at));
    const auto needed = static_cast<std::int64_t>(std::llround(service()));
    customers.push_back({to_ns(driver.now()), needed, 0});
    EXPECT_FALSE(idle.empty());
    driver.submit(idle.back(), needed);
    idle.pop_back();
  }
  driver.drain();
  return customers;
}

Estimate sojourn(const std::vector<Customer>& customers) {
  std::vector<double> times;
  for (const Customer& customer : customers) times.push_back(customer.sojourn());
  return estimate(times);
}

DeviceSpec exclusive() {
  DeviceSpec spec;
  spec.sharing = Sharing::kExclusive;
  return spec;
}

// With these seeds the estimates lie within four standard errors: a fair one misses that once in about 16,000.
constexpr double kErrors = 4;

TEST(Laws, ExponentialServiceOnAnExclusiveDeviceWaitsAsMM1) {
  RandomStream services(12, "services");
  const Estimate t = sojourn(run_queue(exclusive(), 50'000, [&] { return services.exponential(kMeanService); }));
  EXPECT_NEAR(t.mean, kMeanService / (1 - kLoad), kErrors * t.standard_error);
  EXPECT_LT(t.standard_error, 0.03 * t.mean);
}

TEST(Laws, ConstantServiceOnAnExclusiveDeviceWaitsAsMD1) {
  const Estimate t = sojourn(run_queue(exclusive(), 50'000, [] { return kMeanService; }));
  EXPECT_NEAR(t.mean, kMeanService * (1 + kLoad / (2 * (1 - kLoad))), kErrors * t.standard_error);
  EXPECT_LT(t.standard_error, 0.03 * t.mean);
}

TEST(Laws, VariableServiceOnAnExclusiveDeviceWaitsAsPollaczekAndKhinchineSay) {
  constexpr double kVariation = 1.5;
  RandomStream services(13, "services");
  const auto lognormal = [&] { return services.lognormal(kMeanService, kVariation); };
  const Estimate t = sojourn(run_queue(exclusive(), 50'000, lognormal));
  const double waiting = kMeanService * kLoad * (1 + kVariation * kVariation) / (2 * (1 - kLoad));
  EXPECT_NEAR(t.mean, kMeanService + waiting, kErrors * t.standard_error);
}

TEST(Laws, ThinSlicesWithoutSwitchCostApproachProcessorSharing) {
  DeviceSpec spec;
  spec.time_slice = Duration{2'000};
  spec.switch_cost = Duration{0};
  RandomStream services(14, "services");
  const double shortest = 0.5 * kMeanService, longest = 2 * kMeanService;
  const auto two_sizes = [&] { return services.uniform() < 2.0 / 3 ? shortest : longest; };
  const std::vector<Customer> customers = run_queue(spec, 10'000, two_sizes);
  for (const double size : {shortest, longest}) {
    std::vector<double> slowdowns;
    for (const Customer& customer : customers) {
      if (customer.service == static_cast<std::int64_t>(size)) slowdowns.push_back(customer.sojourn() / size);
    }
    const Estimate slowdown = estimate(slowdowns);
    // A customer that arrives waits for a slice of each client present: of the order of a slice per stretched customer.
    const double slice_bias = 2'000 / (1 - kLoad) / size;
    EXPECT_NEAR(slowdown.mean, 1 / (1 - kLoad), kErrors * slowdown.standard_error + slice_bias);
  }
}

TEST(Laws, EveryCustomerOfAnExclusiveDeviceEndsWhereLindleysRecursionSays) {
  RandomStream services(15, "services");
  const auto customers = run_queue(exclusive(), 5'000, [&] { return services.exponential(kMeanService); });
  std::int64_t free_at = 0;
  for (const Customer& customer : customers) {
    free_at = std::max(free_at, customer.arrival) + customer.service;
    ASSERT_EQ(customer.end, free_at);
  }
}

}  // namespace
}  // namespace corun
