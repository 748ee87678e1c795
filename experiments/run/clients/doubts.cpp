#include "experiments/run/clients/doubts.h"

#include <algorithm>
#include <cmath>

#include "sim/solo/solo.h"
#include "sim/workload/capture/frame_log.h"
#include "sim/workload/capture/frames.h"
#include "traces/base/units.h"

namespace corun {

namespace {

constexpr double kTailTolerance = 0.05;
constexpr double kSlowerThanRecorded = 0.8;  ///< hosts differ by less from one run to the next
using Sentences = std::vector<std::string>;

bool misses(double found, double wanted) { return !(std::abs(found / wanted - 1) <= kTailTolerance); }

/// Device time of a job, on average.
Duration mean_device_time(const Workload& workload) {
  return workload.device_time() / static_cast<std::int64_t>(std::max<std::size_t>(workload.jobs.size(), 1));
}

/// Jobs a second alone, as far as that is known without a run.
double rate_alone(const Scenario& scenario, const ClientChoice& choice, const ClientSpec& spec,
                  ClientBuilder& builder) {
  const Workload& workload = *spec.workload;
  if (builder.solo_rate(choice, workload)) return builder.fit(scenario, choice, spec).reached_per_s;
  if (spec.pacing.period > Duration{}) return 1 / to_seconds(spec.pacing.period);
  return static_cast<double>(workload.jobs.size()) / to_seconds(std::max(workload.recorded_span, Duration{1}));
}

void doubt_tail(const RecordedReplay& replay, Sentences& found) {
  if (!replay.recorded_tail || !replay.replayed_tail) return;
  const auto [low, p99] = *replay.recorded_tail;
  const auto [own_low, own_p99] = *replay.replayed_tail;
  if (misses(own_low, low) || misses(own_p99, p99))
    found.push_back(
        fmt::format("its capture has a 1 % low of {:.3g} fps and a p99 of {:.3g} ms; its replay alone, "
                    "paced as captured, has {:.3g} fps and {:.3g} ms",
                    low, p99, own_low, own_p99));
}

/// A recorder slows a program, and never speeds it up.
void doubt_slow_rate(const ClientChoice& choice, const Workload& workload, const RecordedReplay& replay,
                     Sentences& found) {
  if (!choice.solo_rate || workload.job_kind == JobKind::kFrame || workload.jobs.size() < 2) return;
  if (replay.recorded <= Duration{}) return;
  const double recorded = replay.recorded_per_s(workload.jobs.size());
  if (*choice.solo_rate < kSlowerThanRecorded * recorded)
    found.push_back(fmt::format(
        "its stated solo_rate of {:.4g}/s is below the {:.4g}/s of its capture, and a recorder makes no program "
        "faster: measure it again with nothing else on the host and the GPU",
        *choice.solo_rate, recorded));
}

void doubt_clock(const Scenario& scenario, const ClientChoice& choice, const ClientSpec& spec, Sentences& found) {
  if (scenario.clients.size() > 1 && !choice.trace.empty() && may_have_low_clock(*spec.workload))
    found.push_back(fmt::format(
        "its capture was paced and left the GPU idle for most of the time: a GPU lowers its clock then, and in "
        "company its frames may take less than half as long, so that figures are too low; {}",
        kCaptureUncapped));
}

void doubt_count(const Scenario& scenario, const ClientChoice& choice, const ClientSpec& spec, ClientBuilder& builder,
                 Sentences& found) {
  const Duration window = scenario.horizon - std::max(scenario.warmup_or_default(), choice.arrival);
  if (choice.repeat != 0 || spec.replay == Replay::kOpen || window <= Duration{} || scenario.cluster) return;
  const double jobs = rate_alone(scenario, choice, spec, builder) * to_seconds(window);
  if (jobs >= kFewestJobs) return;
  double most = jobs;
  if (choice.is_bound && spec.pacing.period <= Duration{})
    most = std::max(jobs, solo_rate_at(spec, scenario.device, 0.0) * to_seconds(window));
  const std::string count = fmt::format("{:.2g}", jobs), count_of_most = fmt::format("{:.2g}", most);
  found.push_back(fmt::format("alone it ends about {} jobs {}: a horizon of {:.2g} s holds {:.0f}",
                              count == count_of_most ? count : fmt::format("{} to {}", count, count_of_most),
                              kTooFewJobs, to_seconds(scenario.horizon) * kFewestJobs / jobs, kFewestJobs));
}

void doubt_load(const ClientChoice& choice, const ClientSpec& spec, Sentences& found) {
  const Duration device_time = mean_device_time(*spec.workload);
  const Duration period = spec.pacing.period;
  if (period > Duration{} && device_time > period && spec.quality_menu.empty() && spec.replay == Replay::kClosed)
    found.push_back(fmt::format("{} {:.4g}/s, and its GPU work of {:.3g} ms a job allows {:.3g}/s", kPacedBeyond,
                                1 / to_seconds(period), to_milliseconds(device_time), 1 / to_seconds(device_time)));
  if (!choice.synthetic) return;
  if (const auto* game = std::get_if<GameProfile>(&choice.synthetic->numbers);
      game != nullptr && period > Duration{} && game->frame_gpu_mean > 2 * period)
    found.push_back(fmt::format("its frames of {} are cut to two periods, {}", format_duration(game->frame_gpu_mean),
                                format_duration(2 * period)));
  const auto* requests = std::get_if<RequestProfile>(&choice.synthetic->numbers);
  if (requests == nullptr || spec.replay != Replay::kOpen) return;
  const double load = requests->rate_per_s * to_seconds(requests->service_mean);
  if (load >= 1)
    found.push_back(
        fmt::format("its requests ask for {:.3g} times what a device alone can serve: their queue grows "
                    "until the end, and waits with it",
                    load));
}

/// Rates count what was taken for steps; ratios of rates do not depend on it as much.
void doubt_steps(const ClientSpec& spec, Sentences& found) {
  const std::size_t jobs = spec.workload->jobs.size();
  if (spec.workload->finding.certainty != StepCertainty::kUnsure) return;
  found.push_back(
      fmt::format("what one of its steps is was not found for sure, and its rate may count parts of steps, or several "
                  "as one: taken as {} job{}; say what a step is: `step`, or `iterations`",
                  jobs, jobs == 1 ? "" : "s"));
}

/// A host that never waits keeps its rate in turns where one that waits for each step loses half.
void doubt_waits(const ClientChoice& choice, const ClientSpec& spec, Sentences& found) {
  const Workload& workload = *spec.workload;
  const bool is_stated =
      choice.options.host_waits != HostWaits::kEvident || spec.pacing.mode == Pacing::Mode::kSyncEachJob;
  if (!workload.has_no_wait || is_stated || workload.jobs.size() < 2) return;
  const std::string taken = workload.unseen_waits == 0
                                ? "never to wait for the device"
                                : fmt::format(
                                      "to wait for the device before {} of its {} steps, which began on one "
                                      "without work",
                                      workload.unseen_waits, workload.jobs.size());
  found.push_back(fmt::format(
      "no wait of its host was recorded; it is taken {}: state `pacing: sync_each_job` if it waits for each "
      "step, `host_waits: recorded` if it never waits",
      taken));
}

void doubt_capped_rates(const Scenario& scenario, const ClientChoice& choice, ClientBuilder& builder,
                        Sentences& found) {
  constexpr double kNear = 0.03;
  if (choice.capped_rates.empty()) return;
  const std::vector<CappedRate> reached = builder.capped_fit(scenario, choice).reached;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const double stated = choice.capped_rates[i].jobs_per_s;
    if (std::abs(reached[i].jobs_per_s / stated - 1) <= kNear) continue;
    found.push_back(fmt::format(
        "with {:.0f} % of the SMs it has {:.4g}/s alone, the nearest to the stated {:.4g}/s that its kernels "
        "and its rate with all SMs allow",
        100 * reached[i].fraction, reached[i].jobs_per_s, stated));
  }
}

}  // namespace

