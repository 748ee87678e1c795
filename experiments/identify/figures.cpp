#include "experiments/identify/figures.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <thread>

#include "experiments/base/processors.h"
#include "policies/builtin.h"
#include "sim/metrics/collector.h"

namespace corun::identification {

namespace {

/// `values` must not be empty.
double quantile_ms(std::vector<Duration> values, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::ranges::nth_element(values, at);
  return to_milliseconds(*at);
}

/// Lengths of what ended after the warm-up, by client; rates are the collector's.
class Spans : public Recorder {
 public:
  explicit Spans(const RunInput& input)
      : warm_(kRunStart + input.warmup),
        collector_(input),
        ops_(input.clients.size()),
        waits_(input.clients.size()),
        frames_(input.clients.size()) {}

  void on_op(const OpFact& op) override {
    collector_.on_op(op);
    if (op.end < warm_ || op.name == kTrailingVisitName) return;
    ops_[op.client.value].push_back(op.end - op.begin);
    waits_[op.client.value].push_back(op.begin - op.submitted);
  }
  void on_job(const JobFact& job) override { collector_.on_job(job); }
  void on_frame(const FrameFact& frame) override {
    if (frame.gpu_end >= warm_) frames_[frame.client.value].push_back(frame.gpu_end - frame.submit);
  }

  Observation observation(const RunInput& input, const RunResult& result) const {
    const double window = to_milliseconds(input.horizon - input.warmup);
    Observation figures;
    for (std::uint32_t i = 0; i < input.clients.size(); ++i) {
      const auto add = [&](const char* name, double ms) { figures.push_back({input.clients[i].name, name, ms, 0, 1}); };
      const auto add_spans = [&](const char* p50, const char* p99, const std::vector<Duration>& spans) {
        add(p50, spans.empty() ? window : quantile_ms(spans, 0.5));
        add(p99, spans.empty() ? window : quantile_ms(spans, 0.99));
      };
      const double rate = collector_.baseline(result, i).throughput_per_s;
      add("job_interval_ms", rate > 0 ? std::min(window, 1e3 / rate) : window);
      add_spans("op_span_p50_ms", "op_span_p99_ms", ops_[i]);
      if (input.clients[i].pacing.mode == Pacing::Mode::kSyncEachJob)
        add_spans("op_wait_p50_ms", "op_wait_p99_ms", waits_[i]);
      if (input.clients[i].workload->job_kind == JobKind::kFrame)
        add_spans("render_time_p50_ms", "render_time_p99_ms", frames_[i]);
    }
    return figures;
  }

 private:
  Time warm_;
  Collector collector_;
  std::vector<std::vector<Duration>> ops_, waits_, frames_;
};

/// Turns are taken by contexts in time slices, or by graphics and kernels.
bool has_turns(const Rule& rule, const Trial& trial) {
  return rule.sharing == Sharing::kTimeSliced || trial.has_frames;
}

bool is_of_turns(const Unknown* unknown) {
  return unknown == &time_slice_unknown() || unknown == &switch_cost_unknown();
}

/// Equal for hypotheses that say the same of a trial: without frames there is nothing that graphics could do.
std::string key_of(const Hypothesis& hypothesis, Rule rule, const Trial& trial) {
  if (!trial.has_frames) rule.tells_graphics = rule.has_trailing_visits = false;
  std::string key = fmt::format("{} {}", trial.name, rule.name());
  for (std::size_t i = 0; i < hypothesis.steps.size(); ++i)
    if (has_turns(rule, trial) || !is_of_turns(rule.unknowns[i])) key += fmt::format(" {}", hypothesis.steps[i]);
  return key;
}

}  // namespace

Observation observe(const ExecutionBackend& backend, const DeviceSpec& device, const Trial& trial,
                    const std::vector<ClientSpec>& clients, std::uint64_t seed) {
  const PolicyDescriptor passthrough = passthrough_policy();
  const std::unique_ptr<Policy> policy = passthrough.create(passthrough.defaults());
  RunInput input{.device = device,
                 .clients = clients,
                 .policy = policy.get(),
                 .policy_name = passthrough.name,
                 .horizon = trial.length,
                 .warmup = trial.warmup(),
                 .seed = seed};
  Duration after{};  // contexts are created in the order of the trial, on a GPU as here
  for (ClientSpec& client : input.clients) client.arrival += after++;
  Spans spans(input);
  std::vector<std::string> notes;
  const RunResult result = backend.run(input, spans, notes);
  return spans.observation(input, result);
}

Observe observer(ExecutionBackend backend, DeviceSpec device) {
  return [backend = std::move(backend), device = std::move(device)](const Trial& trial, std::uint64_t seed) {
    return observe(backend, device, trial, trial.clients, seed);
  };
}

Figures pooled(const std::vector<Observation>& repetitions) {
  Figures figures = repetitions.front();
  for (std::size_t i = 0; i < figures.size(); ++i) {
    Figure& figure = figures[i];
    double sum = 0;
    for (const Observation& repetition : repetitions) sum += repetition[i].mean;
    figure.count = static_cast<std::uint32_t>(repetitions.size());
    figure.mean = sum / figure.count;
    figure.squares = 0;
    for (const Observation& repetition : repetitions) figure.squares += std::pow(repetition[i].mean - figure.mean, 2);
  }
  return figures;
}

Predictions::Predictions(std::vector<Rule> rules, DeviceSpec base, std::uint32_t seeds)
    : rules_(std::move(rules)), base_(std::move(base)), seeds_(seeds) {}

const Figures& Predictions::of(const Hypothesis& hypothesis, const Trial& trial) {
  const Rule& rule = rules_[hypothesis.rule];
  return figures_.get(key_of(hypothesis, rule, trial), [&] {
    const std::vector<ClientSpec> clients =
        rule.has_trailing_visits ? with_trailing_visits(trial.clients) : trial.clients;
    const DeviceSpec device = device_of(hypothesis, rules_, base_);
    std::vector<Observation> repetitions;
    for (std::uint32_t i = 0; i < seeds_; ++i)
      repetitions.push_back(observe(simulation_backend(), device, trial, clients, trial.first_seed + i));
    return pooled(repetitions);
  });
}

void Predictions::prepare(const std::vector<Hypothesis>& hypotheses, const std::vector<const Trial*>& trials) {
  const std::size_t count = hypotheses.size() * trials.size();
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) try {
        of(hypotheses[i / trials.size()], *trials[i % trials.size()]);
      } catch (...) {  // of() keeps it, and throws it again when the figures are used
      }
  };
  const std::size_t processors = usable_processors();
  std::vector<std::jthread> workers;
  for (std::size_t i = 1; i < std::min(processors, count); ++i) workers.emplace_back(work);
  work();
}

}  // namespace corun::identification
