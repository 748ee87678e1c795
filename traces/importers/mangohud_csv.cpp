#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "traces/base/error.h"
#include "traces/importers/importers.h"
#include "traces/text/csv_lines.h"
#include "traces/text/decimal.h"

namespace corun {
namespace {

constexpr std::int64_t kLongestFrameNs = 1'000'000'000'000'000;  // 1000 s where the column holds microseconds
constexpr std::int64_t kLatestNs = std::int64_t{1} << 60;
constexpr int kExactFps = 6;  // digits kept of frames per second

/// Variants have other columns, and more of them.
bool is_system_header(const CsvColumns& columns) {
  return columns.has("cpu") && columns.has("gpu") && columns.has("kernel");
}
bool is_frame_header(const CsvColumns& columns) {
  return columns.has("fps") && (columns.has("frametime") || columns.has("elapsed")) && !columns.has("Application");
}
bool is_number(std::string_view text) { return parse_decimal(text, 3).has_value(); }

/// Cells at the end that are empty are dropped, down to so many.
void drop_empty_end(std::vector<std::string_view>& fields, std::size_t fewest) {
  while (fields.size() > fewest && fields.back().empty()) fields.pop_back();
}

struct LoggedFrame {
  std::int64_t frame_ns = 0;  // in the frametime column's own unit until fix_units()
  std::optional<std::int64_t> elapsed_ns;
  std::int64_t from_fps_ns = 0;  // 0: not known
};

std::int64_t median(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Reads one log into a builder.
class MangoHudReading {
 public:
  explicit MangoHudReading(const SourceFile& source)
      : source_(source), file_(std::filesystem::path(source.path).filename().string()), lines_(source.bytes) {}

  Timeline read() {
    const bool has_row = find_columns();
    read_rows(has_row);
    fix_units();
    add_frames();
    Provenance& provenance = builder_.provenance();
    provenance.source_format = "mangohud";
    provenance.source_version = version_;
    provenance.source_file = file_;
    provenance.content_hash = source_.hash;
    provenance.clock = "capture_start";
    return std::move(builder_).seal();
  }

 private:
  // Goes to the first row of frames. True if `lines_` stands at a row already: logs of 2020 name no columns.
  bool find_columns() {
    bool has_system = false;
    std::vector<std::string_view> fields;
    while (lines_.next()) {
      split_csv(lines_.line(), fields);
      const CsvColumns columns{fields};
      if (is_frame_header(columns)) {
        drop_empty_end(fields, 0);
        columns_ = CsvColumns{fields};
        return false;
      }
      if (has_system && !has_system_values_) {
        take_system_values(fields);
      } else if (has_system && fields.size() == 4 && std::all_of(fields.begin(), fields.end(), is_number)) {
        columns_ = CsvColumns{{"fps", "cpu_load", "gpu_load", "elapsed"}};
        elapsed_scale_ = kNsPerUsDigits;
        version_ = "2020";
        return true;
      }
      if (is_system_header(columns)) {
        has_system = true;
        gpu_name_ = columns.find({"gpu"});
      }
      if (lines_.line().starts_with('v') && version_.empty()) version_ = std::string{lines_.line().substr(0, 64)};
    }
    throw Error(ErrorKind::kInput, SourceLocation{source_.path, lines_.number()},
                "no line of column names, expected \"fps,frametime,...\" as in a MangoHud log",
                "a file that ends in _summary.csv is a summary, not the log");
  }

  void take_system_values(const std::vector<std::string_view>& fields) {
    has_system_values_ = true;
    const std::string_view gpu = field_at(fields, gpu_name_);
    if (!gpu.empty()) builder_.provenance().devices.push_back({.name = unquoted(gpu.substr(0, 4096))});
  }

  void read_rows(bool is_at_row) {
    std::vector<std::string_view> fields;
    while (is_at_row || lines_.next()) {
      is_at_row = false;
      split_csv(lines_.line(), fields);
      drop_empty_end(fields, columns_.size());
      read_row(fields);
    }
  }

  void read_row(const std::vector<std::string_view>& fields) {
    const auto fps = parse_decimal(field_at(fields, columns_.find({"fps"})), kExactFps);
    const auto frametime = parse_decimal(field_at(fields, columns_.find({"frametime"})), kNsPerMsDigits);
    const auto elapsed_column = columns_.find({"elapsed"});
    const auto elapsed = parse_decimal(field_at(fields, elapsed_column), elapsed_scale_);
    const char* fault = nullptr;
    if (!frametime && (!fps || *fps <= 0)) fault = "row without a frame time";
    if (frametime && (*frametime < 0 || *frametime > kLongestFrameNs)) fault = "row with an impossible frame time";
    if (elapsed_column && (!elapsed || *elapsed > kLatestNs || *elapsed < -kLatestNs))
      fault = "row without an elapsed time";
    if (fields.size() > columns_.size()) fault = "row with more cells than the header";
    if (fields.size() < columns_.size())
      fault = lines_.is_cut_off() ? "last row is cut off" : "row with fewer cells than the header";
    if (fault != nullptr) return builder_.skip(fault, fmt::format("{}:{}", file_, lines_.number()));

    LoggedFrame frame;
    frame.elapsed_ns = elapsed;
    if (fps && *fps > 0) frame.from_fps_ns = 1'000'000'000'000'000 / *fps;
    frame.frame_ns = frametime.value_or(frame.from_fps_ns);
    frames_.push_back(frame);
    take_memory(field_at(fields, columns_.find({"gpu_vram_used"})));
    take_load(field_at(fields, columns_.find({"gpu_load"})));
  }

  // In GiB; of all programs on the GPU.
  void take_memory(std::string_view used) {
    constexpr double kMostGiB = 1 << 20;
    const auto scaled = parse_decimal(used, kNsPerMsDigits);
    const double gib = scaled ? static_cast<double>(*scaled) * 1e-6 : 0;
    if (gib <= 0 || gib > kMostGiB) return;
    builder_.note_memory({.bytes = static_cast<std::uint64_t>(gib * (1U << 30)), .source = MemorySource::kInUse});
  }

  void take_load(std::string_view percent) {
    constexpr int kPpmPerPercentDigits = 4;
    const auto load = parse_decimal(percent, kPpmPerPercentDigits);
    if (!load || *load < 0 || *load > 1'000'000) return;
    load_sum_ppm_ += *load;
    ++loads_;
  }

  // Until 2023 the frametime column held microseconds; the frame rate shows which unit it is.
  void fix_units() {
    std::vector<std::int64_t> ratios;
    for (const LoggedFrame& frame : frames_) {
      if (frame.from_fps_ns > 0) ratios.push_back(frame.frame_ns / frame.from_fps_ns);
    }
    if (median(std::move(ratios)) < 100) return;
    for (LoggedFrame& frame : frames_) frame.frame_ns /= 1000;
    builder_.provenance().notes.push_back("The frametime column holds microseconds.");
  }

  bool is_sampled() const {
    std::vector<std::int64_t> steps, frames;
    for (std::size_t i = 1; i < frames_.size(); ++i) {
      if (!frames_[i].elapsed_ns || !frames_[i - 1].elapsed_ns) continue;
      steps.push_back(*frames_[i].elapsed_ns - *frames_[i - 1].elapsed_ns);
      frames.push_back(frames_[i].frame_ns);
    }
    return 2 * median(std::move(steps)) > 3 * median(std::move(frames));
  }

  void add_frames() {
    FrameRecord frame;
    const std::int64_t load_ppm = loads_ > 0 ? load_sum_ppm_ / loads_ : 0;
    frame.swapchain =
        builder_.swapchain({.application = builder_.intern(""), .gpu_load_ppm = static_cast<std::uint32_t>(load_ppm)});
    std::int64_t summed_ns = 0;
    for (const LoggedFrame& logged : frames_) {
      summed_ns += logged.frame_ns;
      frame.present_ns = logged.elapsed_ns.value_or(summed_ns);
      frame.interval_ns = logged.frame_ns;
      builder_.add(frame);
    }
    Fidelity& fidelity = builder_.fidelity();
    fidelity.has_frames = true;
    fidelity.has_durations = false;
    fidelity.per_frame = !is_sampled();
    if (fidelity.per_frame) return;
    builder_.provenance().notes.push_back(
        "The log samples frames at an interval: its rows are a sample of the frame times, not every frame.");
  }

  const SourceFile& source_;
  std::string file_;
  CsvLines lines_;
  CsvColumns columns_{{}};
  TimelineBuilder builder_;
  std::vector<LoggedFrame> frames_;
  std::string version_;
  int elapsed_scale_ = 0;  // decimal digits from the column's unit to nanoseconds
  bool has_system_values_ = false;
  std::optional<std::size_t> gpu_name_;
  std::int64_t load_sum_ppm_ = 0, loads_ = 0;
};

class MangoHudImporter final : public TraceImporter {
 public:
  std::string_view name() const override { return "mangohud"; }
  std::string_view description() const override {
    return "MangoHud log, 2020 to today: frame times; a log taken at an interval is marked as a sample";
  }

  int sniff(const SourceFile& source) const override {
    CsvLines lines{std::string_view{source.bytes}.substr(0, kSniffedBytes)};
    for (int i = 0; i < 8 && lines.next(); ++i) {
      std::vector<std::string_view> fields;
      split_csv(lines.line(), fields);
      const CsvColumns columns{fields};
      if (is_system_header(columns) || is_frame_header(columns)) return 90;
    }
    return 0;
  }

  Timeline read(const SourceFile& source) const override { return MangoHudReading{source}.read(); }
};

}  // namespace

std::unique_ptr<TraceImporter> make_mangohud_importer() { return std::make_unique<MangoHudImporter>(); }

}  // namespace corun
