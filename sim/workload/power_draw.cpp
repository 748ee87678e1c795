#include "sim/workload/power_draw.h"

#include <algorithm>

namespace corun {

namespace {

constexpr double kHeldBack = 0.9;

double load_of_jobs(const Workload& workload) {
  return workload.recorded_span > Duration{} ? to_seconds(workload.device_time()) / to_seconds(workload.recorded_span)
                                             : 0.0;
}

double load_at(const ClientSpec& client, double jobs_per_s) {
  const auto jobs = static_cast<double>(client.workload->jobs.size());
  return jobs_per_s * to_seconds(client.workload->device_time()) * client.device_time_scale / jobs;
}

}  // namespace

PowerDraw power_draw(const ClientSpec& client, const std::optional<PowerMean>& stated, double jobs_per_s,
                     const DeviceSpec& device) {
  const Workload& workload = *client.workload;
  const PowerMean mean = stated.value_or(workload.power);
  const bool is_captured = !stated && workload.recorded_load > 0;
  const double load = is_captured                ? workload.recorded_load
                      : stated && jobs_per_s > 0 ? load_at(client, jobs_per_s)
                                                 : load_of_jobs(workload);
  const double above_idle = mean.watts - device.idle_power_w;
  if (device.power_limit_w == 0 || mean.watts == 0 || above_idle <= 0 || load <= 0) return {};
  const bool is_held_back = mean.sm_mhz > 0 && mean.watts >= kHeldBack * device.power_limit_w;
  const double clock = is_held_back ? std::min(mean.sm_mhz / device.full_clock_mhz, 1.0) : 1.0;
  return {.watts = above_idle / load, .clock = clock};
}

}  // namespace corun
