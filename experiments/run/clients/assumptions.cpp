#include "experiments/run/clients/assumptions.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "experiments/question/device_file.h"
#include "experiments/run/clients/captured_gpu.h"
#include "experiments/run/clients/doubts.h"
#include "experiments/run/clients/self_check.h"

namespace corun {

namespace {

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

/// A note of one client. Warnings begin with the word, whatever their client.
std::string note_of_client(const std::string& client, const std::string& note) {
  constexpr std::string_view kWarning = "warning: ";
  if (!note.starts_with(kWarning)) return fmt::format("{}: {}", client, note);
  return fmt::format("{}{}: {}", kWarning, client, note.substr(kWarning.size()));
}

void add_capped_rates(const Scenario& scenario, const ClientChoice& choice, ClientBuilder& builder,
                      std::vector<std::string>& notes) {
  const std::vector<CappedRate> reached = builder.capped_fit(scenario, choice).reached;
  for (std::size_t i = 0; i < reached.size(); ++i)
    notes.push_back(fmt::format("{}: calibrated to {:.4g}/s with {:.0f} % of the SMs (simulated {:.4g}/s)", choice.name,
                                choice.capped_rates[i].jobs_per_s, 100 * reached[i].fraction, reached[i].jobs_per_s));
}

std::string listed(const std::vector<StepSize>& sizes) {
  std::vector<std::string> texts;
  for (const StepSize& size : sizes) texts.push_back(to_string(size));
  return fmt::format("{}", fmt::join(texts, ", "));
}

void add_serving(const Scenario& scenario, const ClientChoice& choice, ClientBuilder& builder, const ClientSpec& spec,
                 std::vector<std::string>& notes) {
  for (const std::string& note : spec.server->notes) notes.push_back(note_of_client(choice.name, note));
  if (choice.trace.empty()) return;
  if (choice.server->step_times.path.empty()) {
    notes.push_back(
        fmt::format("warning: {}: its steps take what they took under the recorder, which delays graphs "
                    "most; state `step_times`, a log of the engine alone and untraced",
                    choice.name));
    return;
  }
  const StepTimesFit fit = builder.step_times_fit(scenario, choice, spec);
  if (!fit.unknown.empty())
    notes.push_back(fmt::format("warning: {}: `step_times` has no step of these sizes, which are as captured: {}",
                                choice.name, listed(fit.unknown)));
  if (!fit.out_of_reach.empty())
    notes.push_back(fmt::format("warning: {}: captured steps of these sizes cannot take the times of `step_times`: {}",
                                choice.name, listed(fit.out_of_reach)));
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
    for (const std::string& note : spec.workload->notes) {
      const bool is_settled = rate && note.find("solo_rate") != std::string::npos;
      if (!is_settled) notes.push_back(note_of_client(choice.name, note));
    }
    if (spec.server) add_serving(scenario, choice, builder, spec, notes);
    if (rate) {
      const SoloFit fit = builder.fit(scenario, choice, spec);
      notes.push_back(fmt::format("{}: calibrated to {} {:.4g}/s (simulated {:.4g}/s): {}", choice.name,
                                  choice.solo_rate ? "solo_rate" : "the untraced rate", *rate, fit.reached_per_s,
                                  factors(fit)));
    }
    if (!choice.capped_rates.empty() && builder.replays()) add_capped_rates(scenario, choice, builder, notes);
    for (const std::string& misfit : accepted_misfits(scenario, choice, builder))
      notes.push_back(fmt::format("warning: {}: {}", choice.name, misfit));
    for (const std::string& doubt : doubts(scenario, choice, builder))
      notes.push_back(fmt::format("warning: {}: {}", choice.name, doubt));
  }
  return notes;
}

}  // namespace corun
