#include "traces/counters/kernel_totals.h"

namespace corun {

std::map<KernelKey, KernelTotal> kernel_totals(const Timeline& timeline) {
  std::map<KernelKey, KernelTotal> totals;
  for (const OpRecord& op : timeline.ops()) {
    if (op.kind != OpKind::kKernel) continue;
    KernelTotal& total = totals[key_of(op)];
    total.ns += static_cast<double>(op.duration_ns);
    ++total.launches;
  }
  return totals;
}

}  // namespace corun
