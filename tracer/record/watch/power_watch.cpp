#include "tracer/record/power_watch.h"

#include <algorithm>
#include <chrono>

namespace corun::record {

void PowerWatch::look() {
  for (const Nvml::Meter& meter : nvml_.meters()) {
    std::vector<Reading>& readings = readings_[meter.uuid];
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    readings.push_back({std::chrono::nanoseconds(now).count(), meter.energy_mj, static_cast<double>(meter.sm_mhz)});
    if (readings.size() < kMostReadings) continue;
    std::size_t number = 0;
    std::erase_if(readings, [&](const Reading&) { return number++ % 2 == 1; });
  }
}

std::map<std::string, PowerMean> PowerWatch::between(std::int64_t from_ns, std::int64_t to_ns) const {
  std::map<std::string, PowerMean> means;
  for (const auto& [uuid, readings] : readings_) {
    const auto first = std::ranges::lower_bound(readings, from_ns, {}, &Reading::at_ns);
    const auto end = std::ranges::upper_bound(readings, to_ns, {}, &Reading::at_ns);
    if (end - first < 2) continue;
    const Reading& last = *(end - 1);
    const std::int64_t length_ns = last.at_ns - first->at_ns;
    if (length_ns < kLeastNs || last.energy_mj <= first->energy_mj) continue;
    double mhz = 0;
    for (auto reading = first; reading != end; ++reading) mhz += reading->sm_mhz / static_cast<double>(end - first);
    const double watts = static_cast<double>(last.energy_mj - first->energy_mj) * 1e6 / static_cast<double>(length_ns);
    means[uuid] = {.device = 0, .watts = watts, .sm_mhz = mhz};
  }
  return means;
}

}  // namespace corun::record
