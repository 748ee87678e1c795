#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "traces/reader.h"
#include "traces/text/csv_lines.h"
#include "traces/timeline.h"

namespace corun {

/// Turns rows of the PresentMon family (PresentMon 1.x and 2.x, OCAT, FrameView, CapFrameX) into frames.
///
/// The programs share columns, not their order, number or spelling; a column that is missing leaves its fact unknown.
/// With P = present call, C = start of the frame's CPU work = P - CPUBusy:
///
/// | fact        | 1.x, OCAT, CapFrameX       | 2.x                               |
/// |-------------|----------------------------|-----------------------------------|
/// | present     | TimeInSeconds, QPCTime     | TimeIn..., or CPUStart... + CPUBusy |
/// | interval    | MsBetweenPresents          | the same; else from present to present, the first FrameTime |
/// | in present  | MsInPresentAPI             | the same; else CPUWait            |
/// | GPU begin   | P + MsUntilRenderStart     | GPU end - GPUTime, or C + GPULatency |
/// | GPU end     | P + MsUntilRenderComplete  | P + MsRenderPresentLatency, or C + GPULatency + GPUTime |
/// | GPU busy    | MsGPUActive                | GPUBusy                           |
/// | dropped     | Dropped                    | DisplayedTime or MsUntilDisplayed is NA |
///
/// In 1.x an offset of exactly 0 means that it was not tracked; in 2.x a GPUTime of 0 does. Version 2 cuts GPULatency
/// off at 0: where work began before the frame's CPU work did, begin and end come out late by that much.
class FrameRows {
 public:
  /// `columns` names the fields of each row; `where` names the file in messages; `application` is used for rows that do
  /// not name theirs. Throws Error(kInput) if the columns hold neither a time nor an interval.
  FrameRows(CsvColumns columns, TimelineBuilder& builder, std::string where, std::string application = {});

  /// Takes one row, or counts it as skipped under `where`.
  void add(const std::vector<std::string_view>& fields, std::string_view where);
  /// What follows is a recording of its own, whose clock may have begun again: it is laid behind the last one, and its
  /// swap chains are its own. A chain whose time goes back by more than a second begins one, too.
  void begin_run();
  /// Adds the frames to the builder, with the fidelity and clock the columns allow. Once, after the last row.
  void finish();

  std::size_t size() const { return rows_.size(); }

 private:
  struct Row {
    FrameRecord frame;
    std::optional<std::int64_t> time_ns;  // as the chosen column has it
    std::int64_t present_after_time_ns = 0;
    std::optional<std::int64_t> gpu_begin_ns, gpu_end_ns;  // after the present call
    std::int64_t frame_time_ns = -1;                       // CPU start to CPU start
    std::uint32_t run = 0;
  };
  /// A swap chain of a run, and what its rows say of it.
  struct Chain {
    SwapchainRecord record;
    std::optional<std::int64_t> last_time_ns = {};
    std::uint64_t synced = 0, unsynced = 0;
    std::int64_t load_sum_ppm = 0, loads = 0;
  };
  struct TimeColumn {
    std::size_t column = 0;
    int scale = 0;  // decimal digits from its unit to nanoseconds
    bool is_cpu_start = false;
    bool is_qpc = false;
  };

  void find_columns();
  void choose_time_column(const std::vector<std::string_view>& fields);
  const char* fault_of(const std::vector<std::string_view>& fields) const;
  std::uint32_t chain_of(const std::vector<std::string_view>& fields);
  void note_chain(const std::vector<std::string_view>& fields, Chain& chain) const;
  void name_chains();
  void note_long_gpu_times();
  void read_gpu(const std::vector<std::string_view>& fields, Row& row) const;
  bool is_dropped(const std::vector<std::string_view>& fields) const;
  std::optional<std::int64_t> ms(const std::vector<std::string_view>& fields, std::optional<std::size_t> column) const;

  void fix_unit();
  void place_rows();
  void place_gpu_work();
  void fill_intervals();

  CsvColumns columns_;
  TimelineBuilder& builder_;
  std::string application_;
  std::vector<Row> rows_;
  std::vector<Chain> chains_;  // FrameRecord::swapchain is an index into them until finish()
  std::unordered_map<std::string, std::uint32_t> chain_index_;
  std::uint32_t run_ = 0;
  bool has_chosen_time_ = false;
  std::optional<TimeColumn> time_;
  std::optional<std::size_t> application_column_, process_, swapchain_, dropped_, frame_type_, interval_, frame_time_,
      cpu_busy_, cpu_wait_, in_present_, render_start_, render_complete_, gpu_latency_, gpu_time_, gpu_busy_,
      displayed_, sync_interval_, gpu_load_;
};

/// True if the line names columns of the PresentMon family.
bool is_presentmon_header(std::string_view line);

/// Reads the table whose header `lines` stands at, to the end of the file, and fills in the file's provenance except
/// the format's name. Rows are those of a CsvTable: OCAT writes 29 columns once and 17 from then on. A repeated header
/// begins another run. Throws Error(kInput) if the header has no column of times.
void read_presentmon_table(CsvLines& lines, const SourceFile& source, TimelineBuilder& builder);

}  // namespace corun
