#include "experiments/advise/bands.h"

#include <algorithm>
#include <array>
#include <ranges>

#include "experiments/base/built_in_files.h"
#include "traces/base/error.h"
#include "traces/base/units.h"

namespace corun {

namespace {

std::vector<std::string> parts_between(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (const auto part : std::views::split(text, separator)) parts.emplace_back(part.begin(), part.end());
  return parts;
}

}  // namespace

Bands::Bands(std::string_view csv) {
  bool is_heading = true;
  for (const std::string& line : parts_between(csv, '\n')) {
    if (std::exchange(is_heading, false) || line.empty()) continue;
    const std::vector<std::string> cells = parts_between(line, ',');
    CORUN_ASSERT(cells.size() == 6, "a band of {} cells", cells.size());
    const auto number = [&](std::size_t i) { return parse_real(cells[i]).value_or(0.0); };
    rows_.push_back({cells[0], cells[1], cells[2], {number(4), number(5), static_cast<std::size_t>(number(3))}});
  }
}

const Bands& Bands::built_in() {
  static const Bands bands(bands_table());
  return bands;
}

std::optional<Band> Bands::of(std::string_view figure, std::string_view mechanism, std::string_view bound) const {
  for (const std::string_view wanted : {bound, std::string_view("any")})
    for (const Row& row : rows_)
      if (row.figure == figure && row.mechanism == mechanism && row.bound == wanted) return row.band;
  return std::nullopt;
}

}  // namespace corun
