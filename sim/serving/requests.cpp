#include "sim/serving/requests.h"

#include <algorithm>
#include <cmath>

namespace corun {

namespace {

std::uint32_t draw(const TokenCount& tokens, RandomStream& random) {
  const double drawn = random.lognormal(tokens.mean, tokens.cv);
  return static_cast<std::uint32_t>(
      std::clamp(std::round(drawn), static_cast<double>(tokens.least), static_cast<double>(tokens.most)));
}

ServedRequest draw_request(const RequestLoad& load, Duration arrival, RandomStream& random) {
  ServedRequest request{arrival, 0, 0};
  request.prompt = draw(load.prompt, random);
  request.output = draw(load.output, random);
  return request;
}

/// Requests that come at once: at least one, `mean` on average.
std::uint32_t draw_burst(double mean, RandomStream& random) {
  std::uint32_t count = 1;
  while (random.uniform() < 1 - 1 / mean) ++count;
  return count;
}

}  // namespace

std::vector<ServedRequest> draw_requests(const RequestLoad& load, Duration horizon, RandomStream& random) {
  const bool has_bursts = load.arrivals == RequestLoad::Arrivals::kBursts;
  const double mean_ns = 1e9 / load.rate_per_s * (has_bursts ? load.burst : 1);
  std::vector<ServedRequest> requests;
  double at_ns = load.arrivals == RequestLoad::Arrivals::kPeriodic ? 0 : random.exponential(mean_ns);
  while (at_ns < static_cast<double>(to_ns(horizon))) {
    const std::uint32_t at_once = has_bursts ? draw_burst(load.burst, random) : 1;
    for (std::uint32_t i = 0; i < at_once; ++i)
      requests.push_back(draw_request(load, Duration{std::llround(at_ns)}, random));
    at_ns += load.arrivals == RequestLoad::Arrivals::kPeriodic ? mean_ns : random.exponential(mean_ns);
  }
  return requests;
}

std::vector<ServedRequest> draw_lengths(const RequestLoad& load, std::size_t count, RandomStream& random) {
  std::vector<ServedRequest> requests;
  while (requests.size() < count) requests.push_back(draw_request(load, Duration{0}, random));
  return requests;
}

}  // namespace corun
