#include "traces/counters/kernel_kinds.h"

namespace corun {

std::map<KernelKind, KernelTotal> kernel_totals(const Timeline& timeline) {
  std::map<KernelKind, KernelTotal> totals;
  for (const OpRecord& op : timeline.ops()) {
    if (op.kind != OpKind::kKernel) continue;
    KernelTotal& total = totals[kind_of(op)];
    total.ns += static_cast<double>(op.duration_ns);
    ++total.launches;
  }
  return totals;
}

}  // namespace corun
