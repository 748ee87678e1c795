#include "traces/importers/frame_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "traces/base/error.h"
#include "traces/importers/importers.h"
#include "traces/text/decimal.h"

namespace corun {
namespace {

using Fields = std::vector<std::string_view>;

constexpr int kNsPerTickDigits = 2;  // performance counter of 10 MHz, which every Windows since 10 has

// GPU work begins before the first present; this keeps every instant positive until the timeline finds its origin.
constexpr std::int64_t kHeadroomNs = 1'000'000'000'000;
constexpr std::int64_t kLongestOffsetNs = kHeadroomNs / 2;
constexpr std::int64_t kLatestNs = std::int64_t{1} << 60;
constexpr std::int64_t kNewRunNs = 1'000'000'000;

std::optional<std::int64_t> time_at(const Fields& fields, std::size_t column, int scale) {
  const auto ns = parse_decimal(field_at(fields, column), scale);
  return ns && *ns <= kLatestNs && *ns >= -kLatestNs ? ns : std::nullopt;
}

struct TimeName {
  std::string_view name;
  int scale;
  bool is_cpu_start;
  bool is_qpc;
};

// In order of preference: the present call itself, then the start of the frame.
constexpr auto kTimeNames = std::to_array<TimeName>({
    {"TimeInSeconds", kNsPerSDigits, false, false},
    {"TimeInMs", kNsPerMsDigits, false, false},
    {"TimeInQPC", kNsPerTickDigits, false, true},
    {"TimeInQPCMs", kNsPerMsDigits, false, true},
    {"TimeInQPCTime", kNsPerMsDigits, false, true},
    {"TimeInQPCTimeInMs", kNsPerMsDigits, false, true},
    {"QPCTime", kNsPerTickDigits, false, true},
    {"CPUStartTime", kNsPerMsDigits, true, false},
    {"CPUStartTimeInMs", kNsPerMsDigits, true, false},
    {"CPUStartTimeInSeconds", kNsPerSDigits, true, false},
    {"CPUStartQPC", kNsPerTickDigits, true, true},
    {"CPUStartQPCTime", kNsPerMsDigits, true, true},
    {"CPUStartQPCTimeInMs", kNsPerMsDigits, true, true},
});

bool is_application_frame(std::string_view type) {
  constexpr std::string_view kOwn[] = {"", "NA", "Application", "NotSet", "Unspecified"};
  return std::find(std::begin(kOwn), std::end(kOwn), type) != std::end(kOwn);
}

std::int64_t or_unknown(std::optional<std::int64_t> ns) { return ns && *ns >= 0 ? *ns : -1; }

// Version 1 writes 0 for what it did not track.
std::optional<std::int64_t> unless_zero(std::optional<std::int64_t> ns) { return ns == 0 ? std::nullopt : ns; }

}  // namespace

FrameRows::FrameRows(CsvColumns columns, TimelineBuilder& builder, std::string where, std::string application)
    : columns_(std::move(columns)), builder_(builder), application_(std::move(application)) {
  find_columns();
  const bool has_time =
      std::any_of(kTimeNames.begin(), kTimeNames.end(), [&](const TimeName& name) { return columns_.has(name.name); });
  if (has_time || interval_ || frame_time_) return;
  throw Error(ErrorKind::kInput, SourceLocation{std::move(where)},
              "no column holds the times of frames, expected MsBetweenPresents, FrameTime or TimeInSeconds");
}

void FrameRows::find_columns() {
  application_column_ = columns_.find({"Application", "ProcessName"});
  process_ = columns_.find({"ProcessID"});
  swapchain_ = columns_.find({"SwapChainAddress"});
  dropped_ = columns_.find({"Dropped"});
  frame_type_ = columns_.find({"FrameType"});
  interval_ = columns_.find({"MsBetweenPresents"});
  frame_time_ = columns_.find({"FrameTime", "MsBetweenAppStart"});
  cpu_busy_ = columns_.find({"CPUBusy", "MsCPUBusy", "CpuActive", "MsCPUActive"});
  cpu_wait_ = columns_.find({"CPUWait", "MsCPUWait"});
  in_present_ = columns_.find({"MsInPresentAPI"});
  render_start_ = columns_.find({"MsUntilRenderStart"});
  render_complete_ = columns_.find({"MsRenderPresentLatency", "MsUntilRenderComplete"});
  gpu_latency_ = columns_.find({"GPULatency", "MsGPULatency"});
  gpu_time_ = columns_.find({"GPUTime", "MsGPUTime"});
  gpu_busy_ = columns_.find({"GPUBusy", "MsGPUBusy", "MsGPUActive", "GpuActive"});
  displayed_ = columns_.find({"DisplayedTime", "MsUntilDisplayed"});
  sync_interval_ = columns_.find({"SyncInterval"});
  gpu_load_ = columns_.find({"GPU0Util(%)", "GPUUtilization", "GpuUtilization", "GPUUtil(%)"});
}

// The first row decides: a column of dates is passed over.
void FrameRows::choose_time_column(const Fields& fields) {
  has_chosen_time_ = true;
  for (const TimeName& candidate : kTimeNames) {
    const auto column = columns_.find({candidate.name});
    if (!column || !time_at(fields, *column, candidate.scale)) continue;
    if (candidate.is_cpu_start && !cpu_busy_) continue;
    time_ = TimeColumn{*column, candidate.scale, candidate.is_cpu_start, candidate.is_qpc};
    if (candidate.name == "QPCTime" && is_fractional(fields[*column])) time_->scale = kNsPerSDigits;
    return;
  }
}

void FrameRows::add(const Fields& fields, std::string_view where) {
  if (!has_chosen_time_) choose_time_column(fields);
  if (const char* fault = fault_of(fields)) return builder_.skip(fault, where);
  Row row;
  row.run = run_;
  row.frame.interval_ns = or_unknown(ms(fields, interval_));
  row.frame.cpu_busy_ns = or_unknown(ms(fields, cpu_busy_));
  row.frame.in_present_ns = or_unknown(ms(fields, in_present_ ? in_present_ : cpu_wait_));
  row.frame.gpu_busy_ns = or_unknown(ms(fields, gpu_busy_));
  row.frame.dropped = is_dropped(fields);
  row.frame_time_ns = or_unknown(ms(fields, frame_time_));
  if (time_) row.time_ns = time_at(fields, time_->column, time_->scale);
  row.frame.swapchain = chain_of(fields);
  if (const auto last = chains_[row.frame.swapchain].last_time_ns; last && *row.time_ns < *last - kNewRunNs) {
    begin_run();
    row.run = run_;
    row.frame.swapchain = chain_of(fields);
  }
  chains_[row.frame.swapchain].last_time_ns = row.time_ns;
  note_chain(fields, chains_[row.frame.swapchain]);
  if (time_ && time_->is_cpu_start) row.present_after_time_ns = std::max<std::int64_t>(row.frame.cpu_busy_ns, 0);
  read_gpu(fields, row);
  rows_.push_back(row);
}

// Why a row cannot be a frame; nullptr if it can.
const char* FrameRows::fault_of(const Fields& fields) const {
  if (application_column_ && field_at(fields, application_column_) == "Application") return "repeated header";
  if (frame_type_ && !is_application_frame(field_at(fields, frame_type_))) return "generated frame";
  if (time_ && !time_at(fields, time_->column, time_->scale)) return "row without a time";
  if (time_ && time_->is_cpu_start && !ms(fields, cpu_busy_)) return "row without CPU busy time";
  const auto interval = ms(fields, interval_ ? interval_ : frame_time_);
  if (!time_ && !interval) return "row without an interval";
  if (interval && *interval < 0) return "row with a negative interval";
  return nullptr;
}

void FrameRows::begin_run() {
  if (!rows_.empty() && rows_.back().run == run_) ++run_;
}

std::uint32_t FrameRows::chain_of(const Fields& fields) {
  std::string application = unquoted(field_at(fields, application_column_));
  if (application.empty()) application = application_;
  SwapchainRecord record;
  record.run = run_ + 1;
  record.application = builder_.intern(std::string_view{application}.substr(0, kLongestName));
  record.process =
      static_cast<std::uint64_t>(std::max<std::int64_t>(parse_integer(field_at(fields, process_)).value_or(0), 0));
  record.address = field_at(fields, swapchain_).substr(0, kLongestName);
  const std::string key =
      fmt::format("{} {} {} {}", record.run, record.application.value, record.process, record.address);
  const auto [found, is_new] = chain_index_.try_emplace(key, static_cast<std::uint32_t>(chains_.size()));
  if (is_new) chains_.push_back({record});
  return found->second;
}

void FrameRows::note_chain(const Fields& fields, Chain& chain) const {
  if (const auto interval = parse_integer(field_at(fields, sync_interval_)); interval && *interval >= 0)
    ++(*interval > 0 ? chain.synced : chain.unsynced);
  constexpr int kPpmPerPercentDigits = 4;
  const auto load = parse_decimal(field_at(fields, gpu_load_), kPpmPerPercentDigits);
  if (!load || *load < 0 || *load > 1'000'000) return;
  chain.load_sum_ppm += *load;
  ++chain.loads;
}

// Swap chains of a file with one run have no run's number.
void FrameRows::name_chains() {
  std::vector<std::uint32_t> places;
  for (Chain& chain : chains_) {
    SwapchainRecord record = chain.record;
    if (run_ == 0) record.run = 0;
    if (chain.synced + chain.unsynced > 0) record.vsync = chain.synced > chain.unsynced ? Vsync::kOn : Vsync::kOff;
    if (chain.loads > 0) record.gpu_load_ppm = static_cast<std::uint32_t>(chain.load_sum_ppm / chain.loads);
    places.push_back(builder_.swapchain(record));
  }
  for (Row& row : rows_) row.frame.swapchain = places[row.frame.swapchain];
}

void FrameRows::note_long_gpu_times() {
  std::size_t longer = 0;
  std::int64_t busy_us = 0, interval_us = 0;
  for (const Row& row : rows_) {
    if (row.frame.gpu_busy_ns < 0 || row.frame.interval_ns <= 0) continue;
    busy_us += row.frame.gpu_busy_ns / 1000;
    interval_us += row.frame.interval_ns / 1000;
    longer += row.frame.gpu_busy_ns > 2 * row.frame.interval_ns ? 1 : 0;
  }
  const bool is_impossible = busy_us > interval_us + interval_us / 50;
  if (longer == 0 && !is_impossible) return;
  std::string note = fmt::format("{} frames have a GPU time of more than twice the interval between presents", longer);
  if (is_impossible)
    note += fmt::format("; together they have {:.0f} % of the time that passed, which one GPU cannot work",
                        100.0 * static_cast<double>(busy_us) / static_cast<double>(interval_us));
  builder_.provenance().notes.push_back(note + ".");
}

void FrameRows::read_gpu(const Fields& fields, Row& row) const {
  const auto gpu_time = ms(fields, gpu_time_), latency = ms(fields, gpu_latency_);
  row.gpu_begin_ns = unless_zero(ms(fields, render_start_));
  row.gpu_end_ns = unless_zero(ms(fields, render_complete_));
  if (!gpu_time || *gpu_time == 0) return;
  // GPULatency is cut off at 0 where work began before the frame did, so the end is the better anchor.
  if (row.gpu_end_ns) {
    row.gpu_begin_ns = *row.gpu_end_ns - *gpu_time;
  } else if (latency && row.frame.cpu_busy_ns >= 0) {
    row.gpu_begin_ns = *latency - row.frame.cpu_busy_ns;
    row.gpu_end_ns = *row.gpu_begin_ns + *gpu_time;
  }
}

bool FrameRows::is_dropped(const Fields& fields) const {
  if (dropped_) {
    const std::string_view text = field_at(fields, dropped_);
    return text == "1" || text == "true" || text == "True";
  }
  return displayed_ && field_at(fields, displayed_) == "NA";
}

std::optional<std::int64_t> FrameRows::ms(const Fields& fields, std::optional<std::size_t> column) const {
  const auto ns = parse_decimal(field_at(fields, column), kNsPerMsDigits);
  if (!ns || *ns > kLongestOffsetNs || *ns < -kLongestOffsetNs) return std::nullopt;
  return ns;
}

void FrameRows::finish() {
  fix_unit();
  place_rows();
  place_gpu_work();
  fill_intervals();
  note_long_gpu_times();
  name_chains();
  for (const Row& row : rows_) builder_.add(row.frame);

  builder_.provenance().origin_ns -= kHeadroomNs;
  builder_.provenance().clock = time_ && time_->is_qpc ? "qpc" : "capture_start";
  builder_.fidelity().has_frames = true;
  builder_.fidelity().has_durations =
      std::any_of(rows_.begin(), rows_.end(), [](const Row& row) { return row.frame.gpu_busy_ns >= 0; });
}

// Programs disagree whether some time columns hold seconds or milliseconds; the intervals show it.
void FrameRows::fix_unit() {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> last_of_chain;
  std::int64_t steps_ns = 0, intervals_ns = 0;
  for (const Row& row : rows_) {
    if (!row.time_ns) continue;
    const auto [last, is_first] = last_of_chain.try_emplace({row.run, row.frame.swapchain}, *row.time_ns);
    const std::int64_t interval_ns = row.frame.interval_ns >= 0 ? row.frame.interval_ns : row.frame_time_ns;
    const std::int64_t step_ns = *row.time_ns - last->second;
    last->second = *row.time_ns;
    if (is_first || interval_ns <= 0 || step_ns <= 0 || step_ns > kLongestOffsetNs) continue;
    steps_ns += step_ns / 1000;
    intervals_ns += interval_ns / 1000;
  }
  if (steps_ns == 0 || intervals_ns / steps_ns < 300) return;
  for (Row& row : rows_) {
    if (row.time_ns) *row.time_ns = std::clamp(*row.time_ns, -kLatestNs / 1000, kLatestNs / 1000) * 1000;
  }
  builder_.provenance().notes.push_back("The time column was taken as seconds: its steps fit the intervals only so.");
}

// Gives every row its present time.
void FrameRows::place_rows() {
  std::map<std::uint32_t, std::int64_t> summed_ns;  // of each swap chain, where no column has times
  std::int64_t shift_ns = kHeadroomNs, latest_ns = kHeadroomNs;
  std::uint32_t run = 0;
  for (Row& row : rows_) {
    if (!row.time_ns) {
      const std::int64_t interval_ns = row.frame.interval_ns >= 0 ? row.frame.interval_ns : row.frame_time_ns;
      const auto [sum, is_first] = summed_ns.try_emplace(row.frame.swapchain, 0);
      if (!is_first) sum->second += interval_ns;
      row.time_ns = sum->second;
    }
    const std::int64_t present_ns = *row.time_ns + row.present_after_time_ns;
    if (row.run != run) {
      shift_ns = latest_ns + std::max<std::int64_t>(row.frame.interval_ns, 0) - present_ns;
      run = row.run;
    }
    row.frame.present_ns = present_ns + shift_ns;
    latest_ns = std::max(latest_ns, row.frame.present_ns);
  }
  if (!time_ && !rows_.empty()) {
    builder_.provenance().notes.push_back("No column holds times: they are sums of the intervals.");
  }
  if (run > 0) builder_.provenance().notes.push_back(fmt::format("The file holds {} runs.", run + 1));
}

void FrameRows::place_gpu_work() {
  for (Row& row : rows_) {
    const auto begin = row.gpu_begin_ns, end = row.gpu_end_ns;
    if (begin && end && *begin > *end) continue;
    if (begin) row.frame.gpu_begin_ns = row.frame.present_ns + *begin;
    if (end) row.frame.gpu_end_ns = row.frame.present_ns + *end;
  }
}

// Rows without an interval of their own get the time since the chain's last present.
void FrameRows::fill_intervals() {
  std::vector<Row*> in_order;
  for (Row& row : rows_) in_order.push_back(&row);
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const Row* a, const Row* b) { return a->frame.present_ns < b->frame.present_ns; });
  std::map<std::uint32_t, std::int64_t> last_present_ns;
  for (Row* row : in_order) {
    const auto [last, is_first] = last_present_ns.try_emplace(row->frame.swapchain, row->frame.present_ns);
    if (row->frame.interval_ns < 0) {
      row->frame.interval_ns = is_first ? row->frame_time_ns : row->frame.present_ns - last->second;
    }
    last->second = row->frame.present_ns;
  }
}

}  // namespace corun
