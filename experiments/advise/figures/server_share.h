#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/advise/figures/simulated_means.h"
#include "experiments/advise/figures/spread.h"

namespace corun {

/// What is known of a promise.
enum class PromiseState : std::uint8_t {
  kKept,     ///< the whole range keeps it, or nothing is promised
  kClose,    ///< without a band: the figure is too near to what is promised (kNear)
  kInDoubt,  ///< the range holds what is promised
  kBroken,   ///< no part of the range keeps it
};

/// Without a band, a figure that is less than this part away from what is promised says neither that it is kept nor
/// that it is broken: TTFTs in company were a quarter off on average (studies/serving).
inline constexpr double kNear = 0.25;

/// A 99th percentile of which a server promises a bound.
struct PromisedFigure {
  std::string name;                ///< "TTFT", "TPOT"
  std::optional<Spread> p99_ms{};  ///< nullopt: in a run no request was answered, or, of the TPOT, none of two tokens
  std::optional<Spread> band_ms{};
  double most_ms = 0;  ///< promised; 0 = nothing is
  PromiseState state() const;
  bool keeps_by_figure() const;  ///< at both ends of what is not known, whatever its band
};

/// What a server gets.
struct ServerShare {
  PromisedFigure ttft{.name = "TTFT"}, tpot{.name = "TPOT"};
  std::optional<Spread> good;  ///< part of the answered requests that kept both promises; nullopt: there is no `slo`
  double rejected = 0;         ///< requests, the most of all bounds, a mean over seeds
  double answered = 0;         ///< requests of all seeds, the fewest of all bounds
  PromiseState state() const;  ///< the worst of its promises; a rejected request breaks them
  bool keeps_by_figures() const;
  bool has_promises() const { return ttft.most_ms > 0 || tpot.most_ms > 0; }
};

/// Of each figure the worse one, of two copies of a server.
ServerShare worse_of(const ServerShare& one, const ServerShare& other);

/// Of a program that is a server.
ServerShare server_share(const std::string& program, const SimulatedBounds& simulated, const Bands& bands);

}  // namespace corun
