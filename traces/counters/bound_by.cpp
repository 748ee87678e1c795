#include "traces/counters/bound_by.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "traces/counters/kernel_totals.h"

namespace corun {

namespace {

constexpr std::uint32_t kBound = 600'000;

double& part_of(BoundBy& bound, const CounterRecord& counter) {
  const std::uint32_t most = std::max({counter.dram_ppm, counter.l2_ppm, counter.sm_ppm});
  if (most < kBound) return bound.nothing;
  if (most == counter.dram_ppm) return bound.dram;
  return most == counter.l2_ppm ? bound.l2 : bound.sms;
}

}  // namespace

void UseSum::add(const CounterRecord& counter, double ns) {
  const auto times = [ns](std::uint32_t ppm) { return ns * static_cast<double>(ppm) / CounterRecord::kWhole; };
  all_ns_ += ns;
  sum_.counted += ns;
  sum_.dram += times(counter.dram_ppm);
  sum_.l2 += times(counter.l2_ppm);
  sum_.sms += times(counter.sm_ppm);
}

MeanUse UseSum::mean() const {
  if (sum_.counted <= 0) return {};
  return {.dram = sum_.dram / sum_.counted,
          .l2 = sum_.l2 / sum_.counted,
          .sms = sum_.sms / sum_.counted,
          .counted = sum_.counted / all_ns_};
}

BoundBy bound_by(const Timeline& timeline) {
  BoundBy bound;
  double all_ns = 0;
  std::map<KernelKey, KernelTotal> totals = kernel_totals(timeline);
  bound.kernels = totals.size();
  for (const auto& [key, total] : totals) all_ns += total.ns;
  UseSum sum;
  for (const CounterRecord& counter : timeline.counters()) {
    const auto kernel = totals.find(key_of(counter));
    if (kernel == totals.end()) continue;
    ++bound.counted;
    sum.add(counter, kernel->second.ns);
    part_of(bound, counter) += kernel->second.ns / all_ns;
    totals.erase(kernel);
  }
  for (const auto& [key, total] : totals) sum.add_uncounted(total.ns);
  bound.mean = sum.mean();
  return bound;
}

std::string to_text(const BoundBy& bound) {
  std::string text;
  const std::pair<const char*, double> parts[] = {{"DRAM", bound.dram},
                                                  {"L2", bound.l2},
                                                  {"SMs", bound.sms},
                                                  {"none of them", bound.nothing},
                                                  {"not counted", 1 - bound.mean.counted}};
  for (const auto& [what, part] : parts)
    if (part >= 0.0005) text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", what, 100 * part);
  return text + " of the kernels' time";
}

std::string to_text(const MeanUse& use) {
  return fmt::format("DRAM {:.0f} %, L2 {:.0f} %, SMs {:.0f} % of the peak", 100 * use.dram, 100 * use.l2,
                     100 * use.sms);
}

}  // namespace corun
