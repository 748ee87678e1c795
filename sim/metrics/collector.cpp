#include "sim/metrics/collector.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sim/metrics/metric_table.h"

namespace corun {

/// The part of the run in which a client has work: from its arrival until it has done all it came for.
struct Presence {
  Time begin, end;
  Duration length() const { return end - begin; }
};

/// Adds the metrics of one client under its name.
class Sheet {
 public:
  Sheet(std::vector<Metric>& metrics, std::string client) : metrics_(metrics), client_(std::move(client)) {}
  /// A figure that is not finite (a rate over no time) is no figure.
  void add(std::string_view name, double value) {
    if (std::isfinite(value)) metrics_.push_back(make_metric(client_, name, value));
  }
  void add_ms(std::string_view name, double ns) { add(name, ns * 1e-6); }

 private:
  std::vector<Metric>& metrics_;
  std::string client_;
};

namespace {

constexpr double kMostNines = 6;
constexpr double kServedFps = 0.97 * 30;

/// Which of so many values in ascending order is their quantile: exact, nearest rank.
std::size_t rank_of(double q, std::size_t count) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(count)));
  return std::max<std::size_t>(rank, 1) - 1;
}

/// `values` must not be empty.
double quantile(std::vector<std::int64_t> values, double q) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank_of(q, values.size()));
  std::ranges::nth_element(values, at);
  return static_cast<double>(*at);
}

double quantile(const RankedNumbers& values, double q) {
  return static_cast<double>(values.ranked(rank_of(q, values.size())));
}

double mean(const std::vector<std::int64_t>& values) {
  return static_cast<double>(std::accumulate(values.begin(), values.end(), std::int64_t{0})) /
         static_cast<double>(values.size());
}

/// Mean of the slowest hundredth, at least one.
double mean_of_slowest(std::vector<std::int64_t> values) {
  const std::size_t count = std::max<std::size_t>(values.size() / 100, 1);
  std::ranges::sort(values, std::greater<>());
  values.resize(count);
  return mean(values);
}

/// Times between neighbours. Quiet stretches at either end of the window count where they are longer than everything
/// between: else a client that gets nothing for half the run would look as quick as in the other half.
std::vector<std::int64_t> intervals(const std::vector<Time>& instants, Time begin, Time end) {
  if (instants.empty()) return {to_ns(end - begin)};
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 1; i < instants.size(); ++i) lengths.push_back(to_ns(instants[i] - instants[i - 1]));
  const std::int64_t longest = lengths.empty() ? 0 : *std::ranges::max_element(lengths);
  for (const Duration quiet : {instants.front() - begin, end - instants.back()})
    if (to_ns(quiet) > longest) lengths.push_back(to_ns(quiet));
  return lengths;
}

double rate_per_s(const std::vector<Time>& instants, Time begin, Time end) {
  const std::vector<std::int64_t> lengths = intervals(instants, begin, end);
  const std::int64_t total = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  if (instants.size() < 2 || total <= 0) return static_cast<double>(instants.size()) / to_seconds(end - begin);
  return static_cast<double>(instants.size() - 1) / (static_cast<double>(total) * 1e-9);
}

Presence presence(const RunInput& input, const RunResult& result, std::size_t index,
                  const std::vector<Time>& job_ends) {
  const ClientSpec& client = input.clients[index];
  const Time begin = kRunStart + std::max(input.warmup, client.arrival);
  const std::uint64_t all_jobs = client.repeat * client.workload->jobs.size();
  const bool has_done_all = client.repeat > 0 && result.jobs_finished[index] >= all_jobs;
  const bool has_stayed = client.stay > Duration{0} && kRunStart + client.arrival + client.stay < result.end;
  const bool has_finished = (has_done_all || has_stayed) && !job_ends.empty();
  return {std::min(begin, result.end), has_finished ? job_ends.back() : result.end};
}

void add_rates(Sheet& sheet, const std::vector<Time>& job_ends, const Presence& present, const SoloBaseline* solo) {
  const double throughput = rate_per_s(job_ends, present.begin, present.end);
  sheet.add("throughput_per_s", throughput);
  if (solo == nullptr) return;
  sheet.add("solo_throughput_per_s", solo->throughput_per_s);
  if (throughput > 0 && solo->throughput_per_s > 0) sheet.add("slowdown", solo->throughput_per_s / throughput);
  const double jobs_per_s = static_cast<double>(job_ends.size()) / to_seconds(present.length());
  sheet.add("progress_ratio", jobs_per_s / solo->throughput_per_s);
}

