#include "sim/workload/sm_curves.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>
#include <tuple>

#include "sim/device/occupancy.h"
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

void give_curves(Workload& workload,
                 const std::function<std::vector<SmCurve::Point>(const KernelKind&, const WorkOp&)>& points_of) {
  workload.sm_curves.clear();
  std::map<KernelKind, std::uint32_t> numbers;
  workload.ops.predict([&](WorkOp& op) {
    if (op.kind != OpKind::kKernel) return;
    const KernelKind kind = kind_of(workload, op);
    const auto [number, is_new] = numbers.try_emplace(kind, static_cast<std::uint32_t>(numbers.size() + 1));
    op.sm_curve = number->second;
    if (is_new) workload.sm_curves.emplace_back(points_of(kind, op));
  });
}

/// On `fraction` of the SMs over that on all of them.
double time_by_waves(const DeviceSpec& device, const WorkOp& op, Work work, double fraction) {
  return static_cast<double>(kFullRate) / static_cast<double>(speed_on(device, op.kind, op.shape, work, fraction));
}

double time_when_bound(const SmBinding& binding, double by_waves) {
  if (binding.degree <= 1) return 1 + binding.degree * (by_waves - 1);
  return by_waves + (binding.degree - 1) * (std::max(by_waves, 1 / binding.fraction) - by_waves);
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
  give_curves(workload, [&](const KernelKind& kind, const WorkOp&) {
    std::vector<SmCurve::Point> points;
    for (std::size_t i = 0; i < captures.size(); ++i) points.push_back({captures[i].fraction, slowdowns[i].of(kind)});
    return points;
  });
}

void add_sm_curves(Workload& workload, const DeviceSpec& device, std::vector<SmBinding> bindings) {
  std::ranges::sort(bindings, std::greater{}, &SmBinding::fraction);
  const KernelTimes times = kernel_times(workload);
  give_curves(workload, [&](const KernelKind& kind, const WorkOp& op) {
    const Work mean = work_of(Duration{std::max<std::int64_t>(1, std::llround(times.of.at(kind).mean()))});
    std::vector<SmCurve::Point> points;
    for (const SmBinding& binding : bindings)
      points.push_back({binding.fraction, time_when_bound(binding, time_by_waves(device, op, mean, binding.fraction))});
    return points;
  });
}

}  // namespace corun
