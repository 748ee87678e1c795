#include "experiments/run/plan.h"

#include <set>

#include "experiments/question/device_choice.h"
#include "experiments/base/hash.h"
#include "experiments/run/results_revision.h"

namespace corun {

namespace {

/// Sorted `key=value` lines.
class Lines {
 public:
  template <class T>
  void add(std::string_view key, const T& value) {
    lines_.insert(fmt::format("{}={}", key, value));
  }
  void add_text(std::string_view prefix, std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      lines_.insert(fmt::format("{}{}", prefix, text.substr(0, end)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
  std::string text() const { return fmt::format("{}\n", fmt::join(lines_, "\n")); }

 private:
  std::set<std::string> lines_;
};

std::string text_of(const GameProfile& game) {
  std::string text = fmt::format("game gpu_ns={} cv={} correlation={} spike={}x{} cpu_ns={} visits={} later_ns={}",
                                 to_ns(game.frame_gpu_mean), game.cv, game.correlation, game.spike_probability,
                                 game.spike_factor, to_ns(game.cpu_per_frame), game.visits, to_ns(game.later_visit));
  if (game.subtasks.most > 0)
    text += fmt::format(" subtasks={}-{} gap_ns={} limit_ns={}", game.subtasks.least, game.subtasks.most,
                        to_ns(game.subtasks.gap_mean), to_ns(game.subtasks.longest_gap_sum));
  for (const GameScene& scene : game.scenes) {
    text += fmt::format(" scene={}/{}/{}", to_ns(scene.frame_gpu_mean), scene.cv, to_ns(scene.dwell));
    const bool has_effect = scene.effect.on_cost != 1.0 || scene.effect.on_loss != 1.0;
    if (has_effect) text += fmt::format("/{}/{}", scene.effect.on_cost, scene.effect.on_loss);
  }
  if (game.scene_order != SceneOrder::kMarkov) text += fmt::format(" order={}", static_cast<int>(game.scene_order));
  return text;
}

std::string text_of(const TrainingProfile& training) {
  std::string text =
      fmt::format("training kernels={} short={}/{}/{} long={}/{} longest={} gap_ns={}", training.kernels_per_iteration,
                  training.short_share, training.short_median_us, training.short_sigma, training.long_median_us,
                  training.long_sigma, training.longest_us, to_ns(training.launch_gap));
  if (training.straggler_probability > 0)
    text += fmt::format(" stragglers={}x{}", training.straggler_probability, training.straggler_factor);
  return text;
}

std::string text_of(const RequestProfile& requests) {
  std::string text = fmt::format("requests arrivals={} rate={} service={} mean_ns={} cv={}",
                                 static_cast<int>(requests.arrivals), requests.rate_per_s,
                                 static_cast<int>(requests.service), to_ns(requests.service_mean), requests.service_cv);
  if (requests.kernels > 1) text += fmt::format(" kernels={}", requests.kernels);
  return text;
}

std::string text_of(const ProgramProfile& program) {
  std::string text = "program";
  for (const ProgramPhase& phase : program.phases)
    text += fmt::format(" {}/{}/{}/{}", to_ns(phase.host), to_ns(phase.gpu), to_ns(phase.kernel), phase.duty);
  return text;
}

std::string text_of(const KernelsProfile& kernels) {
  return fmt::format("kernels duration_ns={} count={} blocks={} threads={} gap_ns={}", to_ns(kernels.duration),
                     kernels.count, kernels.blocks, kernels.threads, to_ns(kernels.launch_gap));
}

void add_synthetic(Lines& lines, const SyntheticWork& work, const FileHashes& hashes) {
  lines.add("synthetic", std::visit([](const auto& numbers) { return text_of(numbers); }, work.numbers));
  for (const SceneTrace& scene : work.scene_traces)
    lines.add(fmt::format("scene_trace.{:04}", scene.scene), fmt::format("{} {}", hashes.at(scene.path), scene.scale));
}

std::string quality_text(const std::vector<QualitySetting>& menu) {
  std::string text;
  for (const QualitySetting& setting : menu) {
    text += fmt::format("{}:{}:{}", setting.name, setting.cost, setting.quality);
    if (setting.switch_cost > Duration{0}) text += fmt::format(":{}", to_ns(setting.switch_cost));
    text += ' ';
  }
  return text;
}

void add_knobs(Lines& lines, const std::vector<QualityKnob>& knobs) {
  std::size_t index = 0;
  for (const QualityKnob& knob : knobs) {
    std::string text = fmt::format("{} switch_ns={}", knob.name, to_ns(knob.switch_cost));
    for (const QualityKnob::Level& level : knob.levels) text += fmt::format(" {}:{}", level.cost, level.loss);
    lines.add(fmt::format("knob.{:04}", index++), text);
  }
}

void add_requests(Lines& lines, const ClientChoice& client) {
  if (client.requested_share > 0) lines.add("share", client.requested_share);
  if (client.requested_bytes > 0) lines.add("requested_bytes", client.requested_bytes);
  std::size_t index = 0;
  for (const Resize& resize : client.resizes)
    lines.add(fmt::format("resize.{:06}", index++),
              fmt::format("{} {} {}", to_ns(resize.at), resize.share, resize.bytes));
}

void add_hash(FileHashes& hashes, const std::string& path, const SourceLocation& where) {
  if (path.empty() || hashes.contains(path)) return;
  try {
    hashes[path] = file_hash(path);
  } catch (const Error& error) {
    throw Error(ErrorKind::kInput, where, fmt::format("{}: {}", path, error.message()),
                "relative paths are relative to the experiment's file");
  }
}

void add_hashes(FileHashes& hashes, const ClientChoice& client) {
  add_hash(hashes, client.trace, client.trace_where);
  if (!client.synthetic) return;
  for (const SceneTrace& scene : client.synthetic->scene_traces) add_hash(hashes, scene.path, scene.where);
}

}  // namespace

std::string_view engine_version() { return CORUN_VERSION; }

namespace {

void add_command(Lines& lines, const LiveCommand& command) {
  if (command.words.empty()) return;
  for (std::size_t i = 0; i < command.words.size(); ++i) lines.add(fmt::format("command.{:04}", i), command.words[i]);
  for (std::size_t i = 0; i < command.environment.size(); ++i)
    lines.add(fmt::format("command.environment.{:04}", i), command.environment[i]);
  lines.add("command.working_folder", command.working_folder);
}

}  // namespace

std::string canonical_client(const ClientChoice& client, const FileHashes& hashes) {
  Lines lines;
  lines.add("name", client.name);
  if (!client.trace.empty()) lines.add("trace", hashes.at(client.trace));
  if (client.synthetic) add_synthetic(lines, *client.synthetic, hashes);
  lines.add("options", fmt::format("{} {} {}", client.options.iterations, client.options.visits_per_frame,
                                   client.options.gpu_busy_ratio));
  if (client.options.allow_co_run) lines.add("allow_co_run", true);
  if (client.options.draw > Duration{0}) lines.add("draw_ns", to_ns(client.options.draw));
  if (client.options.keep_start) lines.add("keep_start", true);
  if (client.host_jitter == 0.0) lines.add("host_jitter", "none");
  lines.add("replay", static_cast<int>(client.replay_or_default()));
  lines.add("repeat", client.repeat);
  lines.add("arrival_ns", to_ns(client.arrival));
  if (client.stay > Duration{0}) lines.add("stay_ns", to_ns(client.stay));
  lines.add("role", client.role ? static_cast<int>(*client.role) : -1);
  lines.add("pacing", client.pacing
                          ? fmt::format("{} {}", static_cast<int>(client.pacing->mode), to_ns(client.pacing->period))
                          : "recorded");
  lines.add("queued_ahead", client.queued_ahead.value_or(Pacing{}.queued_ahead));
  lines.add("solo_rate", client.solo_rate.value_or(0));
  lines.add("random_phase", client.random_phase);
  lines.add("jitter", fmt::format("{} {}", client.host_jitter.value_or(0), client.duration_jitter));
  lines.add("quality", quality_text(client.quality));
  add_knobs(lines, client.knobs);
  lines.add("quality_level", client.quality_level);
  add_requests(lines, client);
  lines.add("context", fmt::format("{} {} {} {}", client.context.sm_cap, client.context.working_set_bytes,
                                   to_ns(client.context.touch_period), static_cast<int>(client.context.access)));
  lines.add("memory", fmt::format("{} {}", client.allocated_bytes, client.snapshot_bytes));
  lines.add("priority", client.priority);
  add_command(lines, client.command);
  return lines.text();
}

namespace {

void add_policy(Lines& lines, const std::string& key, const PolicyChoice& policy, const FileHashes& hashes) {
  lines.add(key, policy.policy);
  if (!policy.plugin.empty()) lines.add(key == "policy" ? "plugin" : key + ".plugin", hashes.at(policy.plugin));
  for (const auto& [name, value] : policy.parameters.values()) lines.add(key + "." + name, format_parameter(value));
}

}  // namespace

std::string canonical_run(const Scenario& scenario, const PolicyChoice& policy, std::uint64_t seed,
                          const FileHashes& hashes) {
  Lines lines;
  lines.add("engine", fmt::format("{} revision {}", engine_version(), kResultsRevision));
  lines.add("backend", scenario.backend);
  lines.add("scenario", scenario.name);
  lines.add("horizon_ns", to_ns(scenario.horizon));
  lines.add("warmup_ns", to_ns(scenario.warmup_or_default()));
  lines.add("seed", seed);
  lines.add("label", policy.label);
  add_policy(lines, "policy", policy, hashes);
  if (scenario.cluster) {
    const ClusterChoice& cluster = *scenario.cluster;
    lines.add_text("cluster.", cluster_text(cluster));
    if (!cluster.nodes_file.empty()) lines.add("cluster.nodes", hashes.at(cluster.nodes_file));
    if (!cluster.pods_file.empty()) lines.add("cluster.pods", hashes.at(cluster.pods_file));
    if (cluster.sharing) add_policy(lines, "cluster.sharing", *cluster.sharing, hashes);
    if (scenario.clients.empty()) return lines.text();
  }
  lines.add_text("device.", device_text(scenario.device));
  if (scenario.gate != GateDelays{})
    lines.add("gate_ns", fmt::format("{} {} {} {}", to_ns(scenario.gate.frame_heard), to_ns(scenario.gate.end_heard),
                                     to_ns(scenario.gate.answer), to_ns(scenario.gate.wake)));
  std::size_t index = 0;
  for (const ClientChoice& client : scenario.clients)
    lines.add_text(fmt::format("client.{:04}.", index++), canonical_client(client, hashes));
  return lines.text();
}

Plan make_plan(const Experiment& experiment) {
  Plan plan;
  for (const Scenario& scenario : experiment.scenarios) {
    for (const ClientChoice& client : scenario.clients) add_hashes(plan.hashes, client);
    for (const PolicyChoice& policy : scenario.policies) add_hash(plan.hashes, policy.plugin, policy.where);
    if (scenario.cluster) add_hash(plan.hashes, scenario.cluster->nodes_file, scenario.cluster->nodes_where);
    if (scenario.cluster) add_hash(plan.hashes, scenario.cluster->pods_file, scenario.cluster->pods_where);
    if (scenario.cluster && scenario.cluster->sharing)
      add_hash(plan.hashes, scenario.cluster->sharing->plugin, scenario.cluster->sharing->where);
  }
  std::map<std::string, std::size_t> index;
  for (std::size_t s = 0; s < experiment.scenarios.size(); ++s) {
    const Scenario& scenario = experiment.scenarios[s];
    for (std::size_t p = 0; p < scenario.policies.size(); ++p)
      for (const std::uint64_t seed : scenario.seeds) {
        std::string id = content_hash(canonical_run(scenario, scenario.policies[p], seed, plan.hashes));
        const auto [run, is_new] = index.try_emplace(id, plan.runs.size());
        if (is_new) plan.runs.push_back({s, p, seed, std::move(id)});
        plan.places.push_back({run->second, scenario.point});
      }
  }
  return plan;
}

}  // namespace corun
