#include "traces/counters/count_kernels.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "traces/counters/kernel_totals.h"
#include "traces/text/kernel_name.h"

namespace corun {

namespace {

/// Name, blocks and threads of a block.
using Launched = std::tuple<std::string, std::uint64_t, std::uint32_t>;
using Launches = std::vector<const CounterRecord*>;

constexpr double kMostApart = 0.1 * CounterRecord::kWhole;
// A launch of another name is this kernel's if it takes as long: within 30 %, or 2 us, which counting adds to short
// ones.
constexpr double kAsLong = 0.3, kLonger_ns = 2'000;

/// The last part of a name: reports leave out namespaces that captures have.
std::string last_name(std::string_view name) {
  const std::string short_name = short_kernel_name(name);
  const std::size_t colons = short_name.rfind("::");
  return colons == std::string::npos ? short_name : short_name.substr(colons + 2);
}

CounterRecord mean_of(const Launches& launches) {
  double ns = 0;
  for (const CounterRecord* launch : launches) ns += static_cast<double>(launch->mean_ns);
  const auto mean = [&](std::uint32_t CounterRecord::*value) {
    double sum = 0;
    for (const CounterRecord* launch : launches)
      sum += static_cast<double>(launch->*value) * (ns > 0 ? static_cast<double>(launch->mean_ns) / ns : 0.0);
    return static_cast<std::uint32_t>(std::llround(sum));
  };
  CounterRecord record;
  record.launches = static_cast<std::uint32_t>(launches.size());
  record.mean_ns = std::llround(ns / static_cast<double>(launches.size()));
  for (const auto value : {&CounterRecord::dram_ppm, &CounterRecord::l2_ppm, &CounterRecord::l2_hits_ppm,
                           &CounterRecord::sm_ppm, &CounterRecord::warps_ppm})
    record.*value = mean(value);
  return record;
}

bool are_alike(const Launches& launches) {
  const CounterRecord mean = mean_of(launches);
  return std::ranges::all_of(launches, [&](const CounterRecord* launch) {
    return std::abs(static_cast<double>(launch->dram_ppm) - static_cast<double>(mean.dram_ppm)) <= kMostApart;
  });
}

/// What a kernel moves does not hang on the clock at which it is counted, but its time does: while it runs as in the
/// capture, its throughput is more by what it takes less.
std::uint32_t as_captured(std::uint32_t dram_ppm, double counted_ns, double captured_ns) {
  const double ppm = captured_ns > 0 ? static_cast<double>(dram_ppm) * counted_ns / captured_ns : 0;
  return static_cast<std::uint32_t>(std::llround(std::min<double>(ppm, CounterRecord::kWhole)));
}

Launches as_long_as(double captured_ns, const Launches& launches) {
  Launches found;
  const double most_off = std::max(kAsLong * captured_ns, kLonger_ns);
  std::ranges::copy_if(launches, std::back_inserter(found), [&](const CounterRecord* launch) {
    return std::abs(static_cast<double>(launch->mean_ns) - captured_ns) <= most_off;
  });
  return found;
}

class CountedKinds {
 public:
  explicit CountedKinds(std::span<const CountedLaunch> launches) {
    for (const CountedLaunch& launch : launches) {
      exact_[{launch.kernel, launch.blocks, launch.threads}].push_back(&launch.counted);
      by_last_name_[{last_name(launch.kernel), launch.blocks, launch.threads}].push_back(&launch.counted);
    }
  }

  std::optional<CounterRecord> of(std::string_view name, const LaunchShape& shape, double captured_ns) const {
    if (const auto found = exact_.find({std::string(name), shape.blocks(), shape.threads_per_block()});
        found != exact_.end())
      return mean_of(found->second);
    const auto found = by_last_name_.find({last_name(name), shape.blocks(), shape.threads_per_block()});
    if (found == by_last_name_.end()) return std::nullopt;
    const Launches alike = as_long_as(captured_ns, found->second);
    return alike.empty() || !are_alike(alike) ? std::nullopt : std::optional(mean_of(alike));
  }

 private:
  std::map<Launched, Launches> exact_, by_last_name_;
};

}  // namespace

std::vector<CounterRecord> count_kernels(const Timeline& timeline, std::span<const CountedLaunch> launches) {
  const CountedKinds counted(launches);
  std::vector<CounterRecord> counters;
  for (const auto& [key, total] : kernel_totals(timeline)) {
    const StringId name{key.name};
    if (name.is_none() || key.shape == OpRecord::kNoIndex) continue;
    const double captured_ns = total.mean_ns();
    std::optional<CounterRecord> record = counted.of(timeline.text(name), timeline.shapes()[key.shape], captured_ns);
    if (!record) continue;
    record->name = name;
    record->shape = key.shape;
    record->dram_ppm = as_captured(record->dram_ppm, static_cast<double>(record->mean_ns), captured_ns);
    counters.push_back(*record);
  }
  return counters;
}

}  // namespace corun
