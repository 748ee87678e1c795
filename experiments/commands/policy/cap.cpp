#include <fmt/format.h>

#include "experiments/base/json.h"
#include "experiments/base/table.h"
#include "experiments/commands/commands.h"
#include "experiments/question/device_file.h"
#include "experiments/run/caps.h"
#include "traces/base/streams.h"
#include "traces/base/units.h"
#include "traces/reader.h"

namespace corun {

namespace {

struct CapOptions {
  std::string file;
  std::string device = "h200";
  std::string solo_rate;    ///< jobs per second alone and untraced; "" = as the capture states
  unsigned iterations = 0;  ///< jobs that the capture is split into; 0 = as it states
};

constexpr int kCaps[] = {10, 20, 30, 40, 50, 60, 70, 80, 90};

DeviceSpec device_named(const std::string& model) {
  std::string known;
  for (const BuiltinDevice& device : builtin_devices()) {
    if (device.model == model) return read_device_file(device.text, model + ".yaml").spec;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", device.model);
  }
  throw Error(ErrorKind::kInput, {}, fmt::format("there is no device `{}`", model), "devices: " + known);
}

double rate_of(const std::string& text) {
  if (text.empty()) return 0.0;
  const std::optional<double> rate = parse_rate(text);
  if (!rate || *rate <= 0)
    throw Error(ErrorKind::kInput, {}, fmt::format("--solo-rate: `{}` is no rate", text), "for example 31/s");
  return *rate;
}

void print_json(const CapOptions& options, const DeviceSpec& device, const LaunchProfile& profile) {
  Json json;
  json.object().field("schema_version", 1).field("trace", options.file).field("device", device.name);
  json.field("launches", profile.launches).field("blocks_per_ms", profile.blocks_per_ms);
  json.field("mean_launch_ns", to_ns(profile.mean_launch)).field("longest_launch_ns", to_ns(profile.longest_launch));
  json.field("busy_alone_ratio", profile.busy_alone).key("caps").array();
  for (const int cap : kCaps)
    for (const CapLimiter limiter : kCapLimiters) {
      const CapVerdict verdict = judge_cap(limiter, device, profile, cap);
      json.object().field("cap_percent", cap).field("policy", to_string(limiter));
      json.field("predicted_percent", verdict.predicted)
          .field("is_held", verdict.is_held)
          .field("reason", verdict.reason)
          .end();
    }
  print_out("{}\n", json.end().end().text());
}

void print_table(const CommonOptions& common, const CapOptions& options, const DeviceSpec& device,
                 const LaunchProfile& profile) {
  print_out("{} on {}: {} launches, {:.4g} blocks/ms, {:.0f} % busy alone, launches of {} (longest {})\n\n",
            printable(options.file), device.name, profile.launches, profile.blocks_per_ms, 100.0 * profile.busy_alone,
            format_duration(profile.mean_launch), format_duration(profile.longest_launch));
  for (const CapLimiter limiter : kCapLimiters) {
    std::vector<std::vector<std::string>> rows = {{"cap", "use", std::string(to_string(limiter)), "why"}};
    for (const int cap : kCaps) {
      const CapVerdict verdict = judge_cap(limiter, device, profile, cap);
      rows.push_back({fmt::format("{} %", cap), fmt::format("{:.0f} %", verdict.predicted),
                      verdict.is_held ? "held" : "not held", verdict.reason});
    }
    print_out("{}\n", aligned(rows, {0, 1}, common.out.table_width()));
  }
  print_out(
      "use: predicted mean utilisation of the program alone in its first minute; held: within {:.0f} % of the cap,\n"
      "or of what it uses without one; hami is forced to throttle\n",
      100 * kHeldWithin);
}

int policy_cap_command(const CommonOptions& common, const CapOptions& options) {
  const DeviceSpec device = device_named(options.device);
  WorkloadOptions split;
  split.iterations = options.iterations;
  const Workload workload = workload_from_capture(load_compact(options.file), split);
  const LaunchProfile profile = profile_launches(workload, rate_of(options.solo_rate));
  if (profile.launches == 0)
    throw Error(ErrorKind::kUnsupported, {options.file}, "it has no kernels: no launch passes a limiter");
  if (common.json) {
    print_json(options, device, profile);
  } else {
    print_table(common, options, device, profile);
  }
  return 0;
}

}  // namespace

void add_policy_cap(Commands& commands) {
  auto [command, options] =
      commands.add("cap", "Show which utilisation caps the limiters can hold for a capture", &policy_cap_command);
  command.option("TRACE", &options.file, "Capture of any known format").required();
  command.option("--device", &options.device, "A built-in device").shows_default("h200");
  command.option("--solo-rate", &options.solo_rate, "Jobs of the untraced program alone: 31/s");
  command.option("--iterations", &options.iterations, "Jobs that the capture is split into");
}

}  // namespace corun
