#include "experiments/question/clients/canonical_client.h"

#include "experiments/question/clients/client_fields.h"

namespace corun {

namespace {

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

std::string text_of(const EngineProfile& engine) {
  return fmt::format("engine prefill_ns={}+{}+{} decode_ns={}+{}+{} kernels={} host_ns={}", to_ns(engine.prefill_base),
                     to_ns(engine.prefill_per_token), engine.prefill_per_context_token_ns, to_ns(engine.decode_base),
                     to_ns(engine.decode_per_sequence), engine.decode_per_context_token_ns, engine.kernels,
                     to_ns(engine.host_per_step));
}

std::string menu_text(const ClientChoice& client) {
  std::string text;
  for (std::size_t i = 0; i < client.quality_menu.size(); ++i) {
    const QualityLevel& level = client.quality_menu[i];
    text += fmt::format("{}:{}:{}", level.name, level.cost, level.quality);
    const Duration switch_cost = client.switch_costs.empty() ? Duration{0} : client.switch_costs[i];
    if (switch_cost > Duration{0}) text += fmt::format(":{}", to_ns(switch_cost));
    text += ' ';
  }
  return text;
}

}  // namespace

void write_trace(const ClientChoice& client, CanonicalLines& lines) {
  if (!client.trace.empty()) lines.add("trace", lines.hash_of(client.trace));
}

void write_fewer_sms(const ClientChoice& client, CanonicalLines& lines) {
  for (std::size_t i = 0; i < client.fewer_sms.size(); ++i)
    lines.add(fmt::format("fewer_sms.{:04}", i), lines.hash_of(client.fewer_sms[i].path));
  for (const CappedRate& rate : client.capped_rates)
    lines.add(fmt::format("capped_rate.{:.6f}", rate.fraction), fmt::format("{}", rate.jobs_per_s));
}

void write_synthetic(const ClientChoice& client, CanonicalLines& lines) {
  if (!client.synthetic) return;
  lines.add("synthetic", std::visit([](const auto& numbers) { return text_of(numbers); }, client.synthetic->numbers));
  for (const SceneTrace& scene : client.synthetic->scene_traces)
    lines.add(fmt::format("scene_trace.{:04}", scene.scene),
              fmt::format("{} {}", lines.hash_of(scene.path), scene.scale));
}

void write_command(const ClientChoice& client, CanonicalLines& lines) {
  const LiveCommand& command = client.command;
  if (command.words.empty()) return;
  for (std::size_t i = 0; i < command.words.size(); ++i) lines.add(fmt::format("command.{:04}", i), command.words[i]);
  for (std::size_t i = 0; i < command.environment.size(); ++i)
    lines.add(fmt::format("command.environment.{:04}", i), command.environment[i]);
  lines.add("command.working_folder", command.working_folder);
}

void write_quality(const ClientChoice& client, CanonicalLines& lines) {
  lines.add("quality", menu_text(client));
  std::size_t index = 0;
  for (const QualityKnob& knob : client.knobs) {
    std::string text = fmt::format("{} switch_ns={}", knob.name, to_ns(knob.switch_cost));
    for (const QualityKnob::Level& level : knob.levels) text += fmt::format(" {}:{}", level.cost, level.loss);
    lines.add(fmt::format("knob.{:04}", index++), text);
  }
}

void write_resizes(const ClientChoice& client, CanonicalLines& lines) {
  std::size_t index = 0;
  for (const Resize& resize : client.resizes)
    lines.add(fmt::format("resize.{:06}", index++),
              fmt::format("{} {} {}", to_ns(resize.at), resize.share, resize.bytes));
}

void write_pacing(const ClientChoice& client, CanonicalLines& lines) {
  lines.add("pacing", client.pacing
                          ? fmt::format("{} {}", static_cast<int>(client.pacing->mode), to_ns(client.pacing->period))
                          : "recorded");
}

/// A client without jitter differs from one that has its capture's.
void write_host_jitter(const ClientChoice& client, CanonicalLines& lines) {
  if (client.host_jitter == 0.0) lines.add("host_jitter", "none");
  lines.append("jitter", client.host_jitter.value_or(0));
}

std::vector<NamedFile> files_of(const ClientChoice& client) {
  std::vector<NamedFile> files;
  const auto add = [&](const std::string& label, const CapturedFile& file) {
    if (!file.path.empty()) files.push_back({client.name + label, file});
  };
  add("", {client.trace, client.trace_where});
  for (std::size_t i = 0; i < client.fewer_sms.size(); ++i)
    add(fmt::format("/fewer_sms{}", i + 1), client.fewer_sms[i]);
  if (client.server) {
    add("/requests", client.server->requests);
    add("/step_times", client.server->step_times);
  }
  if (client.synthetic)
    for (const SceneTrace& scene : client.synthetic->scene_traces)
      add(fmt::format("/scene{}", scene.scene + 1), {scene.path, scene.where});
  return files;
}

std::string canonical_client(const ClientChoice& client, const FileHashes& hashes) {
  CanonicalLines lines(hashes);
  for (const ClientField& field : client_fields())
    if (field.write) field.write(client, lines);
  return lines.text();
}

}  // namespace corun
