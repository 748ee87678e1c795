#include "experiments/advise/spread.h"

#include <fmt/format.h>

#include <algorithm>

namespace corun {

void widen(std::optional<Spread>& spread, std::optional<double> value) {
  if (!value) return;
  if (!spread) spread = Spread{*value, *value};
  spread->low = std::min(spread->low, *value);
  spread->high = std::max(spread->high, *value);
}

std::string spread_text(const std::optional<Spread>& spread, int digits, double scale) {
  if (!spread) return "";
  const std::string low = fmt::format("{:.{}f}", scale * spread->low, digits),
                    high = fmt::format("{:.{}f}", scale * spread->high, digits);
  return low == high ? low : low + " to " + high;
}

int digits_of_milliseconds(const Spread& spread) { return spread.high < 1 ? 3 : spread.high < 10 ? 2 : 1; }

std::string milliseconds_text(const Spread& spread) { return spread_text(spread, digits_of_milliseconds(spread)); }

void add_spread(Json& json, const char* name, const std::optional<Spread>& spread) {
  if (spread) json.key(name).object().field("low", spread->low).field("high", spread->high).end();
}

}  // namespace corun
