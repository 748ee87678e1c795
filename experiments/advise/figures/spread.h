#pragma once

#include <optional>
#include <string>

#include "experiments/bands/figure_band.h"
#include "experiments/base/json.h"

namespace corun {

/// A predicted figure over what is not known: seeds are averaged; the ends are those of hosts whose speed nothing
/// states, or of draws whose length nothing does.
struct Spread {
  double low = 0, high = 0;
  double middle() const { return (low + high) / 2; }
};

/// Makes the spread hold a value; a first one is both its ends. Without a value nothing changes.
void widen(std::optional<Spread>& spread, std::optional<double> value);
/// The same for both ends of a band, in another unit by `scale`.
void widen(std::optional<Spread>& spread, const std::optional<FigureBand>& band, double scale);

/// Whether both ends differ in so many digits.
bool is_range(const Spread& spread, int digits);

/// "0.46 to 0.52", or one number where both ends are the same in so many digits; "" without a spread. `scale` is a
/// factor on both.
std::string spread_text(const std::optional<Spread>& spread, int digits, double scale = 1);

/// The same with a band behind it: "0.46 (0.40 to 0.52)", or "0.46 (no band)".
std::string with_band(const std::optional<Spread>& spread, const std::optional<Spread>& band, int digits);

/// A time in milliseconds, with about three digits: "0.428", "4.28", "42.8".
std::string milliseconds_text(const Spread& spread);
/// So many of them behind the point.
int digits_of_milliseconds(const Spread& spread);

/// A field {low, high} of the object at hand; without a spread none.
void add_spread(Json& json, const char* name, const std::optional<Spread>& spread);

}  // namespace corun
