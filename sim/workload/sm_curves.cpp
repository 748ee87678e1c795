#include "sim/workload/sm_curves.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "traces/base/error.h"

namespace corun {

namespace {

/// What tells a kernel from others, in every capture of its program.
using KernelKind = std::tuple<std::string_view, std::uint64_t, std::uint32_t>;

KernelKind kind_of(const Workload& workload, const WorkOp& op) {
  return {workload.names[op.name], op.shape.blocks(), op.shape.threads_per_block()};
}

struct Total {
  double ns = 0;
  double count = 0;
  double mean() const { return ns / count; }
};

struct KernelTimes {
  std::map<KernelKind, Total> of;
  Total all;
};

/// Per job.
KernelTimes kernel_times(const Workload& workload) {
  KernelTimes times;
  const double each = 1.0 / static_cast<double>(workload.jobs.size());
  for (std::size_t i = 0; i < workload.ops.size(); ++i) {
    const WorkOp& shared = workload.ops.shared_by(i);
    if (shared.kind != OpKind::kKernel) continue;
    const auto ns = static_cast<double>(to_ns(workload.ops.duration_of(i)));
    for (Total* total : {&times.of[kind_of(workload, shared)], &times.all}) {
      total->ns += ns * each;
      total->count += each;
    }
  }
  return times;
}

/// Times with fewer SMs over those with all of them.
class Slowdown {
 public:
  Slowdown(const KernelTimes& all_sms, const KernelTimes& fewer) {
    Total left = all_sms.all, left_fewer = fewer.all;
    for (const auto& [kind, total] : all_sms.of) {
      const auto again = fewer.of.find(kind);
      if (again == fewer.of.end() || total.ns <= 0) continue;
      of_[kind] = again->second.mean() / total.mean();
      left.ns -= total.ns;
      left_fewer.ns -= again->second.ns;
    }
    constexpr double kNothing = 1e-6;
    if (left.ns > kNothing * all_sms.all.ns) others_ = std::max(1.0, left_fewer.ns / left.ns);
  }

  double of(const KernelKind& kind) const {
    const auto found = of_.find(kind);
    return found == of_.end() ? others_ : found->second;
  }

 private:
  std::map<KernelKind, double> of_;
  double others_ = 1;
};

void check_differ(const std::vector<WithFewerSms>& captures) {
  const auto alike = std::ranges::adjacent_find(captures, {}, &WithFewerSms::fraction);
  if (alike == captures.end()) return;
  throw Error(ErrorKind::kInput, SourceLocation{},
              fmt::format("two captures have {:.0f} % of the SMs", 100 * alike->fraction), "one of each percentage");
}

void check_same_step(const KernelTimes& all_sms, const KernelTimes& fewer) {
  constexpr double kMostDifferent = 1.8;
  const double more = fewer.all.count / all_sms.all.count;
  if (more <= kMostDifferent && more >= 1 / kMostDifferent) return;
  throw Error(
      ErrorKind::kInput, SourceLocation{},
      fmt::format("its jobs have {:.0f} kernels each, those with all SMs {:.0f}", fewer.all.count, all_sms.all.count),
      "captures of one program that are cut into the same steps; `iterations` or `step` holds for all of them");
}

}  // namespace

void add_sm_curves(Workload& workload, std::vector<WithFewerSms> captures) {
  std::ranges::sort(captures, std::greater{}, &WithFewerSms::fraction);
  check_differ(captures);
  const KernelTimes all_sms = kernel_times(workload);
  std::vector<Slowdown> slowdowns;
  for (const WithFewerSms& capture : captures) {
    const KernelTimes fewer = kernel_times(*capture.workload);
    check_same_step(all_sms, fewer);
    slowdowns.emplace_back(all_sms, fewer);
  }
  std::map<KernelKind, std::uint32_t> numbers;
  workload.ops.predict([&](WorkOp& op) {
    if (op.kind != OpKind::kKernel) return;
    const KernelKind kind = kind_of(workload, op);
    const auto [number, is_new] = numbers.try_emplace(kind, static_cast<std::uint32_t>(numbers.size() + 1));
    op.sm_curve = number->second;
    if (!is_new) return;
    std::vector<SmCurve::Point> points;
    for (std::size_t i = 0; i < captures.size(); ++i) points.push_back({captures[i].fraction, slowdowns[i].of(kind)});
    workload.sm_curves.emplace_back(std::move(points));
  });
}

}  // namespace corun
