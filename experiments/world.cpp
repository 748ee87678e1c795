#include "experiments/world.h"

#include <memory>
#include <utility>

#include "sim/executor/cuda_driver.h"
#include "sim/live/live_capture.h"
#include "traces/base/error.h"
#include "traces/native.h"

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
  notes.push_back(fmt::format(
      "surrogates: laws within {:.1f} %; {} operations shorter than their shape can be; {:.1f} us from one to the next "
      "in a queue, which fell behind by {:.1f} us for it at worst",
      100 * report.worst_surrogate_error, report.too_short, microseconds(report.surrogate_gap),
      microseconds(report.most_behind)));
}

void tell(const live::LiveReport& report, std::vector<std::string>& notes) {
  notes.insert(notes.end(), report.notes.begin(), report.notes.end());
  notes.push_back(fmt::format(
      "live: {} launches; the end of {} was not seen; {} slipped past a gate that was being closed; {} were let beyond "
      "the bound, since nothing ended; {} were captured into graphs, ungated",
      report.launches, report.unobserved, report.slipped, report.let_through, report.captured));
  if (report.heard_p99 == Duration{0}) return;
  notes.push_back(fmt::format("launches at open gates were heard p50 {:.1f} us, p99 {:.1f} us later",
                              microseconds(report.heard_p50), microseconds(report.heard_p99)));
}

}  // namespace

World simulated_world() {
  return {"simulation", [](const RunInput& input, Recorder& recorder, std::vector<std::string>&) {
            return simulate(input, recorder);
          }};
}

World live_world(const live::LiveOptions& options, const std::string& captures) {
  const auto runs = std::make_shared<int>(0);
  return {kLiveBackend, [=](const RunInput& input, Recorder& recorder, std::vector<std::string>& notes) {
            live::LiveReport report;
            ++*runs;
            if (captures.empty()) {
              RunResult result = live::run_live(input, recorder, options, report);
              return tell(report, notes), result;
            }
            live::LiveCapture capture(recorder, input.clients);
            RunResult result = live::run_live(input, capture, options, report);
            tell(report, notes);
            const std::string path = fmt::format("{}/{}-{}.corun", captures, *runs, input.policy_name);
            write_native(std::move(capture).seal(input.policy_name), path, false);
            notes.push_back(fmt::format("capture of the run: {}", path));
            return result;
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
