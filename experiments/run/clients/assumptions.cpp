#include "experiments/run/clients/assumptions.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "experiments/question/device_file.h"

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

std::string letters_and_digits(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Whether the two cannot be the same: the numbers of their SMs differ, or the capture's name of its device is not that
/// of the built-in model. A device file of the user's may have any name.
bool is_another_device(const CapturedDevice& captured, const DeviceSpec& device) {
  if (captured.sm_count != 0 && captured.sm_count != device.sm_count) return true;
  const auto devices = builtin_devices();
  const bool is_builtin = std::ranges::find(devices, device.name, &BuiltinDevice::model) != devices.end();
  return is_builtin && !captured.name.empty() &&
         letters_and_digits(captured.name).find(letters_and_digits(device.name)) == std::string::npos;
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

}  // namespace

std::vector<std::string> assumptions(const Scenario& scenario, ClientBuilder& builder) {
  std::vector<std::string> notes;
  for (const ClientChoice& choice : scenario.clients) {
    const ClientSpec spec = builder.as_captured(scenario, choice, scenario.seeds.front());
    const std::optional<double> rate = builder.solo_rate(choice, *spec.workload);
    if (is_another_device(spec.workload->captured_on, scenario.device))
      notes.push_back(fmt::format("{}: {}", choice.name, note_of_device(spec.workload->captured_on, scenario.device)));
    for (const std::string& note : spec.workload->notes) {
      const bool is_settled = rate && note.find("solo_rate") != std::string::npos;
      if (!is_settled) notes.push_back(note_of_client(choice.name, note));
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
