#include "experiments/bands/bands.h"

#include <fmt/format.h>

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
    CORUN_ASSERT(cells.size() == 9, "a band of {} cells", cells.size());
    const auto number = [&](std::size_t i) { return parse_real(cells[i]).value_or(0.0); };
    rows_.push_back({cells[0], cells[1], cells[2], cells[3], static_cast<std::size_t>(number(4)), number(5), number(6),
                     number(7), number(8)});
  }
}

const Bands& Bands::built_in() {
  static const Bands bands(bands_table());
  return bands;
}

const Bands::Row* Bands::find(std::string_view figure, std::string_view mechanism, std::string_view bound,
                              std::string_view programs) const {
  for (const Row& row : rows_)
    if (row.figure == figure && row.mechanism == mechanism && row.bound == bound && row.programs == programs)
      return &row;
  return nullptr;
}

std::optional<Band> Bands::of(std::string_view figure, std::string_view mechanism, std::string_view bound,
                              std::size_t programs, Measured measured) const {
  constexpr std::string_view kAny = "any";
  for (const std::string_view its : {bound, kAny})
    for (const std::string_view number : {std::string_view(programs > 2 ? "3+" : "2"), kAny}) {
      const Row* row = find(figure, mechanism, its, number);
      if (row == nullptr) continue;
      const Row* pairs = find(figure, mechanism, its, "2");
      const bool is_of_pairs = programs > 2 && number == kAny && pairs != nullptr && pairs->count == row->count;
      if (measured == Measured::kPart || is_of_pairs) return Band{row->least, row->most, row->count};
      return Band{row->low, row->high, row->count};
    }
  const bool is_pooled = mechanism.starts_with(kAny) || !mechanism.ends_with(kWithServers);
  return is_pooled ? std::nullopt : of(figure, fmt::format("{}{}", kAny, kWithServers), bound, programs, measured);
}

}  // namespace corun
