#include <cmath>

#include "sim/serving/step_size.h"
#include "sim/workload/synthetic/steps.h"
#include "sim/workload/synthetic/synthetic.h"
#include "traces/base/error.h"

namespace corun {

namespace {

constexpr std::uint32_t kMostTokens = 1 << 16, kMostSequences = 1 << 9, kMostContext = 1 << 17;

Duration device_time(const EngineProfile& profile, const StepSize& size) {
  const bool is_prefill = size.kind == StepSize::Kind::kPrefill;
  const double ns = is_prefill ? profile.prefill_per_context_token_ns : profile.decode_per_context_token_ns;
  const Duration on_context{std::llround(ns * size.count * size.context)};
  if (is_prefill) return profile.prefill_base + size.count * profile.prefill_per_token + on_context;
  return profile.decode_base + size.count * profile.decode_per_sequence + on_context;
}

void add_step(Workload& workload, const EngineProfile& profile, const StepSize& size) {
  const Duration whole = device_time(profile, size);
  begin_job(workload, kRunStart);
  const auto name = static_cast<std::uint32_t>(workload.names.size());
  workload.names.push_back(to_string(size));
  for (std::uint32_t kernel = 0; kernel < profile.kernels; ++kernel) {
    const Duration begin = whole * kernel / profile.kernels, end = whole * (kernel + 1) / profile.kernels;
    submit(workload, synthetic_op(OpKind::kKernel, name, end - begin),
           kernel == 0 ? profile.host_per_step : Duration{});
  }
  wait_for_last(workload);
  workload.step_sizes.push_back(size);
  workload.recorded_span += whole + profile.host_per_step;
}

}  // namespace

Workload make_engine(const EngineProfile& profile) {
  CORUN_ASSERT(profile.prefill_per_token > Duration{0} && profile.decode_base > Duration{0} && profile.kernels > 0,
               "an engine with {} ns for a token of a prompt, {} ns for a decode and {} kernels",
               to_ns(profile.prefill_per_token), to_ns(profile.decode_base), profile.kernels);
  Workload workload;
  workload.job_kind = JobKind::kRequest;
  for (const std::uint32_t context : {0u, kMostContext}) {
    for (const std::uint32_t tokens : {1u, kMostTokens})
      add_step(workload, profile, {StepSize::Kind::kPrefill, tokens, context});
    for (const std::uint32_t sequences : {1u, kMostSequences})
      add_step(workload, profile, {StepSize::Kind::kDecode, sequences, context});
  }
  predict_from_means(workload);
  workload.notes.push_back("its engine is synthetic: the times of its steps are linear in what they compute");
  return workload;
}

}  // namespace corun
