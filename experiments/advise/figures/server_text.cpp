#include "experiments/advise/figures/server_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace corun {

namespace {

std::string figure_text(const PromisedFigure& figure, bool is_short) {
  if (!figure.p99_ms) return fmt::format("{} not known: no request was answered", figure.name);
  const std::string value = is_short ? milliseconds_text(*figure.p99_ms) : p99_text(figure);
  const std::string promised = figure.most_ms > 0 ? fmt::format(" of {:.6g}", figure.most_ms) : "";
  return fmt::format("{} {}{} ms", figure.name, value, promised);
}

}  // namespace

std::string p99_text(const PromisedFigure& figure) {
  if (!figure.p99_ms && figure.name == "TTFT") return "no answer";
  return with_band(figure.p99_ms, figure.band_ms, digits_of_milliseconds(figure.p99_ms.value_or(Spread{})));
}

std::string server_text(const std::string& server, const ServerShare& share, bool is_short) {
  std::string text = fmt::format("{}: {}", server, figure_text(share.ttft, is_short));
  if (share.tpot.p99_ms) text += ", " + figure_text(share.tpot, is_short);
  return text;
}

std::string promise_text(const std::string& server, const PromisedFigure& figure) {
  if (!figure.p99_ms)
    return fmt::format("{} answered no request, and promises a TTFT of {:.6g} ms", server, figure.most_ms);
  return fmt::format("{}'s p99 {} is {} ms, promised {:.6g}", server, figure.name, p99_text(figure), figure.most_ms);
}

std::string alone_text(const std::string& server, const ServerShare& alone) {
  std::vector<std::string> missed;
  for (const PromisedFigure* figure : {&alone.ttft, &alone.tpot})
    if (figure->most_ms > 0 && figure->p99_ms && figure->p99_ms->low > figure->most_ms)
      missed.push_back(figure_text(*figure, true));
  if (alone.rejected > 0) missed.push_back(fmt::format("{:.3g} rejected requests", alone.rejected));
  if (missed.empty()) return "";
  return fmt::format("{} misses its promises even alone: {}", server, fmt::join(missed, ", "));
}

}  // namespace corun
