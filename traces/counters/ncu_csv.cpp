#include "traces/counters/ncu_csv.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "traces/base/error.h"
#include "traces/readable_name.h"
#include "traces/text/csv_lines.h"
#include "traces/text/decimal.h"

namespace corun {

namespace {

constexpr std::string_view kTime = "gpu__time_duration.sum";
constexpr std::string_view kKernel = "Kernel Name", kGrid = "Grid Size", kBlock = "Block Size";

struct Counter {
  std::string_view metric;
  std::string_view other_name;  ///< in reports of ncu's own sets
  std::uint32_t CounterRecord::*value;
};
constexpr std::array kCounters{
    Counter{"dram__throughput.avg.pct_of_peak_sustained_elapsed",
            "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", &CounterRecord::dram_ppm},
    Counter{"lts__throughput.avg.pct_of_peak_sustained_elapsed", "", &CounterRecord::l2_ppm},
    Counter{"lts__t_sector_hit_rate.pct", "", &CounterRecord::l2_hits_ppm},
    Counter{"sm__throughput.avg.pct_of_peak_sustained_elapsed", "", &CounterRecord::sm_ppm},
    Counter{"sm__warps_active.avg.pct_of_peak_sustained_active", "", &CounterRecord::warps_ppm}};

constexpr int kPpmDigits = 4;  // 1 % is 10^4 millionths
// Hits and lookups are counted in passes of their own, which may differ: more hits than lookups say nothing.
constexpr std::int64_t kMostHits = std::int64_t{1} << 40;

constexpr std::string_view kHowTo = "`ncu --csv --page raw --print-kernel-base mangled --metrics ...`";

/// Digits after the point with which a number of this unit counts nanoseconds; nullopt: it is no unit of time.
std::optional<int> ns_digits(std::string_view unit) {
  if (unit == "nsecond" || unit == "ns") return 0;
  if (unit == "usecond" || unit == "us") return kNsPerUsDigits;
  if (unit == "msecond" || unit == "ms") return kNsPerMsDigits;
  if (unit == "second" || unit == "s") return kNsPerSDigits;
  return std::nullopt;
}

/// "(7056, 1, 1)" is 7056; nullopt for anything else.
std::optional<std::uint64_t> product_of(std::string_view text) {
  if (!text.starts_with('(') || !text.ends_with(')')) return std::nullopt;
  std::vector<std::string_view> numbers;
  split_csv(text.substr(1, text.size() - 2), numbers);
  std::uint64_t product = 1;
  for (const std::string_view number : numbers) {
    const std::optional<std::int64_t> factor = parse_integer(number);
    if (!factor || *factor < 1 || *factor > INT32_MAX || product > UINT64_MAX / static_cast<std::uint64_t>(*factor))
      return std::nullopt;
    product *= static_cast<std::uint64_t>(*factor);
  }
  return product;
}

std::string without_grouping(std::string_view number) {
  std::string text(number);
  std::erase(text, ',');
  return text;
}

class Report {
 public:
  Report(std::string_view text, const std::string& path) : lines_(text), path_(path) {}

  std::vector<CountedLaunch> read() {
    find_header();
    find_columns();
    read_units();
    std::vector<CountedLaunch> launches;
    while (lines_.next()) {
      if (!lines_.line().starts_with('"')) continue;  // what the program or ncu says
      split_csv(lines_.line(), cells_);
      if (std::optional<CountedLaunch> launch = launch_of_row()) launches.push_back(std::move(*launch));
    }
    return launches;
  }

 private:
  [[noreturn]] void fail(const std::string& found, const std::string& help = "") const {
    throw Error(ErrorKind::kInput, SourceLocation{path_, lines_.number()}, found, help);
  }

  void find_header() {
    while (lines_.next()) {
      split_csv(lines_.line(), header_);
      if (std::ranges::find(header_, kKernel) != header_.end()) return;
    }
    fail("no launches of kernels are here, expected the rows that ncu prints", fmt::format("make it by {}", kHowTo));
  }

  void find_columns() {
    const CsvColumns columns(header_);
    const auto needed = [&](std::initializer_list<std::string_view> names) {
      const std::optional<std::size_t> column = columns.find(names);
      if (column) return *column;
      fail(fmt::format("there is no column `{}`", *names.begin()), fmt::format("make the report by {}", kHowTo));
    };
    kernel_ = needed({kKernel}), grid_ = needed({kGrid}), block_ = needed({kBlock}), time_ = needed({kTime});
    for (std::size_t i = 0; i < kCounters.size(); ++i)
      counters_[i] = columns.find({kCounters[i].metric, kCounters[i].other_name});
    if (!counters_[0]) needed({kCounters[0].metric});
  }

  void read_units() {
    const bool has_row = lines_.next();
    if (has_row) split_csv(lines_.line(), cells_);
    const std::optional<int> digits = has_row ? ns_digits(field_at(cells_, time_)) : std::nullopt;
    if (!digits) fail(fmt::format("`{}` has no unit of time, expected a row of units below the header", kTime));
    digits_ = *digits;
  }

  std::optional<CountedLaunch> launch_of_row() {
    CountedLaunch launch;
    launch.kernel = readable_name(unquoted(field_at(cells_, kernel_)));
    launch.blocks = product_in(grid_);
    launch.threads = static_cast<std::uint32_t>(product_in(block_));
    if (field_at(cells_, counters_[0]) == "n/a" || field_at(cells_, time_) == "n/a") return std::nullopt;
    launch.counted.launches = 1;
    launch.counted.mean_ns = number_in(time_, digits_, kLongestNs);
    for (std::size_t i = 0; i < kCounters.size(); ++i) {
      if (!counters_[i] || field_at(cells_, counters_[i]) == "n/a") continue;
      const bool is_hits = kCounters[i].value == &CounterRecord::l2_hits_ppm;
      const std::int64_t ppm = number_in(*counters_[i], kPpmDigits, is_hits ? kMostHits : CounterRecord::kMost);
      const bool is_known = !is_hits || ppm <= CounterRecord::kWhole;
      launch.counted.*kCounters[i].value = is_known ? static_cast<std::uint32_t>(ppm) : 0;
    }
    return launch;
  }

  std::uint64_t product_in(std::size_t column) const {
    const std::string_view cell = field_at(cells_, column);
    const std::optional<std::uint64_t> product = product_of(cell);
    if (!product) fail(fmt::format("`{}` as the {}, expected three numbers in brackets", cell, header_[column]));
    return *product;
  }

  std::int64_t number_in(std::size_t column, int digits, std::int64_t most) const {
    const std::string_view cell = field_at(cells_, column);
    const std::optional<std::int64_t> number = parse_decimal(without_grouping(cell), digits);
    if (!number || *number < 0 || *number > most)
      fail(fmt::format("`{}` as `{}`, expected a number of what the device has", cell, header_[column]));
    return *number;
  }

  CsvLines lines_;
  const std::string& path_;
  std::vector<std::string_view> header_, cells_;
  std::size_t kernel_ = 0, grid_ = 0, block_ = 0, time_ = 0;
  std::array<std::optional<std::size_t>, kCounters.size()> counters_;
  int digits_ = 0;
};

}  // namespace

std::string counter_metrics() {
  std::string metrics{kTime};
  for (const Counter& counter : kCounters) metrics += fmt::format(",{}", counter.metric);
  return metrics;
}

std::vector<CountedLaunch> read_ncu_csv(std::string_view text, const std::string& path) {
  return Report(text, path).read();
}

}  // namespace corun
