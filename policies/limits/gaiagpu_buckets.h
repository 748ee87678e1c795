#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policies/limits/gaiagpu_limiter.h"
#include "policies/limits/gaiagpu_sensor.h"
#include "policies/parts/sleeping_launch.h"
#include "sim/policy/descriptor.h"
#include "sim/policy/policy.h"

namespace corun {

/// Compute limits of clients as GaiaGPU's library keeps them, shared by GaiaGPU and HAMi: one bucket of thread blocks
/// per limited client, a watcher that refills it every tick from the driver's utilisation samples, and the launch hook
/// that sleeps while the bucket is in debt.
///
/// Reads the parameters of bucket_parameters(). A policy forwards what it hears, calls watch() once per decision while
/// any() holds, then admit() for each limited client that waits. Single-threaded; nothing is thrown.
class BlockBuckets {
 public:
  BlockBuckets(const Parameters& parameters, const GaiaLimiter::Rules& rules);

  /// Gives the client a bucket if its share is below a whole device: a new one, or the old one with another request.
  void join(const GpuView& view, ClientId client, std::optional<double> share);
  void leave(ClientId client);
  void charge(ClientId client, const OpView& op);

  /// Samples the sensor, turns the watchers whose tick is due, asks for the next wake-up. Whether one has turned.
  bool watch(const GpuView& view, Actions& actions);
  /// Lets the waiting operations pass that the bucket allows, and says why the next one waits. Whether that one sleeps
  /// although there are tokens: then it is to be called in every decision.
  bool admit(const GpuView& view, const ClientView& client, Actions& actions);

  bool any() const { return next_tick_ != kNever; }
  bool is_limited(ClientId client) const { return client.value < limited_.size() && limited_[client.value]; }

  /// Thread blocks of a launch, at least 1; 0 for copies and render work, which no launch hook sees.
  static std::int64_t cost(const OpView& op);

 private:
  struct Limited {
    Limited(const GaiaLimiter& its_limiter, Time first_tick) : limiter(its_limiter), next_tick(first_tick) {}
    GaiaLimiter limiter;
    Time next_tick;
    SleepingLaunch sleeper;
  };

  std::int64_t count_processes(const GpuView& view) const;
  void turn_watchers(const GpuView& view);
  void find_next_tick();

  const GaiaLimiter::Rules rules_;
  const Duration tick_;
  const Duration backoff_;
  UtilisationSensor sensor_;
  std::vector<std::unique_ptr<Limited>> limited_;  // by client
  Time next_tick_ = kNever;                        // the earliest of theirs
};

/// `limits`, `tick`, `backoff`, `sm_exponent`, `sensor_window` and `sensor_period`; `artifact` names the source of the
/// defaults.
ParameterTable bucket_parameters(const std::string& artifact, std::int64_t sm_exponent);

}  // namespace corun
