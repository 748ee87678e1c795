#include "experiments/advise/figures/spread.h"

#include <fmt/format.h>

#include <algorithm>

namespace corun {

void widen(std::optional<Spread>& spread, std::optional<double> value) {
  if (!value) return;
  if (!spread) spread = Spread{*value, *value};
  spread->low = std::min(spread->low, *value);
  spread->high = std::max(spread->high, *value);
}

void widen(std::optional<Spread>& spread, const std::optional<FigureBand>& band, double scale) {
  if (!band) return;
  widen(spread, band->low * scale);
  widen(spread, band->high * scale);
}

bool is_range(const Spread& spread, int digits) {
  return fmt::format("{:.{}f}", spread.low, digits) != fmt::format("{:.{}f}", spread.high, digits);
}

std::string spread_text(const std::optional<Spread>& spread, int digits, double scale) {
  if (!spread) return "";
  const std::string low = fmt::format("{:.{}f}", scale * spread->low, digits),
                    high = fmt::format("{:.{}f}", scale * spread->high, digits);
  return low == high ? low : low + " to " + high;
}

std::string with_band(const std::optional<Spread>& spread, const std::optional<Spread>& band, int digits) {
  if (!spread) return "";
  if (!band) return spread_text(spread, digits) + " (no band)";
  return fmt::format("{0} ({2:.{1}f} to {3:.{1}f})", spread_text(spread, digits), digits, band->low, band->high);
}

int digits_of_milliseconds(const Spread& spread) { return spread.high < 1 ? 3 : spread.high < 10 ? 2 : 1; }

std::string milliseconds_text(const Spread& spread) { return spread_text(spread, digits_of_milliseconds(spread)); }

void add_spread(Json& json, const char* name, const std::optional<Spread>& spread) {
  if (spread) json.key(name).object().field("low", spread->low).field("high", spread->high).end();
}

}  // namespace corun
