#include <fmt/format.h>

#include <array>
#include <chrono>
#include <filesystem>

#include "traces/base/error.h"
#include "traces/importers/importers.h"
#include "traces/text/csv_lines.h"
#include "traces/text/decimal.h"

namespace corun {
namespace {

constexpr std::string_view kTitle = "Hardware monitoring log";
constexpr std::int64_t kLongestFrameNs = 1'000'000'000'000;

/// Kind of a line, its first cell: 0 title, 1 GPU, 2 names of columns, 3 their ranges, 80 values.
std::int64_t kind_of(const std::vector<std::string_view>& cells) { return parse_integer(cells.front()).value_or(-1); }

/// Seconds since 1970 of "25-10-2025 18:04:42"; nothing for other text, and for years outside of 1970 to 2200.
std::optional<std::int64_t> seconds_of(std::string_view text) {
  std::array<std::int64_t, 6> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t end = text.find_first_of("-/.: ");
    numbers[i] = parse_integer(text.substr(0, end)).value_or(-1);
    if (numbers[i] < 0 || numbers[i] > 9999) return std::nullopt;
    if (end == std::string_view::npos && i + 1 < numbers.size()) return std::nullopt;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  using namespace std::chrono;
  const bool is_year_first = numbers[0] > 31;
  const auto [first, month, last] = std::array{numbers[0], numbers[1], numbers[2]};
  const year_month_day date{year{static_cast<int>(is_year_first ? first : last)},
                            std::chrono::month{static_cast<unsigned>(month)},
                            day{static_cast<unsigned>(is_year_first ? last : first)}};
  const bool is_in_range = date.ok() && date.year() >= year{1970} && date.year() <= year{2200};
  if (!is_in_range || numbers[3] > 23 || numbers[4] > 59 || numbers[5] > 60) return std::nullopt;
  return sys_days{date}.time_since_epoch().count() * 86'400 + numbers[3] * 3'600 + numbers[4] * 60 + numbers[5];
}

/// Reads one log into a builder.
class AfterburnerReading {
 public:
  explicit AfterburnerReading(const SourceFile& source)
      : source_(source), file_(std::filesystem::path(source.path).filename().string()), lines_(source.bytes) {}

  Timeline read() {
    std::vector<std::string_view> cells;
    while (lines_.next()) {
      split_csv(lines_.line(), cells);
      const std::int64_t kind = kind_of(cells);
      if (kind == 1 && cells.size() > 2 && builder_.provenance().devices.empty())
        builder_.provenance().devices.push_back({.name = unquoted(cells[2].substr(0, 4096))});
      if (kind == 2) find_columns(cells);
      if (kind == 80) read_row(cells);
    }
    if (header_cells_ == 0)
      throw Error(ErrorKind::kInput, SourceLocation{source_.path}, "no line of column names, expected `02, DATE, ...`");
    return finish();
  }

 private:
  void find_columns(const std::vector<std::string_view>& cells) {
    const CsvColumns columns{cells};
    frame_time_ = columns.find({"Frametime"});
    load_ = columns.find({"GPU usage", "GPU1 usage", "GPU usage, %"});
    header_cells_ = cells.size();
    if (!frame_time_)
      throw Error(ErrorKind::kInput, SourceLocation{source_.path, lines_.number()},
                  "no column `Frametime`, expected a log with frame times",
                  "tick `log to file` for Frametime in the monitoring settings");
  }

  void read_row(const std::vector<std::string_view>& cells) {
    const auto at_s = seconds_of(cells.size() > 1 ? cells[1] : "");
    const auto frame_ns = parse_decimal(field_at(cells, frame_time_), kNsPerMsDigits);
    const char* fault = nullptr;
    if (!at_s) fault = "row without a time";
    if (!frame_ns || *frame_ns <= 0 || *frame_ns > kLongestFrameNs) fault = "row without a frame time";
    if (cells.size() > header_cells_) fault = "row with more cells than the header";
    if (fault != nullptr) return builder_.skip(fault, fmt::format("{}:{}", file_, lines_.number()));
    frames_.push_back({.present_ns = *at_s * 1'000'000'000, .interval_ns = *frame_ns});
    constexpr int kPpmPerPercentDigits = 4;
    const auto load = parse_decimal(field_at(cells, load_), kPpmPerPercentDigits);
    if (!load || *load < 0 || *load > 1'000'000) return;
    load_sum_ppm_ += *load;
    ++loads_;
  }

  Timeline finish() {
    const std::int64_t load_ppm = loads_ > 0 ? load_sum_ppm_ / loads_ : 0;
    const std::uint32_t chain =
        builder_.swapchain({.application = builder_.intern(""), .gpu_load_ppm = static_cast<std::uint32_t>(load_ppm)});
    for (FrameRecord& frame : frames_) {
      frame.swapchain = chain;
      builder_.add(frame);
    }
    Fidelity& fidelity = builder_.fidelity();
    fidelity.has_frames = true;
    fidelity.has_durations = false;
    fidelity.per_frame = false;
    Provenance& provenance = builder_.provenance();
    provenance.source_format = "afterburner";
    provenance.source_file = file_;
    provenance.content_hash = source_.hash;
    provenance.clock = "unknown";
    provenance.notes.push_back(
        "The log samples frames at an interval: its rows are a sample of the frame times, not every frame.");
    return std::move(builder_).seal();
  }

  const SourceFile& source_;
  std::string file_;
  CsvLines lines_;
  TimelineBuilder builder_;
  std::vector<FrameRecord> frames_;
  std::optional<std::size_t> frame_time_, load_;
  std::size_t header_cells_ = 0;
  std::int64_t load_sum_ppm_ = 0, loads_ = 0;
};

class AfterburnerImporter final : public TraceImporter {
 public:
  std::string_view name() const override { return "afterburner"; }
  std::string_view description() const override {
    return "MSI Afterburner log (.hml as text): frame times and GPU load, sampled";
  }

  int sniff(const SourceFile& source) const override {
    CsvLines lines{std::string_view{source.bytes}.substr(0, 4096)};
    return lines.next() && lines.line().find(kTitle) != std::string_view::npos ? 90 : 0;
  }

  Timeline read(const SourceFile& source) const override { return AfterburnerReading{source}.read(); }
};

}  // namespace

std::unique_ptr<TraceImporter> make_afterburner_importer() { return std::make_unique<AfterburnerImporter>(); }

}  // namespace corun