/// Jobs that follow one another as the steps of a program do.
bool has_steps(const ClientSpec& client) {
  return client.replay == Replay::kClosed && client.workload->job_kind != JobKind::kFrame && !client.server;
}

void add_steps(Sheet& sheet, const std::vector<Time>& job_ends, const Presence& present) {
  if (job_ends.size() < 2) return;
  const std::vector<std::int64_t> lengths = intervals(job_ends, present.begin, present.end);
  sheet.add_ms("job_interval_p50_ms", quantile(lengths, 0.5));
  sheet.add_ms("job_interval_p99_ms", quantile(lengths, 0.99));
}

bool has_known_rate(const RunResult& result, std::size_t client) {
  return result.has_unknown_rate.empty() || !result.has_unknown_rate[client];
}

/// How often neighbours differ in level.
std::size_t level_changes(const std::vector<FrameFact>& frames) {
  std::size_t changes = 0;
  for (std::size_t i = 1; i < frames.size(); ++i)
    changes += frames[i].quality_level != frames[i - 1].quality_level ? 1 : 0;
  return changes;
}

void add_quality(Sheet& sheet, const std::vector<FrameFact>& frames, const Presence& present) {
  double sum = 0;
  for (const FrameFact& frame : frames) sum += frame.quality;
  const double mean = sum / static_cast<double>(frames.size());
  const double least_loss = std::pow(10.0, -kMostNines);
  sheet.add("quality_mean", mean);
  sheet.add("quality_nines", std::log10(1.0 / std::max(1.0 - mean, least_loss)));
  sheet.add("quality_min", std::ranges::min(frames, {}, &FrameFact::quality).quality);
  sheet.add("quality_changes_per_s", static_cast<double>(level_changes(frames)) / to_seconds(present.length()));
}

/// Returns its fps_mean.
double add_frames(Sheet& sheet, const std::vector<FrameFact>& frames, const Presence& present) {
  std::vector<Time> presents;
  std::vector<std::int64_t> render;
  double missed = 0;
  for (const FrameFact& frame : frames) {
    presents.push_back(frame.present);
    render.push_back(to_ns(frame.gpu_end - frame.submit));
    missed += frame.missed ? 1 : 0;
  }
  const double fps = rate_per_s(presents, present.begin, present.end);
  sheet.add("fps_mean", fps);
  const auto times = intervals(presents, present.begin, present.end);
  sheet.add("fps_1low", 1e9 / mean_of_slowest(times));
  sheet.add_ms("frame_time_mean_ms", mean(times));
  sheet.add_ms("frame_time_p50_ms", quantile(times, 0.5));
  sheet.add_ms("frame_time_p99_ms", quantile(times, 0.99));
  sheet.add_ms("frame_time_max_ms", static_cast<double>(*std::ranges::max_element(times)));
  if (frames.empty()) return fps;
  sheet.add_ms("render_time_p50_ms", quantile(render, 0.5));
  sheet.add_ms("render_time_p99_ms", quantile(render, 0.99));
  sheet.add("missed_frame_ratio", missed / static_cast<double>(frames.size()));
  add_quality(sheet, frames, present);
  return fps;
}

/// What became of the interactive clients that show frames.
struct Players {
  std::uint32_t served = 0, refused = 0;
  double slowest_fps = std::numeric_limits<double>::infinity();

  void show(double fps) {
    served += fps >= kServedFps ? 1 : 0;
    slowest_fps = std::min(slowest_fps, fps);
  }
  bool are_some() const { return refused > 0 || std::isfinite(slowest_fps); }
};

bool keeps(const ServiceLevel& level, const RequestFact& request) {
  if (level.ttft > Duration{0} && request.first_token - request.arrival > level.ttft) return false;
  if (level.tpot <= Duration{0} || request.output < 2) return true;
  return request.end - request.first_token <= level.tpot * (request.output - 1);
}

double ratio(Duration part, Duration whole) { return to_seconds(part) / to_seconds(whole); }

}  // namespace

Collector::Collector(const RunInput& input) : input_(input), series_(input.clients.size()) {
  // A workload that is played once waits as often as it has operations; growing takes half as much memory again.
  for (std::size_t i = 0; i < series_.size(); ++i)
    if (input.clients[i].repeat == 1) series_[i].wait_ns.reserve(input.clients[i].workload->ops.size());
}

void Collector::on_op(const OpFact& op) {
  if (op.end < kRunStart + input_.warmup) return;
  series_[op.client.value].wait_ns.push_back(to_ns(op.begin - op.submitted));
}

void Collector::on_job(const JobFact& job) {
  if (job.end < kRunStart + input_.warmup) return;
  Series& series = series_[job.client.value];
  series.job_ends.push_back(job.end);
  series.job_latency_ns.push_back(to_ns(job.end - job.arrival));
}

