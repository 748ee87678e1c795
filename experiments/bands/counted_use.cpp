#include "experiments/bands/counted_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/bands/bands.h"

namespace corun {

namespace {

constexpr std::string_view kKeepsBusy = ": keeps the device busy, and by counters its kernels use ";
constexpr std::string_view kLeavesIdle =
    ": leaves the device idle for more than a quarter of the time; by counters its kernels use ";
constexpr std::string_view kMemory = "memory more than SMs", kSms = "SMs more than memory";

}  // namespace

std::string counted_use_note(const std::string& client, const MeanUse& use, double busy) {
  return fmt::format("{}{}{}: {}, where {:.0f} % of their time are counted", client,
                     busy >= kMostlyBusy ? kKeepsBusy : kLeavesIdle, use.is_of_memory() ? kMemory : kSms, to_text(use),
                     std::floor(100 * use.counted));
}

std::string_view counted_bound(std::span<const std::string> notes, const std::string& client) {
  const std::string begin = fmt::format("{}{}", client, kKeepsBusy);
  const auto note = std::ranges::find_if(notes, [&](const std::string& text) { return text.starts_with(begin); });
  if (note == notes.end()) return "";
  return std::string_view(*note).substr(begin.size()).starts_with(kSms) ? "sms" : "";
}

}  // namespace corun
