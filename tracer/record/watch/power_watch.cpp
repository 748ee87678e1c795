#include "tracer/record/watch/power_watch.h"

#include <algorithm>

namespace corun::record {

void PowerWatch::look() {
  for (const Nvml::Meter& meter : nvml_.meters()) {
    readings_[meter.uuid].add({now_ns(), meter.energy_mj, static_cast<double>(meter.sm_mhz)});
  }
}

std::map<std::string, PowerMean> PowerWatch::between(std::int64_t from_ns, std::int64_t to_ns) const {
  std::map<std::string, PowerMean> means;
  for (const auto& [uuid, log] : readings_) {
    const std::span<const Reading> readings = log.between(from_ns, to_ns);
    if (readings.size() < 2) continue;
    const Reading &first = readings.front(), &last = readings.back();
    const std::int64_t length_ns = last.at_ns - first.at_ns;
    if (length_ns < kLeastNs || last.energy_mj <= first.energy_mj) continue;
    double mhz = 0;
    for (const Reading& reading : readings) mhz += reading.sm_mhz / static_cast<double>(readings.size());
    const double watts = static_cast<double>(last.energy_mj - first.energy_mj) * 1e6 / static_cast<double>(length_ns);
    means[uuid] = {.device = 0, .watts = watts, .sm_mhz = mhz};
  }
  return means;
}

}  // namespace corun::record