void Collector::on_frame(const FrameFact& frame) {
  const Time begin = kRunStart + input_.warmup;
  const bool is_counted = frame.present >= begin && frame.present < kRunStart + input_.horizon;
  if (is_counted) series_[frame.client.value].frames.push_back(frame);
}

void Collector::on_request(const RequestFact& request) {
  if (request.end >= kRunStart + input_.warmup) series_[request.client.value].requests.push_back(request);
}

void Collector::on_server_step(const ServerStepFact& step) {
  ServerUse& use = series_[step.client.value].server;
  use.rejected = step.rejected;
  if (step.end < kRunStart + input_.warmup) {
    use.rejected_before = step.rejected;
    return;
  }
  const auto length_ns = static_cast<double>(to_ns(step.end - step.begin));
  use.step_ns += length_ns;
  use.waiting += length_ns * step.waiting;
  use.kv_tokens += length_ns * static_cast<double>(step.kv_tokens);
  if (step.size.decoded() == 0) return;
  use.decode_ns += length_ns;
  use.decoded += length_ns * step.size.decoded();
}

void Collector::on_refusal(const RefusalFact& refusal) { series_[refusal.client.value].refused_at = refusal.time; }

void Collector::on_kill(const KillFact& kill) {
  if (kill.time < kRunStart + input_.warmup) return;
  Series& series = series_[kill.client.value];
  ++series.kills;
  series.lost += kill.lost;
  std::erase_if(series.job_ends, [&](Time end) { return kill.since < end && end <= kill.time; });
}

/// Device time of the best-effort clients over what the interactive ones leave idle when alone; negative = not defined.
double Collector::harvest(const RunResult& result, const std::vector<SoloBaseline>& solo, Duration window) const {
  double busy_alone = 0, harvested = 0;
  std::size_t interactive = 0, others = 0;
  for (std::size_t i = 0; i < input_.clients.size(); ++i) {
    if (input_.clients[i].role == Role::kInteractive) {
      if (input_.clients[i].reads_prompts_of) continue;  // in its server's baseline
      ++interactive;
      busy_alone += solo[i].device_busy_ratio;
    } else {
      ++others;
      harvested += ratio(std::max(Duration::zero(), result.device_time[i] - series_[i].lost), window);
    }
  }
  const bool is_defined = interactive > 0 && others > 0 && busy_alone < 1;
  return is_defined ? harvested / (1 - busy_alone) : -1;
}

void Collector::add_serving(Sheet& sheet, const ServerSpec& server, const Series& series, const Presence& present) {
  std::vector<std::int64_t> ttft, tpot;
  double tokens = 0, kept = 0;
  for (const RequestFact& request : series.requests) {
    ttft.push_back(to_ns(request.first_token - request.arrival));
    if (request.output > 1) tpot.push_back(to_ns(request.end - request.first_token) / (request.output - 1));
    tokens += request.output;
    kept += keeps(server.level, request) ? 1 : 0;
  }
  if (!ttft.empty()) {
    sheet.add_ms("ttft_p50_ms", quantile(ttft, 0.5));
    sheet.add_ms("ttft_p99_ms", quantile(ttft, 0.99));
  }
  if (!tpot.empty()) {
    sheet.add_ms("tpot_p50_ms", quantile(tpot, 0.5));
    sheet.add_ms("tpot_p99_ms", quantile(tpot, 0.99));
  }
  const double length_s = to_seconds(present.length());
  sheet.add("tokens_per_s", tokens / length_s);
  if (server.level.is_stated()) sheet.add("goodput_per_s", kept / length_s);
  const ServerUse& use = series.server;
  sheet.add("queue_mean", use.waiting / use.step_ns);
  sheet.add("batch_mean", use.decoded / use.decode_ns);
  sheet.add("kv_used_ratio", use.kv_tokens / use.step_ns / static_cast<double>(server.limits.kv_tokens));
  if (use.rejected > 0) sheet.add("rejected", static_cast<double>(use.rejected - use.rejected_before));
}

/// In a simulation, of a client whose draw is known.
bool Collector::has_energy(const RunResult& result, const ClientSpec& client) const {
  return input_.device.power_limit_w > 0 && client.context.power.watts > 0 && !result.energy_j.empty();
}

/// Of a client: with a part of what the idle device takes, by its device time.
double Collector::energy_j(const RunResult& result, std::size_t index, Duration window) const {
  Duration sum{};
  for (const Duration time : result.device_time) sum += time;
  const double idle_j = input_.device.idle_power_w * to_seconds(window);
  return result.energy_j[index] + idle_j * ratio(result.device_time[index], sum);
}

