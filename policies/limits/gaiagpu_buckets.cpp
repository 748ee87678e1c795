#include "policies/limits/gaiagpu_buckets.h"

#include <algorithm>
#include <cmath>

namespace corun {

namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""ns;

GaiaLimiter::Rules with_exponent(GaiaLimiter::Rules rules, std::int64_t sm_exponent) {
  rules.sm_exponent = sm_exponent;
  return rules;
}

}  // namespace

BlockBuckets::BlockBuckets(const Parameters& parameters, const GaiaLimiter::Rules& rules)
    : rules_(with_exponent(rules, parameters.integer("sm_exponent"))),
      tick_(parameters.duration("tick")),
      backoff_(parameters.duration("backoff")),
      sensor_(parameters.duration("sensor_window"), parameters.duration("sensor_period")) {}

void BlockBuckets::join(const GpuView& view, ClientId client, std::optional<double> share) {
  limited_.resize(view.clients.size());
  if (!share || *share >= 1.0) return leave(client);
  const std::int64_t percent = std::max(1L, std::lround(*share * 100.0));
  if (is_limited(client)) return limited_[client.value]->limiter.resize(percent);
  if (!any()) sensor_.start(view.now);
  const GaiaLimiter::Device device{std::max<std::int64_t>(1, view.device.sm_count),
                                   std::max<std::int64_t>(1, view.device.max_threads_per_sm)};
  limited_[client.value] = std::make_unique<Limited>(GaiaLimiter(device, percent, rules_), view.now + tick_);
  find_next_tick();
}

void BlockBuckets::leave(ClientId client) {
  limited_[client.value].reset();
  find_next_tick();
}

void BlockBuckets::find_next_tick() {
  next_tick_ = kNever;
  for (const auto& limited : limited_)
    if (limited) next_tick_ = std::min(next_tick_, limited->next_tick);
}

std::int64_t BlockBuckets::cost(const OpView& op) {
  return op.is_kernel() ? std::max<std::int64_t>(1, static_cast<std::int64_t>(op.blocks)) : 0;
}

void BlockBuckets::charge(ClientId client, const OpView& op) {
  if (is_limited(client)) limited_[client.value]->limiter.charge(cost(op));
}

/// Clients whose process a driver would list as a compute process.
std::int64_t BlockBuckets::count_processes(const GpuView& view) const {
  return std::ranges::count_if(view.clients, [&](const ClientView& client) {
    return client.is_present && (client.role == Role::kBestEffort || is_limited(client.id));
  });
}

bool BlockBuckets::watch(const GpuView& view, Actions& actions) {
  sensor_.sample(view);
  const bool turns = next_tick_ <= view.now;
  if (turns) turn_watchers(view);
  actions.wake_at(sensor_.next());
  actions.wake_at(next_tick_);
  return turns;
}

void BlockBuckets::turn_watchers(const GpuView& view) {
  const std::int64_t processes = count_processes(view);
  for (const ClientView& client : view.clients) {
    if (!is_limited(client.id)) continue;
    Limited& limited = *limited_[client.id.value];
    for (; limited.next_tick <= view.now; limited.next_tick += tick_)
      limited.limiter.tick({sensor_.own(client.id, view.now), sensor_.system(view.now), processes});
  }
  find_next_tick();
}

bool BlockBuckets::admit(const GpuView& view, const ClientView& client, Actions& actions) {
  Limited& limited = *limited_[client.id.value];
  std::int64_t bucket = limited.limiter.bucket();
  std::uint32_t count = 0;
  bool sleeps = false;
  for (const OpView& op : client.waiting) {
    const bool has_tokens = bucket >= 0;
    const bool passes = cost(op) == 0 || (has_tokens && limited.sleeper.looks(op.number, view.now, backoff_));
    if (!passes) {
      limited.sleeper.sleep(op.number, view.now);
      const Time look = has_tokens ? limited.sleeper.next_look(view.now, backoff_) : kNever;
      if (has_tokens) actions.wake_at(look);
      sleeps = has_tokens;
      actions.hold(client.id, has_tokens ? Hold{"back_off", static_cast<double>(to_ns(look - view.now)), 0.0, "ns"}
                                         : Hold{"tokens", 0.0, static_cast<double>(bucket), "blocks"});
      break;
    }
    bucket -= cost(op);
    ++count;
  }
  if (count > 0) actions.admit(client.id, count);
  return sleeps;
}

ParameterTable bucket_parameters(const std::string& artifact, std::int64_t sm_exponent) {
  ParameterTable table;
  table.by_client("limits")
      .range(0.01, 1.0, "of the device")
      .means(
          "Utilisation each client may have; one without a value has its owner's `share`; clients without either, or "
          "with 1, are free.")
      .from(artifact + ": a whole card is not limited");
  table.duration("tick", 120ms).range(1ms, 10s).means("Period of the watcher that refills the buckets.").from(artifact);
  table.duration("backoff", 10ms)
      .range(0s, 1s)
      .means("How long a launch that found a debt sleeps before it looks again; 0 wakes it at the refill.")
      .from(artifact);
  table.integer("sm_exponent", sm_exponent)
      .range(1, 2)
      .means("Power of the number of SMs with which the controller's step grows.")
      .from(artifact);
  table.duration("sensor_window", 1000ms)
      .range(1ms, 10s)
      .means("Span over which utilisation is averaged, and age at which a sample reads as 0.")
      .from(artifact + ": samples of the last second");
  table.duration("sensor_period", 166'666'667ns)
      .range(1ms, 2s)
      .means("How often the driver takes a new utilisation sample.")
      .from("driver documentation: between 1/6 s and 1 s by product");
  return table;
}

}  // namespace corun
