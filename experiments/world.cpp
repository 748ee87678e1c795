#include "experiments/world.h"

#include "sim/executor/cuda_driver.h"
#include "traces/base/error.h"

namespace corun {

namespace {

double microseconds(Duration duration) { return static_cast<double>(to_ns(duration)) * 1e-3; }

/// How far the run can be trusted.
void tell(const executor::ExecuteReport& report, std::vector<std::string>& notes) {
  notes.insert(notes.end(), report.notes.begin(), report.notes.end());
  notes.push_back(fmt::format("ran on {}; the device's clock is known within {:.1f} us", report.device_name,
                              microseconds(report.clock_error)));
  notes.push_back(fmt::format(
      "late: timers p50 {:.1f} us, p99 {:.1f} us, worst {:.0f} us; launches p50 {:.1f} us, p99 "
      "{:.1f} us, worst {:.0f} us",
      microseconds(report.timers.p50), microseconds(report.timers.p99), microseconds(report.timers.worst),
      microseconds(report.launches.p50), microseconds(report.launches.p99), microseconds(report.launches.worst)));
  notes.push_back(fmt::format("surrogates: laws within {:.1f} %; {} operations shorter than their shape can be",
                              100 * report.worst_surrogate_error, report.too_short));
}

}  // namespace

World simulated_world() {
  return {"simulation", [](const RunInput& input, Recorder& recorder, std::vector<std::string>&) {
            return simulate(input, recorder);
          }};
}

World hardware_world(const executor::ExecuteOptions& options) {
  const executor::CudaDriver driver(options.library);  // says now what every run would
  return {"gpu", [options](const RunInput& input, Recorder& recorder, std::vector<std::string>& notes) {
            executor::ExecuteReport report;
            RunResult result = executor::execute(input, recorder, options, report);
            tell(report, notes);
            return result;
          }};
}

}  // namespace corun
