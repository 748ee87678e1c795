#include "experiments/run/clients/assumptions.h"

#include <cmath>

#include "experiments/run/clients/captured_gpu.h"

namespace corun {

namespace {

/// What to say of a capture that does not reach its stated rate: most often its jobs were split wrongly.
std::string out_of_reach(const ClientChoice& choice, const Workload& workload, const SoloFit& fit) {
  std::string text = fmt::format(
      "warning: {}: no factor on its host gaps, nor on the device's, comes within 1 % of the {} rate; its capture is "
      "taken as {} job{}",
      choice.name, choice.solo_rate ? "stated" : "untraced", workload.jobs.size(),
      workload.jobs.size() == 1 ? "" : "s");
  if (!choice.solo_rate) return text;
  const double passes = *choice.solo_rate / fit.reached_per_s;
  const double jobs = std::round(passes * static_cast<double>(workload.jobs.size()));
  if (jobs >= 1 && std::abs(passes * static_cast<double>(workload.jobs.size()) / jobs - 1) < 0.15 &&
      jobs != static_cast<double>(workload.jobs.size()))
    text += fmt::format("; did you mean `iterations: {:.0f}`?", jobs);
  return text;
}

/// "host gaps x0.900, launch latency x0.130, device time x0.960"
std::string factors(const SoloFit& fit) {
  std::string text = fmt::format("host gaps x{:.3f}", fit.host_gap_scale);
  if (fit.launch_latency_scale < 1) text += fmt::format(", launch latency x{:.3f}", fit.launch_latency_scale);
  if (fit.device_time_scale < 1) text += fmt::format(", device time x{:.3f}", fit.device_time_scale);
  return text;
}

/// Times of one GPU say little of another.
std::string note_of_device(const CapturedDevice& captured, const DeviceSpec& device) {
  const std::string name = captured.name.empty() ? "a device" : captured.name;
  const std::string sms = captured.sm_count == 0 ? "" : fmt::format(" ({} SMs)", captured.sm_count);
  return fmt::format("captured on {}{}, replayed on {} ({} SMs): its times are not scaled", name, sms, device.name,
                     device.sm_count);
}

}  // namespace

std::vector<std::string> assumptions(const Scenario& scenario, ClientBuilder& builder) {
  std::vector<std::string> notes;
  if (!scenario.device_facts.is_measured && !scenario.clients.empty())
    notes.push_back(fmt::format(
        "warning: device {} was never measured: its driver and the laws of its SMs are taken from other parts, "
        "so rates carry a wider error than those of docs/accuracy.md",
        scenario.device.name));
  for (const ClientChoice& choice : scenario.clients) {
    const ClientSpec spec = builder.as_captured(scenario, choice, scenario.seeds.front());
    const std::optional<double> rate = builder.solo_rate(choice, *spec.workload);
    if (is_another_gpu(spec.workload->captured_on, scenario.device))
      notes.push_back(fmt::format("{}: {}", choice.name, note_of_device(spec.workload->captured_on, scenario.device)));
    if (spec.workload->collective_share > 0)
      notes.push_back(
          fmt::format("warning: {}: {:.1f} % of its device time is kernels that wait for other GPUs, replayed "
                      "with recorded lengths",
                      choice.name, 100 * spec.workload->collective_share));
    if (choice.options.gpu_busy_ratio > 0)
      notes.push_back(fmt::format(
          "warning: {}: GPU times are {:.3g} % of frame times, so a frame that its host delayed counts as long on the "
          "GPU: the 1 % low and the 99th percentile are not those of the game",
          choice.name, 100 * choice.options.gpu_busy_ratio));
    for (const std::string& note : spec.workload->notes) {
      const bool is_settled = rate && note.find("solo_rate") != std::string::npos;
      if (!is_settled) notes.push_back(fmt::format("{}: {}", choice.name, note));
    }
    if (!rate) continue;
    const SoloFit fit = builder.fit(scenario, choice, spec);
    notes.push_back(fmt::format("{}: calibrated to {} {:.4g}/s (simulated {:.4g}/s): {}", choice.name,
                                choice.solo_rate ? "solo_rate" : "the untraced rate", *rate, fit.reached_per_s,
                                factors(fit)));
    if (!fit.within_reach) notes.push_back(out_of_reach(choice, *spec.workload, fit));
  }
  return notes;
}

}  // namespace corun
