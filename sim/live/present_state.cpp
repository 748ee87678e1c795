#include "sim/live/present_state.h"

#include <algorithm>

namespace corun::live {

void add_present_state(ClientFigures& figures, const LiveClient& client, const Arbiter& arbiter, Time now) {
  figures.launches = client.counts().passed;
  figures.waiting = client.waiting();
  figures.in_flight = client.in_flight();
  figures.allocated = client.allocated();
  figures.memory_limit = client.memory().most_bytes;
  figures.gate_is_open = arbiter.gate_is_open(client.id());
  figures.has_known_jobs = client.why_rate_is_unknown().empty();
  if (!figures.has_known_jobs) figures.recent_job_times = {};
  if (const Hold* hold = arbiter.hold_of(client.id()); hold != nullptr) {
    figures.hold = hold->rule;
    figures.held[figures.hold] += std::max(now - arbiter.held_since(client.id()), Duration{0});
  }
}

}  // namespace corun::live
