#include "experiments/run/runner.h"

#include <chrono>
#include <condition_variable>
#include <new>
#include <thread>

#include "experiments/run/policy_warnings.h"
#include "experiments/run/reproduction.h"
#include "sim/engine/engine.h"

namespace corun {

namespace {

/// Keeps the facts that the experiment asks for and passes all of them on to the collector.
class FactKeeper : public Recorder {
 public:
  FactKeeper(const RecordChoice& choice, Collector& collector, WatchedRun& watched, RunOutcome& outcome)
      : choice_(choice), collector_(collector), watched_(watched), outcome_(outcome) {}

  void on_op(const OpFact& op) override {
    collector_.on_op(op);
    watched_.reached(op.end);
    if (!choice_.operations) return;
    outcome_.operations.push_back({op, std::string(op.name)});
    outcome_.operations.back().fact.name = {};
  }
  void on_job(const JobFact& job) override { collector_.on_job(job); }
  void on_frame(const FrameFact& frame) override {
    collector_.on_frame(frame);
    if (choice_.frames) outcome_.frames.push_back(frame);
  }
  void on_request(const RequestFact& request) override {
    collector_.on_request(request);
    if (choice_.requests) outcome_.requests.push_back(request);
  }
  void on_server_step(const ServerStepFact& fact) override { collector_.on_server_step(fact); }
  void on_decision(const DecisionFact& decision) override {
    watched_.decided(decision);
    if (outcome_.decisions.size() < choice_.decisions) outcome_.decisions.push_back(decision);
  }
  void on_hold(const HoldFact& hold) override {
    if (outcome_.holds.size() < choice_.decisions) {
      outcome_.holds.push_back(hold);
    } else {
      outcome_.holds_until = std::min(outcome_.holds_until, hold.begin);
    }
  }
  void on_refusal(const RefusalFact& refusal) override {
    collector_.on_refusal(refusal);
    outcome_.refusals.push_back(refusal);
  }
  void on_kill(const KillFact& kill) override {
    collector_.on_kill(kill);
    outcome_.kills.push_back(kill);
  }

 private:
  const RecordChoice& choice_;
  Collector& collector_;
  WatchedRun& watched_;
  RunOutcome& outcome_;
};

std::string one_context_note(const std::string& policy) {
  return fmt::format("policy `{}` works inside one context: the device's sharing is concurrent (MPS-like)", policy);
}

void execute_cluster(const Scenario& scenario, const RunSpec& spec, RunInputs& run_inputs,
                     const PolicyDescriptor& descriptor, RunOutcome& outcome) {
  const PolicyChoice& choice = scenario.policies[spec.policy];
  const ClusterLists& lists = run_inputs.cluster(scenario);
  const std::unique_ptr<PlacementPolicy> policy = descriptor.create_placement(choice.parameters);
  ClusterInput input{lists.nodes,
                     lists.pods,
                     policy.get(),
                     choice.label,
                     scenario.horizon,
                     scenario.cluster->times,
                     run_inputs.sharing(scenario, spec.seed),
                     run_inputs.interrupt()};
  for (PodSpec& pod : input.pods)
    if (!pod.client.empty()) pod.alone = run_inputs.alone(scenario, input.sharing, pod);
  std::vector<std::string> notes = run_inputs.notes(scenario);
  const bool is_changed = !input.sharing.clients.empty() && input.sharing.device.sharing != scenario.device.sharing;
  if (is_changed) notes.push_back(one_context_note(input.sharing.policy_name));
  outcome.notes = fmt::format("{}", fmt::join(notes, "\n"));
  ClusterResult result = simulate_cluster(input);
  outcome.events = result.events;
  outcome.metrics = cluster_metrics(result);
  if (result.mix_use) notes = mix_warnings(choice, input.sharing, *result.mix_use);
  if (result.mix_use) outcome.notes += fmt::format("{}{}", outcome.notes.empty() ? "" : "\n", fmt::join(notes, "\n"));
  outcome.pods = std::move(result.pods);
}

void execute(const Experiment& experiment, const RunSpec& spec, RunInputs& run_inputs, const PolicyRegistry& policies,
             const ExecutionBackend& backend, RunOutcome& outcome) {
  WatchedRun watched(experiment, spec);
  const Scenario& scenario = experiment.scenarios[spec.scenario];
  const PolicyChoice& choice = scenario.policies[spec.policy];
  const PolicyDescriptor& descriptor = *policies.find(choice.policy);
  if (scenario.cluster) return execute_cluster(scenario, spec, run_inputs, descriptor, outcome);
  std::vector<std::string> notes = run_inputs.notes(scenario);
  std::vector<SoloBaseline> solo;
  if (experiment.record.baselines) solo = run_inputs.solo(scenario, spec.seed);
  const std::unique_ptr<Policy> policy = descriptor.create(choice.parameters);
  RunInput input{.device = scenario.device,
                 .clients = run_inputs.clients(scenario, spec.seed),
                 .policy = policy.get(),
                 .policy_name = choice.label,
                 .horizon = scenario.horizon,
                 .warmup = scenario.warmup_or_default(),
                 .seed = spec.seed,
                 .tells_exact_durations = descriptor.needs.oracle,
                 .gate = scenario.gate,
                 .adjustments = choice.adjustments,
                 .adjustable = AdjustableParameters(descriptor, choice.parameters),
                 .interrupt = run_inputs.interrupt()};
  for (std::size_t i = scenario.clients.size(); i < input.clients.size(); ++i)
    outcome.readers.push_back(input.clients[i].name);
  if (descriptor.needs.shared_context && input.device.sharing != Sharing::kConcurrent) {
    input.device.sharing = Sharing::kConcurrent;
    notes.push_back(one_context_note(choice.label));
  }
  for (std::string& warning : policy_warnings(scenario, choice, input.clients)) notes.push_back(std::move(warning));
  Collector collector(input);
  FactKeeper keeper(experiment.record, collector, watched, outcome);
  outcome.notes = fmt::format("{}", fmt::join(notes, "\n"));
  const RunResult result = backend.run(input, keeper, notes);
  outcome.notes = fmt::format("{}", fmt::join(notes, "\n"));
  outcome.events = result.events;
  outcome.metrics = collector.metrics(result, solo);
}

/// Passes outcomes from the workers, which finish them in any order, to the caller, which takes them in order.
class Exchange {
 public:
  explicit Exchange(std::size_t runs, std::size_t window) : slots_(runs), window_(window) {}

