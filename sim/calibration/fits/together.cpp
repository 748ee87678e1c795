#include "sim/calibration/fits/together.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace corun::calibration {

std::vector<Together> together(const Samples& samples, const std::string& trial) {
  std::map<std::uint32_t, Together> by_repetition;
  for (const Sample& sample : samples)
    if (sample.trial == trial) by_repetition[sample.repetition].push_back(&sample);
  std::vector<Together> repetitions;
  for (auto& [number, all] : by_repetition) {
    if (std::ranges::any_of(all, [](const Sample* sample) { return sample->series.empty(); })) continue;
    std::ranges::sort(all, {}, &Sample::role);
    repetitions.push_back(std::move(all));
  }
  return repetitions;
}

Window window_of_spinners(std::span<const Sample* const> spinners) {
  Window window{0, INT64_MAX};
  for (const Sample* spinner : spinners) {
    window.from = std::max(window.from, spinner->first("begin_ns"));
    window.to = std::min(window.to, spinner->first("end_ns"));
  }
  return window;
}

Window window_of_loads(std::span<const Sample* const> loads, std::size_t fewest) {
  Window window{0, INT64_MAX};
  for (const Sample* load : loads) {
    const Series& ends = load->of("end_ns");
    if (ends.size() < fewest) return {};
    window.from = std::max(window.from, ends.front());
    window.to = std::min(window.to, ends.back());
  }
  return window;
}

std::int64_t ended_in(Window window, const Sample& load) {
  return std::ranges::count_if(load.of("end_ns"),
                               [&](std::int64_t end) { return end >= window.from && end < window.to; });
}

double share_of_spinner(const Sample& spinner) {
  const Series& gaps = spinner.of("gap_length_ns");
  const std::int64_t away = std::accumulate(gaps.begin(), gaps.end(), std::int64_t{0});
  return 1 - as_double(away) / as_double(spinner.first("end_ns") - spinner.first("begin_ns"));
}

std::vector<double> numbers(const Sample& sample, const std::string& name) {
  std::vector<double> all;
  for (const std::int64_t number : sample.of(name)) all.push_back(as_double(number));
  return all;
}

}  // namespace corun::calibration
