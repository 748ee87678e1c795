#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/calibration/fits/fit.h"
#include "sim/calibration/fits/together.h"

namespace corun::calibration {

namespace {

/// A series over all repetitions of a trial, of its probe `role`.
std::vector<double> numbers(const Samples& samples, const std::string& trial, std::size_t role, const char* name) {
  std::vector<double> all;
  for (const Together& probes : together(samples, trial))
    if (role < probes.size()) std::ranges::copy(numbers(*probes[role], name), std::back_inserter(all));
  return all;
}

void add(std::vector<Finding>& findings, Finding finding, const std::vector<double>& values) {
  if (values.empty()) return;
  finding.value = spread_of(values);
  findings.push_back(std::move(finding));
}

std::vector<double> bandwidths(const Samples& samples, const std::string& trial, const char* name) {
  const std::vector<double> bytes = numbers(samples, trial, 0, "bytes");
  std::vector<double> rates = numbers(samples, trial, 0, name);
  for (double& rate : rates) rate = bytes.front() / rate * 1e9;
  return rates;
}

void fit_copies(const Samples& samples, std::vector<Finding>& findings) {
  const std::pair<const char*, const char*> directions[] = {{"to_device_ns", "to_device_bandwidth"},
                                                            {"from_device_ns", "from_device_bandwidth"}};
  const std::vector<double> both = bandwidths(samples, "copy_alone", "both_ns");
  for (const auto& [series, key] : directions) {
    const std::vector<double> alone = bandwidths(samples, "copy_alone", series);
    if (alone.empty()) continue;
    Finding finding{.key = key,
                    .title = std::string(key).substr(0, std::string(key).find("_device")) + " device bandwidth",
                    .unit = Unit::kBytesPerS};
    finding.method = fmt::format("{} copies of 256 MiB from or to pinned memory", alone.size());
    finding.notes.push_back(fmt::format("{} while a copy goes the other way", text_of(median(both), Unit::kBytesPerS)));
    finding.compared_in = Unit::kBytesPerS;
    const std::vector<double> beside = bandwidths(samples, "copy_beside", series);
    if (!beside.empty())
      finding.comparisons = {{"during another context's kernel",
                              median(beside),
                              median(alone),
                              {{"half (turns with the kernel)", median(alone) / 2}}}};
    add(findings, finding, alone);
  }
  const std::vector<double> gaps = numbers(samples, "copy_beside", 1, "gaps");
  if (!gaps.empty() && !findings.empty())
    findings.back().notes.push_back(
        fmt::format("the kernel of the other context was away {:.0f} times meanwhile", gaps[0]));
}

void fit_launches(const Samples& samples, std::vector<Finding>& findings) {
  add(findings,
      {.key = "launch_queue_depth",
       .title = "launch queue depth",
       .unit = Unit::kCount,
       .method = "launches of one stream until a call blocked, behind a long kernel"},
      numbers(samples, "launch", 0, "queue_depth"));
  add(findings, {.title = "launch cost for the host", .method = "means of 200 launches in a row"},
      numbers(samples, "launch", 0, "launch_ns"));
  add(findings, {.title = "time from one empty kernel to the next", .method = "means of 200 in a row"},
      numbers(samples, "launch", 0, "kernel_ns"));
  add(findings, {.title = "round trip of an empty kernel", .method = "launch until its stamp is seen by the host"},
      numbers(samples, "launch", 0, "round_trip_ns"));
}

void fit_contexts(const Samples& samples, std::vector<Finding>& findings) {
  std::vector<double> bytes;
  for (const Together& probes : together(samples, "context")) {
    const Series& unused = probes[0]->of("free_bytes");
    if (unused.size() > 1) bytes.push_back(as_double(unused.front() - *std::ranges::min_element(unused)));
  }
  add(findings,
      {.key = "context_memory",
       .title = "device memory of a context",
       .unit = Unit::kBytes,
       .method = "drop of free memory while another process made a context, its few buffers included"},
      bytes);
  std::vector<double> created = numbers(samples, "context", 1, "context_create_ns");
  std::ranges::move(numbers(samples, "context", 1, "made_again_ns"), std::back_inserter(created));
  add(findings,
      {.key = "context_create",
       .title = "making a context",
       .method = "until its first kernel has run, in a process that has the driver"},
      created);
  std::vector<double> starts;
  for (const Sample& sample : samples)
    if (!sample.of("driver_start_ns").empty()) starts.push_back(as_double(sample.first("driver_start_ns")));
  add(findings, {.title = "loading and starting the driver in a process", .method = "all probes"}, starts);
}

void fit_clocks(const Samples& samples, std::vector<Finding>& findings) {
  const std::vector<double> heavy = numbers(samples, "clock", 0, "heavy_khz");
  if (heavy.empty()) return;
  Finding finding{.title = "clock of the multiprocessors under load", .unit = Unit::kKhz};
  finding.method = fmt::format("cycles over nanoseconds of the device's clock, {} kernels that fill it", heavy.size());
  const std::vector<double> light = numbers(samples, "clock", 0, "light_khz"),
                            top = numbers(samples, "clock", 0, "top_khz");
  if (!light.empty())
    finding.notes.push_back(fmt::format("{} with one thread alone", text_of(median(light), Unit::kKhz)));
  if (!top.empty())
    finding.notes.push_back(fmt::format("{} is the most, says the driver", text_of(top[0], Unit::kKhz)));
  finding.notes.push_back(fmt::format("{} in the first kernel, {} in the last", text_of(heavy.front(), Unit::kKhz),
                                      text_of(heavy.back(), Unit::kKhz)));
  add(findings, finding, heavy);
}

void fit_priorities(const Samples& samples, std::vector<Finding>& findings) {
  const std::vector<double> equal = numbers(samples, "priority", 0, "equal_wait_ns"),
                            urgent = numbers(samples, "priority", 0, "urgent_wait_ns"),
                            background = numbers(samples, "priority", 0, "background_alone_ns");
  if (equal.empty() || urgent.empty() || background.empty()) return;
  Finding finding{.title = "wait of an urgent stream's kernel behind a running one of the same process"};
  constexpr int kWaves = 40;
  finding.method = fmt::format("{} times, 0.5 ms into a kernel of {} whose blocks come in {} waves", urgent.size(),
                               text_of(background[0], Unit::kNs), kWaves);
  finding.notes.push_back(fmt::format("{} with equal priorities", text_of(median(equal), Unit::kNs)));
  const double wave = background[0] / kWaves;
  Comparison c{"wait of the urgent kernel", median(urgent), wave / 2};
  c.nulls = {{"a whole wave", wave}, {"no priorities", std::max(1.0, background[0] - 500'000)}};
  finding.comparisons.push_back(c);
  finding.notes.push_back(
      "the model: running blocks are not displaced and end at all phases, so it waits for half a wave of them");
  add(findings, finding, urgent);
}

}  // namespace

std::vector<Finding> fit_host(const Samples& samples, DeviceSpec&) {
  std::vector<Finding> findings;
  fit_copies(samples, findings);
  fit_launches(samples, findings);
  fit_contexts(samples, findings);
  fit_clocks(samples, findings);
  fit_priorities(samples, findings);
  return findings;
}

std::vector<Finding> fit_properties(const Samples& samples, DeviceSpec& device) {
  const std::vector<Together> asked = together(samples, "device");
  if (asked.empty()) return {};
  const Sample& properties = *asked.front().front();
  const auto take = [&](const char* name, std::uint32_t& into) {
    into = static_cast<std::uint32_t>(properties.first(name, into));
  };
  take("sm_count", device.sm_count);
  take("max_threads_per_sm", device.max_threads_per_sm);
  take("max_blocks_per_sm", device.max_blocks_per_sm);
  take("registers_per_sm", device.registers_per_sm);
  take("shared_memory_per_sm_bytes", device.shared_memory_per_sm_bytes);
  std::vector<Finding> findings;
  const auto say = [&](const char* key, const char* name, Unit unit) {
    if (properties.of(name).empty()) return;
    findings.push_back({.key = key,
                        .title = key,
                        .unit = unit,
                        .value = spread_of({as_double(properties.first(name))}),
                        .method = "the driver's attributes",
                        .is_told = true});
  };
  say("sm_count", "sm_count", Unit::kCount);
  say("max_threads_per_sm", "max_threads_per_sm", Unit::kCount);
  say("max_blocks_per_sm", "max_blocks_per_sm", Unit::kCount);
  say("registers_per_sm", "registers_per_sm", Unit::kCount);
  say("shared_memory_per_sm", "shared_memory_per_sm_bytes", Unit::kBytes);
  say("memory", "memory_bytes", Unit::kBytes);
  const auto found = properties.texts.find("device");
  if (found != properties.texts.end()) device.name = found->second;
  return findings;
}

}  // namespace corun::calibration
