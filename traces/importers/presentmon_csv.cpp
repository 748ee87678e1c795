#include <fmt/format.h>

#include <filesystem>

#include "traces/base/error.h"
#include "traces/importers/csv_lines.h"
#include "traces/importers/frame_rows.h"
#include "traces/importers/importers.h"
#include "traces/importers/presentmon_table.h"

namespace corun {
namespace {

std::string_view version_of(const CsvColumns& columns) {
  if (columns.has("MsCPUBusy") || columns.has("MsRenderPresentLatency")) return "current";
  return columns.has("CPUBusy") ? "v2" : "v1";
}

}  // namespace

bool is_presentmon_header(std::string_view line) {
  std::vector<std::string_view> names;
  split_csv(line, names);
  const CsvColumns columns{names};
  return columns.has("Application") && columns.has("ProcessID") &&
         columns.find({"MsBetweenPresents", "FrameTime", "MsInPresentAPI", "TimeInSeconds", "CPUBusy"}).has_value();
}

void read_presentmon_table(CsvLines& lines, const SourceFile& source, TimelineBuilder& builder) {
  const std::string file = std::filesystem::path(source.path).filename().string();
  std::vector<std::string_view> fields;
  split_csv(lines.line(), fields);
  const CsvColumns columns{fields};
  FrameRows rows{columns, builder, fmt::format("{}:{}", source.path, lines.number())};
  std::size_t usual_fields = 0;
  while (lines.next()) {
    split_csv(lines.line(), fields);
    const std::string where = fmt::format("{}:{}", file, lines.number());
    if (lines.is_cut_off() && fields.size() < usual_fields) {
      builder.skip("last row is cut off", where);
      continue;
    }
    usual_fields = fields.size();
    const std::string_view gpu = field_at(fields, columns.find({"GPU"}));
    if (builder.provenance().devices.empty() && !gpu.empty()) {
      builder.provenance().devices.push_back({.name = std::string{gpu}});
    }
    rows.add(fields, where);
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
    CsvLines lines{std::string_view{source.bytes}.substr(0, 64 << 10)};
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
