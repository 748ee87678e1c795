#include "experiments/run/execution_backend.h"

#include <memory>
#include <utility>

#include "experiments/question/clients/command_choice.h"
#include "sim/executor/driver/cuda_driver.h"
#include "sim/executor/surrogates.h"
#include "sim/live/live_capture.h"
#include "sim/run/arrival_order.h"
#include "traces/base/error.h"
#include "traces/native/native.h"

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

/// What did not happen is left out.
std::string launches_of(const live::LiveReport& report) {
  std::string text = fmt::format("{} launches", report.launches);
  const auto add = [&](std::uint64_t count, const char* what) {
    if (count > 0) text += fmt::format("; {} {}", count, what);
  };
  add(report.unobserved, "without an observed completion");
  add(report.slipped, "passed a gate that was being closed");
  add(report.let_through, "launches exceeded the in-flight bound (no completion for 100 ms)");
  add(report.captured, "more were captured into graphs, ungated");
  if (report.heard_p99 > Duration{0})
    text += fmt::format("; reported p50 {:.1f} us, p99 {:.1f} us after passing an open gate",
                        microseconds(report.heard_p50), microseconds(report.heard_p99));
  return text;
}

void tell(const live::LiveReport& report, const std::string& policy, std::vector<std::string>& notes) {
  notes.insert(notes.end(), report.notes.begin(), report.notes.end());
  notes.push_back(fmt::format("live, {}: {}", policy, launches_of(report)));
}

/// Before anything is started: a run of minutes is not to fail at its last client.
void check_command(const ClientChoice& client) {
  const std::string& program = client.command.words.front();
  if (is_runnable(program, client.command.working_folder)) return;
  throw Error(ErrorKind::kInput, client.where,
              fmt::format("client `{}`: there is no program `{}` that can be run", client.name, program),
              program.find('/') == std::string::npos ? "it is looked for in the folders of PATH" : "");
}

}  // namespace

void put_in(const ExecutionBackend& backend, Scenario& scenario) {
  scenario.backend = backend.name;
  if (scenario.cluster && backend.name != kSimulation)
    throw Error(ErrorKind::kUnsupported,
                fmt::format("scenario `{}` is a cluster: only `simcli run` replays one", scenario.own_name()));
  for (const ClientChoice& client : scenario.clients) {
    const bool is_live = backend.name == kLiveBackend;
    const bool has_replay = !client.trace.empty() || client.synthetic.has_value();
    if (is_live && client.command.words.empty())
      throw Error(ErrorKind::kUnsupported, client.where,
                  fmt::format("client `{}` has no `command`: a live run starts one for each client", client.name));
    if (is_live) check_command(client);
    if (is_live && client.host_speed != 1.0)
      throw Error(ErrorKind::kUnsupported, client.where,
                  fmt::format("client `{}` has a `host_speed` of {}: a live run has the host that it runs on",
                              client.name, client.host_speed),
                  "leave `host_speed` out, or simulate it: `simcli run`");
    if (!is_live && !has_replay)
      throw Error(ErrorKind::kUnsupported, client.where,
                  fmt::format("client `{}` has a `command` alone: there is nothing to replay", client.name),
                  "give it a `trace:` or a `synthetic:` too, or use `simcli live`");
  }
}

ExecutionBackend simulation_backend() {
  return {std::string(kSimulation), [](const RunInput& input, Recorder& recorder, std::vector<std::string>&) {
            return simulate_in_arrival_order(input, recorder);
          }};
}

ExecutionBackend surrogate_backend() {
  return {std::string(kSimulation), [](const RunInput& input, Recorder& recorder, std::vector<std::string>&) {
            RunInput played = input;
            for (ClientSpec& client : played.clients) {
              if (client.workload == nullptr) continue;
              client.workload =
                  std::make_shared<const Workload>(executor::as_surrogates(*client.workload, input.device));
            }
            return simulate_in_arrival_order(played, recorder);
          }};
}

ExecutionBackend live_backend(const live::LiveOptions& options, const std::string& captures) {
  const auto runs = std::make_shared<int>(0);
  return {kLiveBackend, [=](const RunInput& input, Recorder& recorder, std::vector<std::string>& notes) {
            live::LiveReport report;
            ++*runs;
            if (captures.empty()) {
              RunResult result = live::run_live(input, recorder, options, report);
              return tell(report, std::string(input.policy_name), notes), result;
            }
            live::LiveCapture capture(recorder, input.clients);
            RunResult result = live::run_live(input, capture, options, report);
            tell(report, std::string(input.policy_name), notes);
            const std::string path = fmt::format("{}/{}-{}.corun", captures, *runs, input.policy_name);
            write_native(std::move(capture).seal(input.policy_name), path, false);
            notes.push_back(fmt::format("capture of the run: {}", path));
            return result;
          }};
}

ExecutionBackend hardware_backend(const executor::ExecuteOptions& options) {
  const executor::CudaDriver driver(options.library);  // says now what every run would
  return {std::string(kSurrogates),
          [options](const RunInput& input, Recorder& recorder, std::vector<std::string>& notes) {
            executor::ExecuteReport report;
            RunResult result = executor::execute(input, recorder, options, report);
            tell(report, notes);
            return result;
          }};
}

}  // namespace corun
