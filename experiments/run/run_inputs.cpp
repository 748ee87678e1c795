#include "experiments/run/run_inputs.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>

#include "experiments/question/cluster_lists.h"
#include "experiments/question/device_choice.h"
#include "experiments/question/device_file.h"
#include "sim/cluster/shared_cards.h"
#include "traces/reader.h"

namespace corun {

namespace {

constexpr Duration kUsualPeriod{16'666'667};
constexpr std::uint32_t kMostDrawn = 200'000;
constexpr double kLatestArrivalNs = 4e18;  // a year that no run reaches, and no overflow

/// Of the frames of a game; 0 = they follow one another.
Duration frame_period(const ClientChoice& choice) { return choice.pacing ? choice.pacing->period : kUsualPeriod; }

/// Enough of them that a run does not repeat itself, within reason.
std::uint32_t enough(double count) {
  return static_cast<std::uint32_t>(std::clamp(std::ceil(count) + 2, 1.0, static_cast<double>(kMostDrawn)));
}

Duration mean_frame(const GameScene& scene) {
  if (scene.frames.empty()) return scene.frame_gpu_mean;
  const Duration sum = std::accumulate(scene.frames.begin(), scene.frames.end(), Duration::zero());
  return std::max(sum / static_cast<std::int64_t>(scene.frames.size()), Duration{1});
}

/// Frames of a game for the whole horizon. An uncapped game with scenes may be quicker than any mean tells.
Workload draw_game(const GameProfile& game, const ClientChoice& choice, Duration horizon, RandomStream& random) {
  const Duration period = frame_period(choice);
  Duration shortest = game.frame_gpu_mean;
  for (const GameScene& scene : game.scenes)
    shortest = shortest > Duration::zero() ? std::min(shortest, mean_frame(scene)) : mean_frame(scene);
  const Duration frame = period > Duration::zero() ? period : std::min(shortest, kUsualPeriod);
  return make_game(game, period, enough(to_seconds(horizon) / to_seconds(frame)), random);
}

/// One iteration that repeats itself; with stragglers, as many as can finish within the horizon.
Workload draw_training(const TrainingProfile& training, Duration horizon, RandomStream& random) {
  if (training.straggler_probability == 0) return make_training(training, 1, random);
  constexpr double kShortestKernelMs = 0.01;  // below the mean of every profile
  const double iteration_s = training.kernels_per_iteration * kShortestKernelMs * 1e-3;
  constexpr double kMostKernels = 4e6;
  const double most = kMostKernels / training.kernels_per_iteration;
  return make_training(training, enough(std::min(most, to_seconds(horizon) / iteration_s)), random);
}

Workload draw(const SyntheticWork& work, const ClientChoice& choice, Duration horizon, RandomStream& random) {
  if (const auto* game = std::get_if<GameProfile>(&work.numbers)) return draw_game(*game, choice, horizon, random);
  if (const auto* training = std::get_if<TrainingProfile>(&work.numbers))
    return draw_training(*training, horizon, random);
  if (const auto* program = std::get_if<ProgramProfile>(&work.numbers)) return make_program(*program);
  if (const auto* kernels = std::get_if<KernelsProfile>(&work.numbers)) return make_kernels(*kernels);
  const auto& requests = std::get<RequestProfile>(work.numbers);
  const double expected = requests.rate_per_s * to_seconds(horizon);
  return make_requests(requests, enough(expected + 6 * std::sqrt(expected)), random);
}

Pacing pacing_of(const ClientChoice& choice, const Workload& workload) {
  Pacing pacing;
  if (choice.pacing) {
    pacing = *choice.pacing;
  } else if (workload.limiter_period > Duration::zero()) {
    pacing.mode = Pacing::Mode::kLimited;
    pacing.period = workload.limiter_period;
  } else if (workload.present_period > Duration::zero()) {
    pacing.mode = Pacing::Mode::kVsync;
    pacing.period = workload.present_period;
  }
  pacing.queued_ahead = choice.queued_ahead.value_or(pacing.queued_ahead);
  return pacing;
}

/// Jobs per second of the program alone and untraced, as stated, else as its capture tells.
std::optional<double> solo_rate(const ClientChoice& choice, const Workload& workload) {
  if (choice.solo_rate) return choice.solo_rate;
  return workload.untraced_jobs_per_s > 0 ? std::optional(workload.untraced_jobs_per_s) : std::nullopt;
}

std::string menu_text(const Scenario& scenario) { return device_text(scenario.device) + "\n"; }

}  // namespace

RunInputs::SharedWorkload RunInputs::captured(const ClientChoice& choice, const std::string& trace,
                                              const SourceLocation& where) {
  const WorkloadOptions& options = choice.options;
  const std::string key =
      fmt::format("{} {} {} {} {} {} {}", trace, options.iterations, options.visits_per_frame, options.gpu_busy_ratio,
                  options.allow_co_run, to_ns(options.draw), options.keep_start);
  return workloads_.get(key, [&]() -> SharedWorkload {
    CompactCapture capture = load_compact(trace);
    try {
      return std::make_shared<const Workload>(workload_from_capture(std::move(capture), options));
    } catch (const Error& error) {
      throw Error(error.kind(), where, fmt::format("client `{}`, trace {}: {}", choice.name, trace, error.message()),
                  error.help());
    }
  });
}

std::vector<Duration> RunInputs::captured_frames(const ClientChoice& choice, const SceneTrace& scene) {
  const SharedWorkload workload = captured(choice, scene.path, scene.where);
  if (workload->job_kind != JobKind::kFrame)
    throw Error(ErrorKind::kUnsupported, scene.where,
                fmt::format("client `{}`, trace {}: a scene is made of frames, and this is no capture of frames alone",
                            choice.name, scene.path),
                "name a capture of a game, or state `gpu`, the mean GPU time of the scene's frames");
  std::vector<Duration> frames;
  for (const Job& frame : workload->jobs)
    frames.push_back(Duration{std::llround(static_cast<double>(to_ns(workload->device_time(frame))) * scene.scale)});
  return frames;
}

RunInputs::SharedWorkload RunInputs::drawn(const Scenario& scenario, const ClientChoice& choice, std::uint64_t seed) {
  const std::string key = fmt::format("{} {} {}", seed, to_ns(scenario.horizon), canonical_client(choice, hashes_));
  return workloads_.get(key, [&]() -> SharedWorkload {
    RandomStream random(seed, choice.name + "/work");
    SyntheticWork work = *choice.synthetic;
    for (const SceneTrace& scene : work.scene_traces)
      std::get<GameProfile>(work.numbers).scenes[scene.scene].frames = captured_frames(choice, scene);
    return std::make_shared<const Workload>(draw(work, choice, scenario.horizon, random));
  });
}

SoloFit RunInputs::fit(const Scenario& scenario, const ClientChoice& choice, const ClientSpec& spec) {
  const std::string key = menu_text(scenario) + canonical_client(choice, hashes_);
  return fits_.get(key, [&] { return fit_to_solo_rate(spec, scenario.device, *solo_rate(choice, *spec.workload)); });
}

/// A program without a profile has no jobs: only its role says what it makes.
RunInputs::SharedWorkload RunInputs::work_of(const Scenario& scenario, const ClientChoice& choice, std::uint64_t seed) {
  if (choice.synthetic) return drawn(scenario, choice, seed);
  if (!choice.trace.empty()) return captured(choice, choice.trace, choice.where);
  auto none = std::make_shared<Workload>();
  none->job_kind = choice.role == Role::kInteractive ? JobKind::kFrame : JobKind::kIteration;
  return none;
}

ClientSpec RunInputs::unfitted(const Scenario& scenario, const ClientChoice& choice, std::uint64_t seed) {
  ClientSpec spec{choice};
  spec.workload = work_of(scenario, choice, seed);
  const bool has_frames = spec.workload->job_kind == JobKind::kFrame;
  spec.role = choice.role.value_or(has_frames ? Role::kInteractive : Role::kBestEffort);
  spec.replay = choice.replay_or_default();
  spec.pacing = pacing_of(choice, *spec.workload);
  spec.repeat = choice.repeat == 0 && choice.draws_requests() ? 1 : choice.repeat;
  spec.random_phase = choice.random_phase;
  spec.host_jitter = choice.host_jitter.value_or(spec.workload->untraced_jitter);
  return spec;
}

namespace {

/// As written, else what a machine without any sharing software does.
PolicyChoice sharing_of(const Scenario& scenario, const PolicyRegistry& policies) {
  if (scenario.cluster->sharing) return *scenario.cluster->sharing;
  const PolicyDescriptor* passthrough = policies.find("passthrough");
  CORUN_ASSERT(passthrough != nullptr, "cards need the policy `passthrough`");
  return {passthrough->name, passthrough->name, passthrough->defaults(), scenario.where, ""};
}

}  // namespace

const ClusterLists& RunInputs::cluster(const Scenario& scenario) {
  const ClusterChoice& choice = *scenario.cluster;
  const std::string key =
      fmt::format("{} {} {}\n{}", choice.nodes_file, choice.pods_file, to_ns(scenario.horizon), cluster_text(choice));
  return clusters_.get(key, [&] {
    ClusterLists lists{choice.nodes, choice.pods};
    if (!choice.nodes_file.empty()) lists.nodes = read_node_list(choice.nodes_file);
    if (!choice.pods_file.empty()) lists.pods = read_pod_list(choice.pods_file);
    std::int64_t cards = 0;
    for (const NodeSpec& node : lists.nodes) cards += node.cards;
    if (cards == 0) throw Error(ErrorKind::kInput, choice.nodes_where, "no node has a card");
    for (PodSpec& pod : lists.pods) {
      const double arrival = static_cast<double>(to_ns(pod.arrival)) / choice.arrival_speedup;
      pod.arrival = Duration{std::llround(std::min(arrival, kLatestArrivalNs))};
      if (choice.pods_stay) pod.runtime = scenario.horizon;
      round_to_units(choice, pod);
    }
    for (NodeSpec& node : lists.nodes) round_to_units(choice, node);
    return lists;
  });
}

ClientSpec RunInputs::client(const Scenario& scenario, const ClientChoice& choice, std::uint64_t seed) {
  ClientSpec spec = unfitted(scenario, choice, seed);
  if (!is_replayed() || !solo_rate(choice, *spec.workload)) return spec;
  fit(scenario, choice, spec).apply_to(spec, scenario.device);
  return spec;
}

std::vector<ClientSpec> RunInputs::clients(const Scenario& scenario, std::uint64_t seed) {
  std::vector<ClientSpec> specs;
  for (const ClientChoice& choice : scenario.clients) specs.push_back(client(scenario, choice, seed));
  return specs;
}

CardSharing RunInputs::sharing(const Scenario& scenario, std::uint64_t seed) {
  CardSharing sharing;
  if (scenario.clients.empty()) return sharing;
  const PolicyChoice choice = sharing_of(scenario, policies_);
  const PolicyDescriptor& policy = *policies_.find(choice.policy);
  sharing.clients = clients(scenario, seed);
  sharing.device = scenario.device;
  if (policy.needs.shared_context) sharing.device.sharing = Sharing::kConcurrent;
  sharing.gate = scenario.gate;
  sharing.make_policy = [create = policy.create, parameters = choice.parameters] { return create(parameters); };
  sharing.policy_name = choice.label;
  sharing.tells_exact_durations = policy.needs.oracle;
  sharing.seed = seed;
  return sharing;
}

Duration RunInputs::alone(const Scenario& scenario, const CardSharing& sharing, const PodSpec& pod) {
  const auto at = std::ranges::find(sharing.clients, pod.client, &ClientSpec::name);
  CORUN_ASSERT(at != sharing.clients.end(), "pod '{}' runs '{}'", pod.name, pod.client);
  if (at->repeat == 0 || at->stay > Duration{0}) return Duration{0};
  const bool is_drawn = at->host_jitter > 0 || at->duration_jitter > 0;  // by the pod's name
  const ClientChoice& choice = scenario.clients[static_cast<std::size_t>(at - sharing.clients.begin())];
  const std::string key = fmt::format("{} {}\n{}{}{}", sharing.seed, is_drawn ? pod.name : "", to_ns(scenario.horizon),
                                      device_text(sharing.device), canonical_client(choice, hashes_));
  return alone_.get(key, [&] {
    PodSpec unhurried = pod;
    unhurried.runtime = Duration{0};
    return time_alone(pod_client(*at, unhurried), sharing.device, sharing.seed, scenario.horizon).value_or(Duration{0});
  });
}

std::vector<SoloBaseline> RunInputs::solo(const Scenario& scenario, std::uint64_t seed) {
  const PolicyDescriptor* passthrough = policies_.find("passthrough");
  CORUN_ASSERT(passthrough != nullptr, "baselines need the policy `passthrough`");
  std::vector<SoloBaseline> baselines;
  for (const ClientChoice& choice : scenario.clients) {
    const std::string key =
        fmt::format("{} {} {}\n{}{}", seed, to_ns(scenario.horizon), to_ns(scenario.warmup_or_default()),
                    menu_text(scenario), canonical_client(choice, hashes_));
    baselines.push_back(baselines_.get(key, [&] {
      const std::unique_ptr<Policy> policy = passthrough->create(passthrough->defaults());
      const RunInput input{scenario.device,  {client(scenario, choice, seed)}, policy.get(), "passthrough",
                           scenario.horizon, scenario.warmup_or_default(),     seed};
      Collector collector(input);
      std::vector<std::string> notes;
      const RunResult result = backend_.run(input, collector, notes);
      return collector.baseline(result, 0);
    }));
  }
  return baselines;
}

namespace {

/// What to say of a capture that does not reach its stated rate: most often its jobs were split wrongly.
std::string out_of_reach(const ClientChoice& choice, const Workload& workload, const SoloFit& gaps) {
  std::string text = fmt::format(
      "warning: {}: no factor on its host gaps, nor on the device's, comes within 1 % of the {} rate; its capture is "
      "taken as {} job{}",
      choice.name, choice.solo_rate ? "stated" : "untraced", workload.jobs.size(),
      workload.jobs.size() == 1 ? "" : "s");
  if (!choice.solo_rate) return text;
  const double passes = *choice.solo_rate / gaps.reached_per_s;
  const double jobs = std::round(passes * static_cast<double>(workload.jobs.size()));
  if (jobs >= 1 && std::abs(passes * static_cast<double>(workload.jobs.size()) / jobs - 1) < 0.15 &&
      jobs != static_cast<double>(workload.jobs.size()))
    text += fmt::format("; did you mean `iterations: {:.0f}`?", jobs);
  return text;
}

/// "host gaps x0.900, launch latency x0.130, device time x0.960"
std::string factors(const SoloFit& fit) {
  std::string text = fmt::format("host gaps x{:.3f}", fit.host_gap_scale);
  if (fit.launch_latency_scale < 1) text += fmt::format(", launch latency x{:.3f}", fit.launch_latency_scale);
  if (fit.device_time_scale < 1) text += fmt::format(", device time x{:.3f}", fit.device_time_scale);
  return text;
}

std::string letters_and_digits(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Whether the two cannot be the same: other multiprocessors, or a built-in model by whose name nobody calls it. A device
/// file of the user's may have any name.
bool is_another_device(const CapturedDevice& captured, const DeviceSpec& device) {
  if (captured.sm_count != 0 && captured.sm_count != device.sm_count) return true;
  const auto devices = builtin_devices();
  const bool is_builtin = std::ranges::find(devices, device.name, &BuiltinDevice::model) != devices.end();
  return is_builtin && !captured.name.empty() &&
         letters_and_digits(captured.name).find(letters_and_digits(device.name)) == std::string::npos;
}

/// Times of one GPU say little of another.
std::string note_of_device(const CapturedDevice& captured, const DeviceSpec& device) {
  const std::string name = captured.name.empty() ? "a device" : captured.name;
  const std::string sms = captured.sm_count == 0 ? "" : fmt::format(" ({} SMs)", captured.sm_count);
  return fmt::format("captured on {}{}, replayed on {} ({} SMs): its times are not scaled", name, sms, device.name,
                     device.sm_count);
}

}  // namespace

std::vector<std::string> RunInputs::notes(const Scenario& scenario) {
  std::vector<std::string> notes;
  for (const ClientChoice& choice : scenario.clients) {
    const ClientSpec spec = unfitted(scenario, choice, scenario.seeds.front());
    const std::optional<double> rate = is_replayed() ? solo_rate(choice, *spec.workload) : std::nullopt;
    if (is_another_device(spec.workload->captured_on, scenario.device))
      notes.push_back(fmt::format("{}: {}", choice.name, note_of_device(spec.workload->captured_on, scenario.device)));
    for (const std::string& note : spec.workload->notes) {
      const bool is_settled = rate && note.find("solo_rate") != std::string::npos;
      if (!is_settled) notes.push_back(fmt::format("{}: {}", choice.name, note));
    }
    if (!rate) continue;
    const SoloFit gaps = fit(scenario, choice, spec);
    notes.push_back(fmt::format("{}: calibrated to {} {:.4g}/s (simulated {:.4g}/s): {}", choice.name,
                                choice.solo_rate ? "solo_rate" : "the untraced rate", *rate, gaps.reached_per_s,
                                factors(gaps)));
    if (!gaps.within_reach) notes.push_back(out_of_reach(choice, *spec.workload, gaps));
  }
  return notes;
}

void RunInputs::check_needs(const Scenario& scenario, const PolicyChoice& choice,
                            const std::vector<ClientSpec>& clients) const {
  const PolicyDescriptor& policy = *policies_.find(choice.policy);
  if (scenario.cluster && !policy.create_placement)
    throw Error(ErrorKind::kUnsupported, choice.where,
                fmt::format("policy `{}` shares a device, and scenario `{}` is a cluster", choice.label, scenario.name),
                "policies that place pods: `simcli policy list` says which need a cluster");
  if (!scenario.cluster && policy.create_placement)
    throw Error(
        ErrorKind::kUnsupported, choice.where,
        fmt::format("policy `{}` places pods, and scenario `{}` has no `cluster`", choice.label, scenario.name));
  if (policy.create) refuse_unmet(scenario, choice, policy.needs, clients);
}

void RunInputs::check_sharing_needs(const Scenario& scenario, const std::vector<ClientSpec>& clients) const {
  const PolicyChoice choice = sharing_of(scenario, policies_);
  const PolicyDescriptor& policy = *policies_.find(choice.policy);
  if (!policy.create)
    throw Error(
        ErrorKind::kUnsupported, choice.where,
        fmt::format("`sharing: {}`: this policy places pods, and what is wanted is one for the clients of a card",
                    choice.label),
        "for example `sharing: passthrough`, or `sharing: gaiagpu`");
  refuse_unmet(scenario, choice, policy.needs, clients);
}

void RunInputs::refuse_unmet(const Scenario& scenario, const PolicyChoice& choice, const Needs& needs,
                             const std::vector<ClientSpec>& clients) {
  const auto refuse = [&](std::string_view what, std::string help) {
    throw Error(ErrorKind::kUnsupported, choice.where,
                fmt::format("policy `{}` needs {}, and no client of scenario `{}` has {}", choice.label, what,
                            scenario.name, what.ends_with("s") ? "them" : "it"),
                std::move(help));
  };
  const auto any = [&](auto has) { return std::ranges::any_of(clients, has); };
  if (needs.frame_events && !any([](const ClientSpec& c) { return c.role == Role::kInteractive; }))
    refuse("frame events", "give it an interactive client: a capture of frames, or `synthetic: { game: rdr2 }`");
  if (needs.quality_levels && !any([](const ClientSpec& c) { return c.quality_menu.size() > 1; }))
    refuse("quality levels", "give a game a menu: `quality: default`");
  const auto has_predictions = [](const ClientSpec& c) {
    return std::ranges::any_of(c.workload->ops,
                               [](const WorkOp& op) { return op.predicted_by_name >= Duration::zero(); });
  };
  if (needs.predictions && !any(has_predictions))
    refuse("predicted durations",
           "give a client a `trace`; one with a `command` may have both: then it is its profile");
}

void RunInputs::check() {
  for (const Scenario& scenario : experiment_.scenarios) {
    if (scenario.cluster) cluster(scenario);
    std::vector<ClientSpec> specs;
    // Fitting takes runs; whether a policy can work does not depend on it.
    for (const ClientChoice& choice : scenario.clients)
      specs.push_back(unfitted(scenario, choice, scenario.seeds.front()));
    for (const PolicyChoice& policy : scenario.policies) check_needs(scenario, policy, specs);
    if (scenario.cluster && !specs.empty()) check_sharing_needs(scenario, specs);
  }
}

}  // namespace corun