  /// The next run to do; nullopt when there is none. Waits while too many finished runs wait to be taken.
  std::optional<std::size_t> next(const std::atomic<bool>* stop) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_closed_ || next_ >= slots_.size() || next_ < taken_ + window_; });
    const bool is_over = is_closed_ || next_ >= slots_.size() || (stop != nullptr && stop->load());
    if (is_over) return std::nullopt;
    return next_++;
  }

  void put(std::size_t index, RunOutcome outcome, const std::function<void(const RunOutcome&)>& on_finished) {
    const std::lock_guard lock(mutex_);
    if (on_finished) on_finished(outcome);
    slots_[index] = std::move(outcome);
    changed_.notify_all();
  }

  void leave() {
    const std::lock_guard lock(mutex_);
    --workers_;
    changed_.notify_all();
  }

  /// The outcome of run `index`; nullopt when no worker is left to do it.
  std::optional<RunOutcome> take(std::size_t index) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return slots_[index].has_value() || workers_ == 0; });
    taken_ = index + 1;
    changed_.notify_all();
    return std::exchange(slots_[index], std::nullopt);
  }

  void set_workers(unsigned workers) { workers_ = workers; }
  void close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<RunOutcome>> slots_;
  std::size_t next_ = 0, taken_ = 0;
  const std::size_t window_;
  unsigned workers_ = 0;
  bool is_closed_ = false;
};

/// While it lives, `stop` ends the simulations of `inputs`.
class StoppedBy {
 public:
  StoppedBy(const std::atomic<bool>* stop, RunInputs& inputs) : inputs_(inputs) { inputs.interrupt_by(stop); }
  ~StoppedBy() { inputs_.interrupt_by(nullptr); }
  StoppedBy(const StoppedBy&) = delete;
  StoppedBy& operator=(const StoppedBy&) = delete;

 private:
  RunInputs& inputs_;
};

}  // namespace

RunOutcome run_one(const Experiment& experiment, const RunSpec& spec, RunInputs& run_inputs,
                   const PolicyRegistry& policies) {
  return run_one(experiment, spec, run_inputs, policies, run_inputs.backend());
}

RunOutcome run_one(const Experiment& experiment, const RunSpec& spec, RunInputs& run_inputs,
                   const PolicyRegistry& policies, const ExecutionBackend& backend) {
  RunOutcome outcome;
  const auto begin = std::chrono::steady_clock::now();
  const std::string& policy = experiment.scenarios[spec.scenario].policies[spec.policy].label;
  try {
    execute(experiment, spec, run_inputs, policies, backend, outcome);
  } catch (const Interrupted&) {
    outcome.is_interrupted = true;
  } catch (const Error& error) {
    outcome.error = error;
  } catch (const std::bad_alloc&) {
    outcome.error = Error(ErrorKind::kDevice, kOutOfMemory);
  } catch (const std::exception& error) {
    outcome.error = Error(ErrorKind::kPolicy, fmt::format("policy '{}' threw: {}", policy, error.what()));
  } catch (...) {
    outcome.error = Error(ErrorKind::kPolicy, fmt::format("policy '{}' threw something that is no exception", policy));
  }
  outcome.wall_time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return outcome;
}

std::size_t run_plan(const Experiment& experiment, const Plan& plan, RunInputs& run_inputs,
                     const PolicyRegistry& policies, const RunnerOptions& options,
                     const std::function<void(const RunSpec&, const RunOutcome&)>& deliver) {
  const StoppedBy stopping(options.stop, run_inputs);
  const unsigned jobs = std::max(1U, options.jobs);
  Exchange exchange(plan.runs.size(), std::size_t{8} * jobs);
  exchange.set_workers(jobs);
  const ExecutionBackend& backend = options.backend ? *options.backend : run_inputs.backend();
  const auto work = [&] {
    while (const auto index = exchange.next(options.stop)) {
      const RunSpec& spec = plan.runs[*index];
      if (options.on_started) options.on_started(spec);
      RunOutcome outcome = run_one(experiment, spec, run_inputs, policies, backend);
      if (outcome.is_interrupted) break;
      exchange.put(*index, std::move(outcome), [&](const RunOutcome& finished) {
        if (options.on_finished) options.on_finished(spec, finished);
      });
    }
    exchange.leave();
  };
  struct CloseAtExit {
    Exchange& exchange;
    ~CloseAtExit() { exchange.close(); }
  };
  std::vector<std::jthread> workers;
  const CloseAtExit closer{exchange};  // destroyed before the threads are joined
  for (unsigned i = 0; i < jobs; ++i) workers.emplace_back(work);
  std::size_t delivered = 0;
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    const auto outcome = exchange.take(i);
    if (!outcome) continue;
    deliver(plan.runs[i], *outcome);
    ++delivered;
  }
  return delivered;
}

}  // namespace corun
