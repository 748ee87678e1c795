/// GaiaGPU - a token bucket of thread blocks per client, refilled by a feedback controller on measured utilisation.
/// Source:      J. Gu, S. Song, Y. Li, H. Luo, "GaiaGPU: sharing GPUs in container clouds", ISPA 2018.
///              Artifact: tkestack/vcuda-controller (src/hijack_call.c, include/hijack.h).
/// Hears:       submissions, launches.      Needs: device time per client.
/// Decides:     a limited client may launch while its bucket is not in debt; a launch costs its thread blocks. A launch
///              that finds a debt sleeps and looks again every back-off. Every tick the watcher compares utilisation
///              with the limit, moves the client's share towards it and adds the share to the bucket.
/// Parameters:  see the descriptor below.
/// Departs:     1. Utilisation is device time over the window, sampled at a fixed period; video encoding is absent.
///              2. Memory limits are the device model's business, not this policy's.
///              3. A launch of unknown size costs one block; copies and render work are free, as no hook sees them.
///              4. Watchers tick from the instant their client joined.

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <vector>

#include "policies/builtin.h"
#include "policies/gaiagpu_limiter.h"
#include "policies/sleeping_launch.h"

namespace corun {

namespace {

/// Measured utilisation over a sliding window, sampled as a driver does: at a fixed period, whoever asks.
class Sensor {
 public:
  Sensor(Duration window, Duration period) : window_(window), period_(period) {}

  void start(Time now) {
    samples_.clear();
    next_ = now;
  }

  void sample(const GpuView& view) {
    while (next_ <= view.now) {
      Sample taken{next_, view.device.busy, {}};
      for (const ClientView& client : view.clients) taken.device_time.push_back(client.device_time);
      samples_.push_back(std::move(taken));
      next_ += period_;
    }
    while (samples_.size() > 1 && samples_[1].time <= samples_.back().time - window_) samples_.pop_front();
  }

  Time next() const { return next_; }
  std::int64_t own(ClientId client) const {
    return percent(samples_.back().device_time[client.value] - samples_.front().device_time[client.value]);
  }
  std::int64_t system() const { return percent(samples_.back().busy - samples_.front().busy); }

 private:
  struct Sample {
    Time time;
    Duration busy;
    std::vector<Duration> device_time;
  };

  std::int64_t percent(Duration received) const {
    const Duration span = std::max(window_, samples_.back().time - samples_.front().time);
    return std::min<std::int64_t>(100, received / (span / 100));
  }

  const Duration window_;
  const Duration period_;
  Time next_;
  std::deque<Sample> samples_;
};

class GaiaGpu : public Policy {
 public:
  explicit GaiaGpu(const Parameters& parameters)
      : limits_(parameters.by_client("limits")),
        is_elastic_(parameters.choice("mode") == "elastic"),
        ceiling_(percent(parameters.real("ceiling"))),
        tick_(parameters.duration("tick")),
        backoff_(parameters.duration("backoff")),
        sensor_(parameters.duration("sensor_window"), parameters.duration("sensor_period")) {}

  Hears hears() const override { return {.submitted = true, .launched = true, .completed = false, .frames = false}; }

  void on_joined(const GpuView& view, ClientId client) override {
    limited_.resize(view.clients.size());
    const auto limit = limits_.find(view.client(client).name);
    if (limit == limits_.end() || limit->second >= 1.0) return;
    if (count_limited() == 0) sensor_.start(view.now);
    limited_[client.value].emplace(limiter_for(view.device, percent(limit->second)), view.now + tick_);
  }

  void on_left(const GpuView&, ClientId client) override { limited_[client.value].reset(); }

  void on_launched(const GpuView&, ClientId client, const OpView& op) override {
    if (limited_[client.value]) limited_[client.value]->limiter.charge(cost(op));
  }

  void decide(const GpuView& view, Actions& actions) override {
    if (count_limited() > 0) watch(view, actions);
    for (const ClientView& client : view.clients) {
      if (!client.is_present) continue;
      if (limited_[client.id.value]) {
        admit(view.now, client, *limited_[client.id.value], actions);
      } else {
        actions.open(client.id);
      }
    }
  }

 private:
  struct Limited {
    Limited(GaiaLimiter its_limiter, Time first_tick) : limiter(its_limiter), next_tick(first_tick) {}
    GaiaLimiter limiter;
    Time next_tick;
    SleepingLaunch sleeper;
  };

  static std::int64_t percent(double fraction) { return std::lround(fraction * 100.0); }

  static std::int64_t cost(const OpView& op) {
    if (op.is_render || op.is_copy) return 0;
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(op.blocks));
  }

  std::size_t count_limited() const {
    return static_cast<std::size_t>(std::ranges::count_if(limited_, [](const auto& each) { return each.has_value(); }));
  }

  GaiaLimiter limiter_for(const DeviceView& device, std::int64_t request) const {
    const GaiaLimiter::Device size{std::max<std::int64_t>(1, device.sm_count),
                                   std::max<std::int64_t>(1, device.max_threads_per_sm)};
    return GaiaLimiter(size, request, is_elastic_, ceiling_);
  }

