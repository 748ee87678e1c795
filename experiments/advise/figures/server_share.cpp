#include "experiments/advise/figures/server_share.h"

#include <algorithm>
#include <limits>

namespace corun {

PromiseState PromisedFigure::state() const {
  if (most_ms <= 0) return PromiseState::kKept;
  if (!p99_ms) return name == "TTFT" ? PromiseState::kInDoubt : PromiseState::kKept;
  const Spread range = band_ms.value_or(*p99_ms);
  const double slack = band_ms ? 0 : kNear;
  if (range.high <= most_ms * (1 - slack)) return PromiseState::kKept;
  if (range.low > most_ms * (1 + slack)) return PromiseState::kBroken;
  const bool holds_both = range.low <= most_ms && range.high > most_ms;
  return band_ms || (holds_both && range.low < range.high) ? PromiseState::kInDoubt : PromiseState::kClose;
}

bool PromisedFigure::keeps_by_figure() const {
  if (most_ms <= 0) return true;
  return p99_ms ? p99_ms->high <= most_ms : name != "TTFT";
}

bool ServerShare::keeps_by_figures() const {
  return ttft.keeps_by_figure() && tpot.keeps_by_figure() && (rejected <= 0 || !has_promises());
}

ServerShare worse_of(const ServerShare& one, const ServerShare& other) {
  const auto worse = [](const PromisedFigure& a, const PromisedFigure& b) {
    if (!a.p99_ms || !b.p99_ms) return a.p99_ms ? b : a;
    return a.p99_ms->high >= b.p99_ms->high ? a : b;
  };
  ServerShare worst = one;
  worst.ttft = worse(one.ttft, other.ttft);
  worst.tpot = worse(one.tpot, other.tpot);
  if (one.good && other.good) worst.good = one.good->low <= other.good->low ? one.good : other.good;
  worst.rejected = std::max(one.rejected, other.rejected);
  worst.answered = std::min(one.answered, other.answered);
  return worst;
}

PromiseState ServerShare::state() const {
  const PromiseState both = std::max(ttft.state(), tpot.state());
  return rejected > 0 && has_promises() ? PromiseState::kBroken : both;
}

ServerShare server_share(const std::string& program, const SimulatedBounds& simulated, const Bands& bands) {
  ServerShare share;
  bool is_silent = false;
  share.answered = std::numeric_limits<double>::infinity();
  for (const SimulatedRuns& runs : simulated) {
    const ClientMeans& means = runs.clients.at(program);
    const ServiceLevel& level = runs.servers.at(program);
    share.ttft.most_ms = to_milliseconds(level.ttft);
    share.tpot.most_ms = to_milliseconds(level.tpot);
    for (const auto& [figure, metric] :
         {std::pair{&share.ttft, "ttft_p99_ms"}, std::pair{&share.tpot, "tpot_p99_ms"}}) {
      widen(figure->p99_ms, means.of(metric));
      widen(figure->band_ms, runs.band(bands, program, metric), 1);
    }
    if (level.is_stated()) widen(share.good, means.of(kGoodPart));
    share.rejected = std::max(share.rejected, means.of("rejected").value_or(0));
    share.answered = std::min(share.answered, runs.jobs_of(program) * runs.seeds);
    is_silent = is_silent || means.of(kSilentRuns).value_or(0) > 0;
  }
  if (is_silent) share.ttft.p99_ms = share.ttft.band_ms = std::nullopt;
  return share;
}

}  // namespace corun
