#include "experiments/validate/scoring/cells.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "experiments/base/hash.h"

namespace corun::validation {

namespace {

constexpr std::string_view kSoloPrefix = "alone: ";
constexpr std::string_view kCanary = "canary: fixed work";
constexpr Duration kTinyKernel{20'000};
constexpr double kDeviceBound = 0.9;

}  // namespace

bool is_solo(const Scenario& scenario) { return scenario.name.starts_with(kSoloPrefix); }
bool is_canary(const Scenario& scenario) { return scenario.name == kCanary; }

namespace {

/// Equal for clients that do the same, whatever their names.
std::string work_of(const ClientChoice& client, const FileHashes& hashes) {
  ClientChoice nameless = client;
  nameless.name = "client";
  nameless.arrival = Duration{0};
  nameless.requested_share = 0.0;
  nameless.requested_bytes = 0;
  nameless.resizes.clear();
  nameless.priority = 0;
  nameless.role.reset();
  return canonical_client(nameless, hashes);
}

PolicyChoice passthrough(const SourceLocation& where) {
  return {"passthrough", "passthrough", Parameters{}, where, ""};
}

Scenario alone(const Scenario& scenario, const ClientChoice& client, const std::string& name) {
  Scenario solo = scenario;
  solo.name = name;
  solo.device.sharing = Sharing::kTimeSliced;
  solo.clients = {client};
  solo.clients.front().arrival = Duration{0};
  solo.policies = {passthrough(client.where)};
  solo.is_seen = false;
  return solo;
}

/// Kernels of 5 ms, each waited for, during half a second.
Scenario canary_beside(const Scenario& scenario) {
  ClientChoice client;
  client.name = "canary";
  KernelsProfile kernels;
  kernels.duration = Duration{5'000'000};
  kernels.blocks = scenario.device.sm_count;
  client.synthetic = SyntheticWork{"", kernels};
  client.pacing = Pacing{Pacing::Mode::kSyncEachJob};
  client.random_phase = false;
  Scenario canary = alone(scenario, client, std::string(kCanary));
  canary.horizon = Duration{550'000'000};
  canary.warmup = Duration{50'000'000};
  return canary;
}

void forget_expectations(Scenario& scenario) {
  scenario.expectations.clear();
  scenario.qos.clear();
}

/// Under the name of its client, with a number where another one has it.
std::string free_name(const Experiment& experiment, const std::string& client) {
  std::string name = fmt::format("{}{}", kSoloPrefix, client);
  for (int number = 2; std::ranges::find(experiment.scenarios, name, &Scenario::name) != experiment.scenarios.end();
       ++number)
    name = fmt::format("{}{} ({})", kSoloPrefix, client, number);
  return name;
}

/// Drops all scenarios but those named and those of their clients alone.
void keep(Experiment& experiment, std::span<const std::string> names, const FileHashes& hashes) {
  const auto is_named = [&](const Scenario& scenario) {
    return std::ranges::find(names, scenario.name) != names.end();
  };
  std::set<std::string> works;
  for (const Scenario& scenario : experiment.scenarios | std::views::filter(is_named))
    for (const ClientChoice& client : scenario.clients) works.insert(work_of(client, hashes));
  std::erase_if(experiment.scenarios, [&](const Scenario& scenario) {
    return !is_named(scenario) && !(is_solo(scenario) && works.contains(work_of(scenario.clients.front(), hashes)));
  });
}

RunSpec make_run(const Experiment& experiment, const Cell& cell, std::uint64_t seed, const FileHashes& hashes) {
  const Scenario& scenario = experiment.scenarios[cell.scenario];
  return {cell.scenario, cell.policy, seed,
          content_hash(canonical_run(scenario, scenario.policies[cell.policy], seed, hashes))};
}

std::uint64_t seed_of(const Scenario& scenario, std::size_t repetition) {
  const std::size_t count = scenario.seeds.size();
  return repetition < count ? scenario.seeds[repetition] : std::ranges::max(scenario.seeds) + repetition - count + 1;
}

bool has_tiny_kernels(const Workload& workload) {
  std::vector<Duration> kernels;
  for (const WorkOp& op : workload.ops)
    if (op.kind == OpKind::kKernel) kernels.push_back(op.duration);
  if (kernels.empty()) return false;
  const auto median = kernels.begin() + static_cast<std::ptrdiff_t>(kernels.size() / 2);
  std::ranges::nth_element(kernels, median);
  return *median < kTinyKernel;
}

Tier tier_of(const Cell& cell, Sharing sharing) {
  const auto frames = std::ranges::count(cell.clients, true, &CellClient::shows_frames);
  const bool is_mixed = frames > 0 && frames < std::ssize(cell.clients);
  if (cell.clients.size() == 1) return Tier::kSolo;
  if (is_mixed) return Tier::kGame;
  return sharing == Sharing::kConcurrent ? Tier::kConcurrent : Tier::kTimeSliced;
}

}  // namespace

Experiment with_solos(const Experiment& experiment, const RunLengths& lengths, const FileHashes& hashes,
                      std::span<const std::string> only) {
  Experiment out = experiment;
  out.record = {.frames = false, .requests = false, .operations = false, .decisions = 0, .baselines = false};
  for (Scenario& scenario : out.scenarios) {
    if (scenario.cluster)
      throw Error(ErrorKind::kUnsupported, scenario.where,
                  fmt::format("scenario `{}` is a cluster: only a single device is validated", scenario.name));
    if (is_solo(scenario) || is_canary(scenario))
      throw_input(scenario.where, "scenario `{}`: a validation gives that name itself", scenario.name);
    const Duration stated = scenario.warmup_or_default();
    scenario.warmup = lengths.keeps_warmup ? stated : std::min(stated, lengths.window / 4);
    scenario.horizon = std::min(scenario.horizon, *scenario.warmup + lengths.window);
    forget_expectations(scenario);
  }
  std::set<std::string> known;
  for (std::size_t s = 0; s < experiment.scenarios.size(); ++s) {
    const Scenario scenario = out.scenarios[s];
    for (const ClientChoice& client : scenario.clients)
      if (known.insert(work_of(client, hashes)).second)
        out.scenarios.push_back(alone(scenario, client, free_name(out, client.name)));
  }
  if (!only.empty()) keep(out, only, hashes);
  out.scenarios.push_back(canary_beside(out.scenarios.front()));
  return out;
}

std::vector<Cell> make_cells(const Experiment& experiment, const FileHashes& hashes, RunInputs& run_inputs,
                             const PolicyRegistry& policies) {
  std::map<std::string, std::pair<CellKey, std::string>> solos;  // by work: the cell, and the client's name there
  for (const Scenario& scenario : experiment.scenarios)
    if (is_solo(scenario))
      solos[work_of(scenario.clients.front(), hashes)] = {{scenario.name, "passthrough"},
                                                          scenario.clients.front().name};
  std::vector<Cell> cells;
  for (std::size_t s = 0; s < experiment.scenarios.size(); ++s) {
    const Scenario& scenario = experiment.scenarios[s];
    if (is_canary(scenario)) continue;
    const std::vector<ClientSpec> specs = run_inputs.clients(scenario, scenario.seeds.front());
    for (std::size_t p = 0; p < scenario.policies.size(); ++p) {
      const PolicyChoice& policy = scenario.policies[p];
      Cell cell{s,
                p,
                {scenario.name, policy.label},
                Tier::kSolo,
                scenario.is_seen,
                scenario.horizon - scenario.warmup_or_default(),
                {}};
      for (std::size_t i = 0; i < scenario.clients.size(); ++i) {
        const auto& [solo, name] = solos.at(work_of(scenario.clients[i], hashes));
        cell.clients.push_back({specs[i].name, solo, name, specs[i].workload->job_kind == JobKind::kFrame,
                                has_tiny_kernels(*specs[i].workload)});
      }
      const bool is_shared = policies.find(policy.policy)->needs.shared_context;
      cell.tier = tier_of(cell, is_shared ? Sharing::kConcurrent : scenario.device.sharing);
      cells.push_back(std::move(cell));
    }
  }
  std::ranges::stable_partition(cells, [](const Cell& cell) { return cell.tier == Tier::kSolo; });
  return cells;
}

void find_bounds(std::vector<Cell>& cells, const Figures& predicted) {
  for (Cell& cell : cells)
    for (CellClient& client : cell.clients) {
      const auto busy = predicted.get(client.solo, client.solo_name, "gpu_busy_ratio");
      const bool is_bound_by_device = !busy || busy->mean >= kDeviceBound;
      if (is_bound_by_device) continue;
      client.bound = client.has_tiny_kernels ? Bound::kTinyKernels : Bound::kHost;
    }
}

std::vector<RunSpec> prediction_runs(const Experiment& experiment, const std::vector<Cell>& cells,
                                     const FileHashes& hashes, std::size_t most) {
  std::vector<RunSpec> runs;
  for (const Cell& cell : cells)
    for (const std::uint64_t seed : experiment.scenarios[cell.scenario].seeds | std::views::take(most))
      runs.push_back(make_run(experiment, cell, seed, hashes));
  return runs;
}

std::vector<RunSpec> measurement_runs(const Experiment& experiment, const std::vector<Cell>& cells,
                                      const FileHashes& hashes, unsigned repetitions, bool has_canary) {
  constexpr unsigned kEnoughForAMiddle = 4;
  std::vector<RunSpec> runs;
  const auto canary = std::ranges::find_if(experiment.scenarios, is_canary) - experiment.scenarios.begin();
  std::uint64_t canaries = 0;
  const auto add = [&](const Cell& cell, std::size_t repetition) {
    if (has_canary) runs.push_back(make_run(experiment, {static_cast<std::size_t>(canary), 0, {}}, ++canaries, hashes));
    runs.push_back(make_run(experiment, cell, seed_of(experiment.scenarios[cell.scenario], repetition), hashes));
  };
  std::size_t solo_rounds = 0;
  const auto add_round = [&](bool of_solos, std::size_t repetition) {
    for (const Cell& cell : cells)
      if ((cell.tier == Tier::kSolo) == of_solos) add(cell, repetition);
  };
  add_round(true, solo_rounds++);
  for (unsigned r = 0; r < repetitions; ++r) {
    add_round(false, r);
    const bool is_middle = repetitions >= kEnoughForAMiddle && r + 1 == repetitions / 2;
    if (is_middle) add_round(true, solo_rounds++);
  }
  add_round(true, solo_rounds++);
  return runs;
}

}  // namespace corun::validation