  /// Clients whose process a driver would list as a compute process.
  std::int64_t count_processes(const GpuView& view) const {
    return std::ranges::count_if(view.clients, [&](const ClientView& client) {
      return client.is_present && (client.role == Role::kBestEffort || limited_[client.id.value]);
    });
  }

  void watch(const GpuView& view, Actions& actions) {
    sensor_.sample(view);
    actions.wake_at(sensor_.next());
    const std::int64_t processes = count_processes(view);
    for (const ClientView& client : view.clients) {
      auto& limited = limited_[client.id.value];
      if (!limited) continue;
      for (; limited->next_tick <= view.now; limited->next_tick += tick_)
        limited->limiter.tick({sensor_.own(client.id), sensor_.system(), processes});
      actions.wake_at(limited->next_tick);
    }
  }

  void admit(Time now, const ClientView& client, Limited& limited, Actions& actions) {
    std::int64_t bucket = limited.limiter.bucket();
    std::uint32_t count = 0;
    for (const OpView& op : client.waiting) {
      const bool is_free = cost(op) == 0;
      const bool has_tokens = bucket >= 0;
      if (!is_free && !(has_tokens && limited.sleeper.looks(op.number, now, backoff_))) {
        limited.sleeper.sleep(op.number, now);
        if (has_tokens) actions.wake_at(limited.sleeper.next_look(now, backoff_));
        break;
      }
      bucket -= cost(op);
      ++count;
    }
    if (count > 0) actions.admit(client.id, count);
  }

  const ByClient limits_;
  const bool is_elastic_;
  const std::int64_t ceiling_;  // percent
  const Duration tick_;
  const Duration backoff_;
  Sensor sensor_;
  std::vector<std::optional<Limited>> limited_;  // by client
};

std::vector<ParameterDescriptor> parameters() {
  constexpr double kMillisecond = 1e6;
  using std::chrono_literals::operator""ms;
  return {
      {.name = "limits", .type = ParameterType::kByClient, .default_value = ByClient{}, .unit = "of the device",
       .minimum = 0.01, .maximum = 1.0, .choices = {},
       .meaning = "Utilisation each client may have; clients without a limit, or with 1, are free.",
       .source = "artifact: a whole card is not limited"},
      {.name = "mode", .type = ParameterType::kChoice, .default_value = std::string("hard"), .unit = "",
       .choices = {"hard", "elastic"},
       .meaning = "Whether a limit stays, or grows by a tenth every 30 ticks while the device has time to spare.",
       .source = "artifact, src/hijack_call.c (default of its pod annotation: hard)"},
      {.name = "ceiling", .type = ParameterType::kReal, .default_value = 1.0, .unit = "of the device", .minimum = 0.01,
       .maximum = 1.0, .choices = {}, .meaning = "Most that an elastic limit can grow to.",
       .source = "artifact (paper: 0.9)"},
      {.name = "tick", .type = ParameterType::kDuration, .default_value = Duration{120ms}, .unit = "",
       .minimum = kMillisecond, .maximum = 10'000 * kMillisecond, .choices = {},
       .meaning = "Period of the watcher that refills the buckets.", .source = "artifact, include/hijack.h"},
      {.name = "backoff", .type = ParameterType::kDuration, .default_value = Duration{10ms}, .unit = "", .minimum = 0.0,
       .maximum = 1'000 * kMillisecond, .choices = {},
       .meaning = "How long a launch that found a debt sleeps before it looks again; 0 wakes it at the refill.",
       .source = "artifact, include/hijack.h"},
      {.name = "sensor_window", .type = ParameterType::kDuration, .default_value = Duration{1000ms}, .unit = "",
       .minimum = kMillisecond, .maximum = 10'000 * kMillisecond, .choices = {},
       .meaning = "Span of time over which utilisation is averaged.", .source = "artifact: samples of the last second"},
      {.name = "sensor_period", .type = ParameterType::kDuration, .default_value = Duration{166'666'667},
       .unit = "", .minimum = kMillisecond, .maximum = 1'000 * kMillisecond, .choices = {},
       .meaning = "How often the driver takes a new utilisation sample.",
       .source = "driver documentation: between 1/6 s and 1 s by product"},
  };
}

}  // namespace

PolicyDescriptor gaiagpu_policy() {
  PolicyDescriptor policy;
  policy.name = "gaiagpu";
  policy.summary = "Utilisation limits per client, kept by a token bucket of thread blocks and a feedback controller.";
  policy.source =
      "J. Gu, S. Song, Y. Li, H. Luo, \"GaiaGPU: sharing GPUs in container clouds\", ISPA 2018; artifact "
      "tkestack/vcuda-controller";
  policy.deviations = {
      "Utilisation is device time over the window, sampled at a fixed period; video encoding is absent.",
      "Memory limits are the device model's business, not this policy's.",
      "A launch of unknown size costs one block; copies and render work are free.",
      "Watchers tick from the instant their client joined.",
  };
  policy.parameters = parameters();
  policy.needs.device_time = true;
  policy.create = [](const Parameters& values) { return std::make_unique<GaiaGpu>(values); };
  return policy;
}

}  // namespace corun
