#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "traces/base/error.h"
#include "traces/importers/importers.h"
#include "traces/text/csv_lines.h"
#include "traces/text/decimal.h"

namespace corun {
namespace {

constexpr std::string_view kHeader = "Name,Profile,Memory_footprint,SM_usage,Duration";
constexpr std::size_t kNumbers = 4;  // fields behind the name
constexpr std::int64_t kLatestNs = std::int64_t{1} << 60;
constexpr std::size_t kFewestRowsToJudge = 8;

// The name and the numbers behind it: names hold commas that are not quoted.
struct ProfileRow {
  std::string_view name;
  std::optional<std::int64_t> needed_sms, duration_ns;
};

std::optional<ProfileRow> row_of(std::string_view line) {
  std::size_t end = line.size(), begin = end;
  std::string_view numbers[kNumbers];
  for (std::size_t i = kNumbers; i-- > 0; end = begin) {
    begin = line.rfind(',', end == line.size() ? end : end - 1);
    if (begin == std::string_view::npos || begin == 0) return std::nullopt;
    numbers[i] = line.substr(begin + 1, end - begin - 1);
  }
  std::string_view name = line.substr(0, end);
  if (name.size() >= 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
  return ProfileRow{name, parse_decimal(numbers[2], 0), parse_decimal(numbers[3], 0)};
}

class OrionImporter final : public TraceImporter {
 public:
  std::string_view name() const override { return "orion"; }
  std::string_view description() const override {
    return "Orion kernel profile: one iteration's kernels in order, without times of their own";
  }

  int sniff(const SourceFile& source) const override {
    CsvLines lines{std::string_view{source.bytes}.substr(0, 4096)};
    return lines.next() && lines.line().starts_with(kHeader) ? 90 : 0;
  }

  Timeline read(const SourceFile& source) const override {
    CsvLines lines{source.bytes};
    if (!lines.next() || !lines.line().starts_with(kHeader)) {
      throw Error(ErrorKind::kInput, SourceLocation{source.path, 1},
                  fmt::format("the first line is no header of a profile, expected {}", kHeader));
    }
    TimelineBuilder builder;
    set_provenance(source, builder);
    const std::string& file = builder.provenance().source_file;
    std::int64_t start_ns = 0;
    std::vector<std::int64_t> durations;
    while (lines.next()) {
      const auto row = row_of(lines.line());
      const bool is_whole = row && row->needed_sms && row->duration_ns && *row->needed_sms >= 0;
      if (!is_whole || *row->duration_ns < 0 || *row->duration_ns > kLatestNs - start_ns) {
        builder.skip("row without four numbers behind the name", fmt::format("{}:{}", file, lines.number()));
        continue;
      }
      add_kernel(*row, start_ns, builder);
      start_ns += *row->duration_ns;
      durations.push_back(*row->duration_ns);
    }
    note_placeholders(durations, builder);
    return std::move(builder).seal();
  }

 private:
  void set_provenance(const SourceFile& source, TimelineBuilder& builder) const {
    Provenance& provenance = builder.provenance();
    provenance.source_format = name();
    provenance.source_file = std::filesystem::path(source.path).filename().string();
    provenance.content_hash = source.hash;
    provenance.clock = "capture_start";
    provenance.notes.push_back("The profile has no times: kernels are laid back to back.");
    provenance.notes.push_back("Grids hold the number of SMs a kernel needs; blocks are not known.");
    builder.fidelity().has_times = false;
  }

  static void add_kernel(const ProfileRow& row, std::int64_t start_ns, TimelineBuilder& builder) {
    OpRecord op{.start_ns = start_ns, .duration_ns = *row.duration_ns};
    op.name = builder.intern(row.name.substr(0, kLongestName));
    op.queue = builder.queue({});
    LaunchShape shape;
    shape.grid_x = static_cast<std::uint32_t>(std::min<std::int64_t>(*row.needed_sms, UINT32_MAX));
    shape.grid_y = shape.grid_z = 1;
    op.shape = builder.shape(shape);
    builder.add(op);
  }

  static void note_placeholders(const std::vector<std::int64_t>& durations, TimelineBuilder& builder) {
    const auto differs = [&](std::int64_t duration) { return duration != durations.front(); };
    if (durations.size() < kFewestRowsToJudge || std::any_of(durations.begin(), durations.end(), differs)) return;
    builder.provenance().notes.push_back(
        fmt::format("Every duration is {} ns: placeholders, not a measurement.", durations.front()));
  }
};

}  // namespace

std::unique_ptr<TraceImporter> make_orion_importer() { return std::make_unique<OrionImporter>(); }

}  // namespace corun