Sentences doubts(const Scenario& scenario, const ClientChoice& choice, ClientBuilder& builder) {
  Sentences found;
  const bool has_work = choice.synthetic || !choice.trace.empty();
  if (!builder.replays() || !has_work) return found;
  if (!scenario.cluster && choice.arrival >= scenario.horizon) return found;  // idle_keys() says so
  const ClientSpec spec = builder.as_captured(scenario, choice, scenario.seeds.front());
  if (choice.is_bound)
    found.emplace_back(
        "its host's own speed is not known, and figures are a range, from host gaps as recorded to "
        "none: measure its rate alone and untraced, and state `solo_rate`");
  doubt_steps(spec, found);
  doubt_waits(choice, spec, found);
  if (!choice.trace.empty()) {
    const RecordedReplay replay = builder.replay_alone(scenario, choice);
    doubt_tail(replay, found);
    doubt_slow_rate(choice, *spec.workload, replay, found);
  }
  doubt_clock(scenario, choice, spec, found);
  doubt_count(scenario, choice, spec, builder, found);
  doubt_load(choice, spec, found);
  doubt_capped_rates(scenario, choice, builder, found);
  return found;
}

Sentences idle_keys(const Scenario& scenario, const ClientChoice& choice, ClientBuilder& builder) {
  const bool has_work = choice.synthetic || !choice.trace.empty();
  if (!builder.replays() || !has_work) return {};
  const ClientSpec spec = builder.as_captured(scenario, choice, scenario.seeds.front());
  const bool has_frames = spec.workload->job_kind == JobKind::kFrame, is_captured = !choice.trace.empty();
  const bool is_open = spec.replay == Replay::kOpen;
  const WorkloadOptions& options = choice.options;
  Sentences found;
  if (!scenario.cluster && choice.arrival >= scenario.horizon)
    found.push_back(fmt::format("it never comes: it arrives at {}, and the run ends at {}",
                                format_duration(choice.arrival), format_duration(scenario.horizon)));
  const auto idle = [&](bool is_stated, std::string_view key, std::string_view why) {
    if (is_stated) found.push_back(fmt::format("`{}` decides nothing: {}", key, why));
  };
  idle(options.iterations > 0 && (has_frames || !is_captured), "iterations",
       "it splits captures of programs into jobs");
  idle(options.host_waits != HostWaits::kEvident && (has_frames || !is_captured), "host_waits",
       "it is for captured programs");
  for (const auto& [is_stated, key] :
       {std::pair(options.visits_per_frame > 0, "visits"), std::pair(options.draw > Duration{}, "draw"),
        std::pair(options.keep_start, "keep_start"), std::pair(options.gpu_busy_ratio > 0, "gpu_busy_ratio")})
    idle(is_stated && !(is_captured && has_frames), key, "it is for captured frames");
  const bool waits_for_display = has_frames && spec.pacing.mode == Pacing::Mode::kVsync;
  const bool takes_ratio = std::ranges::any_of(
      spec.workload->notes, [](const std::string& note) { return note.starts_with(kStatedGpuTimes); });
  idle(options.gpu_busy_ratio > 0 && is_captured && has_frames && !takes_ratio, "gpu_busy_ratio",
       "its capture holds GPU times");
  idle(is_open && choice.pacing.has_value() && !waits_for_display, "pacing", "in open replay jobs begin when they did");
  idle(is_open && choice.queued_ahead.has_value(), "queued_ahead", "in open replay jobs begin when they did");
  idle(is_open && choice.random_first_job, "first_job", "in open replay jobs begin when they did");
  idle(spec.pacing.mode == Pacing::Mode::kSyncEachJob && choice.queued_ahead.has_value(), "queued_ahead",
       "with `sync_each_job` none is");
  idle(!choice.quality_menu.empty() && !has_frames, "quality", "settings change the cost of frames, and it has none");
  idle(choice.context.working_set_bytes == 0 && choice.context.touch_period > Duration{}, "touch_period",
       "it is of a `working_set`");
  idle(choice.host_gaps != HostGaps::kRange && !is_captured, "host_gaps", "it is for captured programs");
  for (const Resize& resize : choice.resizes)
    idle(!scenario.cluster && resize.at >= scenario.horizon, fmt::format("resizes: {}", format_duration(resize.at)),
         "the run ends before");
  return found;
}

}  // namespace corun