/// Only where the draw of all clients is known.
void Collector::add_power(Sheet& device, const RunResult& result, Duration window) const {
  const auto is_unknown = [&](const ClientSpec& client) { return !has_energy(result, client); };
  if (input_.device.power_limit_w == 0 || std::ranges::any_of(input_.clients, is_unknown)) return;
  const double joules = std::accumulate(result.energy_j.begin(), result.energy_j.end(), 0.0);
  device.add("power_w", input_.device.idle_power_w + joules / to_seconds(window));
  device.add("sm_clock_mhz", input_.device.full_clock_mhz * ratio(result.usage.clocked, window));
}

std::vector<Metric> Collector::metrics(const RunResult& result, const std::vector<SoloBaseline>& solo) const {
  std::vector<Metric> metrics;
  const Time begin = kRunStart + input_.warmup;
  const Duration window = result.end - begin;
  Players players;
  for (std::size_t i = 0; i < series_.size(); ++i) {
    const Series& series = series_[i];
    const ClientSpec& client = input_.clients[i];
    Sheet sheet(metrics, client.name);
    const bool is_player = client.role == Role::kInteractive && client.workload->job_kind == JobKind::kFrame;
    const bool is_refused = series.refused_at != kNever;
    if (is_refused) {
      sheet.add("refused", 1);
      if (is_player) ++players.refused;
    }
    if (window <= Duration::zero()) continue;
    const Presence present = presence(input_, result, i, series.job_ends);
    if (present.length() <= Duration::zero()) continue;
    const bool has_jobs = has_known_rate(result, i);
    if (has_jobs) add_rates(sheet, series.job_ends, present, i < solo.size() ? &solo[i] : nullptr);
    if (client.workload->job_kind == JobKind::kFrame) {
      const Presence watched{present.begin, std::min(present.end, series.refused_at)};
      const bool has_shown = watched.length() > Duration::zero() && !series.frames.empty();
      const double fps = !is_refused || has_shown ? add_frames(sheet, series.frames, watched) : 0;
      if (is_player && !is_refused) players.show(fps);
    }
    if (has_jobs && !series.job_latency_ns.empty()) {
      sheet.add_ms("job_time_p50_ms", quantile(series.job_latency_ns, 0.5));
      sheet.add_ms("job_time_p99_ms", quantile(series.job_latency_ns, 0.99));
    }
    if (has_jobs && has_steps(client)) add_steps(sheet, series.job_ends, present);
    if (client.server) add_serving(sheet, *client.server, series, present);
    if (!series.wait_ns.empty()) sheet.add_ms("wait_p99_ms", quantile(series.wait_ns, 0.99));
    sheet.add("gpu_busy_ratio", ratio(result.device_time[i], window));
    if (has_jobs && has_energy(result, client))
      sheet.add("energy_per_job_j", energy_j(result, i, window) / static_cast<double>(series.job_ends.size()));
    if (series.kills > 0) {
      sheet.add("kills", static_cast<double>(series.kills));
      sheet.add("lost_ratio", ratio(series.lost, window));
    }
  }
  Sheet device(metrics, "device");
  if (players.are_some()) {
    device.add("players_served", players.served);
    device.add("players_refused", players.refused);
    device.add("fps_min", players.slowest_fps);
  }
  if (window <= Duration::zero()) return metrics;
  const double harvested = solo.empty() ? -1 : harvest(result, solo, window);
  if (harvested >= 0) device.add("harvest_ratio", harvested);
  device.add("gpu_busy_ratio", ratio(result.usage.busy, window));
  device.add("switch_ratio", ratio(result.usage.switching, window));
  add_power(device, result, window);
  if (result.usage.paging > Duration::zero()) device.add("paging_ratio", ratio(result.usage.paging, window));
  return metrics;
}

SoloBaseline Collector::baseline(const RunResult& result, std::size_t index) const {
  const Series& series = series_[index];
  const Presence present = presence(input_, result, index, series.job_ends);
  const Duration window = result.end - (kRunStart + input_.warmup);
  if (present.length() <= Duration::zero() || window <= Duration::zero()) return {};
  const double rate = rate_per_s(series.job_ends, present.begin, present.end);
  Duration busy = result.device_time[index];
  for (std::size_t i = 0; i < input_.clients.size(); ++i)
    if (input_.clients[i].reads_prompts_of == index) busy += result.device_time[i];
  return {has_known_rate(result, index) ? rate : std::nan(""), ratio(busy, window)};
}

}  // namespace corun
