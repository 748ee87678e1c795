#include "policies/parts/thrash.h"

#include <algorithm>

namespace corun {

void ThrashDetector::forget() {
  last_.reset();
  bad_looks_ = 0;
}

bool ThrashDetector::look(const GpuView& view, std::span<const ClientId> clients) {
  if (last_ && view.now < next_look(view.now)) return bad_looks_ >= kLooksInARow;
  Counters now{.time = view.now};
  for (const ClientId client : clients) {
    now.paged += view.client(client).paged_bytes;
    now.resident += view.client(client).resident_bytes;
  }
  if (last_) bad_looks_ = churn_bytes_per_s(now) > most_bytes_per_s_ ? bad_looks_ + 1 : 0;
  last_ = now;
  return bad_looks_ >= kLooksInARow;
}

double ThrashDetector::churn_bytes_per_s(const Counters& now) const {
  const double paged = static_cast<double>(now.paged) - static_cast<double>(last_->paged);
  const double growth = static_cast<double>(now.resident) - static_cast<double>(last_->resident);
  return (paged - std::max(growth, 0.0)) / to_seconds(now.time - last_->time);
}

}  // namespace corun
