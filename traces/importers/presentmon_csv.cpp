#include <fmt/format.h>

#include <filesystem>

#include "traces/base/error.h"
#include "traces/importers/frame_rows.h"
#include "traces/importers/importers.h"
#include "traces/text/csv_lines.h"

namespace corun {
namespace {

std::string_view version_of(const CsvColumns& columns) {
  if (columns.has("MsCPUBusy") || columns.has("MsRenderPresentLatency")) return "current";
  return columns.has("CPUBusy") ? "v2" : "v1";
}

}  // namespace

bool is_presentmon_header(std::string_view line) {
  std::vector<std::string_view> names;
  split_csv(line, names, separator_of(line));
  const CsvColumns columns{names};
  if (columns.has("MsBetweenPresents")) return true;
  return columns.find({"Application", "ProcessName"}).has_value() &&
         columns.find({"FrameTime", "MsInPresentAPI", "TimeInSeconds", "CPUBusy"}).has_value();
}

void read_presentmon_table(CsvLines& lines, const SourceFile& source, TimelineBuilder& builder) {
  const std::string file = std::filesystem::path(source.path).filename().string();
  const std::string header_at = fmt::format("{}:{}", source.path, lines.number());
  CsvTable table(lines);
  const CsvColumns& columns = table.columns();
  FrameRows rows{columns, builder, header_at};
  while (table.next()) {
    const std::string where = fmt::format("{}:{}", file, lines.number());
    if (table.is_header()) {
      rows.begin_run();
      continue;
    }
    if (const char* fault = table.fault()) {
      builder.skip(fault, where);
      continue;
    }
    const std::string_view gpu = field_at(table.cells(), columns.find({"GPU"}));
    if (builder.provenance().devices.empty() && !gpu.empty())
      builder.provenance().devices.push_back({.name = unquoted(gpu)});
    rows.add(table.cells(), where);
  }
  rows.finish();
  builder.provenance().source_version = version_of(columns);
  builder.provenance().source_file = file;
  builder.provenance().content_hash = source.hash;
}

namespace {

class PresentMonImporter final : public TraceImporter {
 public:
  std::string_view name() const override { return "presentmon"; }
  std::string_view description() const override {
    return "PresentMon 1.x and 2.x, OCAT and FrameView CSV: frames with GPU times where the columns have them";
  }

  int sniff(const SourceFile& source) const override {
    CsvLines lines{std::string_view{source.bytes}.substr(0, kSniffedBytes)};
    return lines.next() && is_presentmon_header(lines.line()) ? 90 : 0;
  }

  Timeline read(const SourceFile& source) const override {
    CsvLines lines{source.bytes};
    if (!lines.next() || !is_presentmon_header(lines.line())) {
      throw Error(ErrorKind::kInput, SourceLocation{source.path, 1},
                  "the first line is no PresentMon header, expected Application, ProcessID, ... MsBetweenPresents");
    }
    TimelineBuilder builder;
    builder.provenance().source_format = name();
    read_presentmon_table(lines, source, builder);
    return std::move(builder).seal();
  }
};

}  // namespace

std::unique_ptr<TraceImporter> make_presentmon_importer() { return std::make_unique<PresentMonImporter>(); }

}  // namespace corun
