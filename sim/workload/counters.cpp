#include "sim/workload/counters.h"

#include <map>

#include "traces/counters/kernel_totals.h"

namespace corun {

MeanUse mean_use(const CompactCapture& capture) {
  std::map<KernelKey, const CounterRecord*> counters;
  for (const CounterRecord& counter : capture.rest.counters()) counters[key_of(counter)] = &counter;
  if (counters.empty()) return {};
  UseSum sum;
  for (std::size_t op = 0; op < capture.op_count(); ++op) {
    const OpRecord& kernel = capture.prototype(op);
    if (kernel.kind != OpKind::kKernel) continue;
    const auto ns = static_cast<double>(capture.durations[op]);
    const auto counted = counters.find(key_of(kernel));
    if (counted == counters.end()) {
      sum.add_uncounted(ns);
    } else {
      sum.add(*counted->second, ns);
    }
  }
  return sum.mean();
}

}  // namespace corun
