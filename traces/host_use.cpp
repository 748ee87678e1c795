#include "traces/host_use.h"

#include <fmt/format.h>

#include <algorithm>

namespace corun {

namespace {

constexpr double kOftenEnough = 0.05;

double part(std::int64_t ns, const HostUse& use) { return static_cast<double>(ns) / static_cast<double>(use.span_ns); }

}  // namespace

std::optional<HostUse> busiest_thread(const Provenance& provenance) {
  const auto most = std::ranges::max_element(provenance.host_use, {}, &HostUse::running_ns);
  return most == provenance.host_use.end() ? std::nullopt : std::optional(*most);
}

bool lacked_cores(const HostUse& use) { return part(use.waiting_ns, use) >= kOftenEnough; }

std::string to_text(const HostUse& use) {
  return fmt::format("its thread ran {:.1f} % of the time and waited for a core {:.1f} % of it",
                     100 * part(use.running_ns, use), 100 * part(use.waiting_ns, use));
}

}  // namespace corun
