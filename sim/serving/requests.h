#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine/random.h"
#include "traces/base/time.h"

namespace corun {

/// A request to a server: tokens of its prompt and of its answer, both > 0.
struct ServedRequest {
  Duration arrival{};  ///< after the server began; of a server that is asked by so many at a time: not used
  std::uint32_t prompt = 0, output = 0;
};

/// Tokens of a prompt or an answer: log-normal, whole, drawn into [least, most].
struct TokenCount {
  double mean = 0, cv = 0;
  std::uint32_t least = 1, most = UINT32_MAX;
};

/// Requests that are drawn.
struct RequestLoad {
  enum class Arrivals : std::uint8_t {
    kPoisson,
    kPeriodic,
    kBursts,  ///< Poisson, `burst` requests at once on average (geometric)
  } arrivals = Arrivals::kPoisson;
  double rate_per_s = 0;  ///< of requests, > 0
  double burst = 1;       ///< >= 1
  TokenCount prompt, output;
};

/// Those that arrive before `horizon`, in order.
std::vector<ServedRequest> draw_requests(const RequestLoad& load, Duration horizon, RandomStream& random);
/// So many, without arrivals.
std::vector<ServedRequest> draw_lengths(const RequestLoad& load, std::size_t count, RandomStream& random);

}  // namespace corun
