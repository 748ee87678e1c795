#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "traces/base/error.h"
#include "traces/importers/frame_rows.h"
#include "traces/importers/importers.h"
#include "traces/text/csv_lines.h"

namespace corun {
namespace {

namespace ondemand = simdjson::ondemand;

bool is_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

/// One recorded run: columns of the same length, side by side.
struct Run {
  std::vector<std::string_view> names;
  std::vector<std::vector<std::string_view>> columns;  // as they stand in the file, without quotation marks

  std::size_t rows() const {
    std::size_t longest = 0;
    for (const auto& column : columns) longest = std::max(longest, column.size());
    return longest;
  }
};

struct Recording {
  std::string process, game, gpu;
  std::vector<Run> runs;
};

std::string_view bare(std::string_view token) {
  constexpr std::string_view kAround = " \t\r\n\"";
  const std::size_t first = token.find_first_not_of(kAround);
  if (first == std::string_view::npos) return {};
  return token.substr(first, token.find_last_not_of(kAround) - first + 1);
}

std::string_view raw_key(ondemand::field& field) {
  const char* begin = field.key().raw();
  const char* end = begin;
  while (*end != '"') ++end;
  return {begin, static_cast<std::size_t>(end - begin)};
}

// Calls `take(key, value)` for every field; true if the object could be read to its end.
template <class Take>
bool each_field(ondemand::value value, Take take) {
  ondemand::object object;
  if (value.get_object().get(object)) return false;
  for (auto item : object) {
    ondemand::field field;
    if (std::move(item).get(field)) return false;
    const std::string_view key = raw_key(field);
    if (!take(key, field.value())) return false;
  }
  return true;
}

template <class Take>
bool each_element(ondemand::value value, Take take) {
  ondemand::array array;
  if (value.get_array().get(array)) return false;
  for (auto item : array) {
    ondemand::value element;
    if (std::move(item).get(element) || !take(element)) return false;
  }
  return true;
}

bool read_text(ondemand::value value, std::string& text) {
  std::string_view view;
  if (value.get_string().get(view) == simdjson::SUCCESS) text = view;
  return true;
}

bool read_columns(ondemand::value value, Run& run) {
  return each_field(value, [&](std::string_view key, ondemand::value column) {
    ondemand::json_type type;
    if (column.type().get(type)) return false;
    if (type != ondemand::json_type::array) return true;
    run.names.push_back(key);
    run.columns.emplace_back();
    return each_element(column, [&](ondemand::value& element) {
      run.columns.back().push_back(bare(element.raw_json_token()));
      return true;
    });
  });
}

bool read_runs(ondemand::value value, Recording& recording) {
  return each_element(value, [&](ondemand::value& element) {
    return each_field(element, [&](std::string_view key, ondemand::value part) {
      if (key != "CaptureData") return true;
      return read_columns(part, recording.runs.emplace_back());
    });
  });
}

bool read_recording(ondemand::document& document, Recording& recording) {
  ondemand::value root;
  if (document.get_value().get(root)) return false;
  return each_field(root, [&](std::string_view key, ondemand::value value) {
    if (key == "Runs") return read_runs(value, recording);
    if (key != "Info") return true;
    return each_field(value, [&](std::string_view name, ondemand::value text) {
      if (name == "ProcessName") return read_text(text, recording.process);
      if (name == "GameName") return read_text(text, recording.game);
      if (name == "GPU") return read_text(text, recording.gpu);
      return true;
    });
  });
}

// Rows of a run, as a table of the PresentMon family.
void add_run(const Run& run, std::size_t number, const std::string& file, FrameRows& rows) {
  std::vector<std::string_view> fields(run.columns.size());
  for (std::size_t row = 0; row < run.rows(); ++row) {
    for (std::size_t i = 0; i < run.columns.size(); ++i) {
      fields[i] = row < run.columns[i].size() ? run.columns[i][row] : std::string_view{};
    }
    rows.add(fields, fmt::format("{}: run {} row {}", file, number, row + 1));
  }
}

Timeline read_json(const SourceFile& source, TimelineBuilder builder) {
  const std::string file = builder.provenance().source_file;
  std::string_view bytes = source.bytes;
  bytes.remove_prefix(bytes.find('{'));  // a byte-order mark
  const simdjson::padded_string text{bytes};
  ondemand::parser parser;
  ondemand::document document;
  Recording recording;
  if (parser.iterate(text).get(document) || !read_recording(document, recording)) {
    throw Error(ErrorKind::kInput, SourceLocation{source.path},
                "the file is not valid JSON to its end, expected a CapFrameX recording");
  }
  std::erase_if(recording.runs, [](const Run& run) { return run.columns.empty(); });
  if (recording.runs.empty()) {
    throw Error(ErrorKind::kInput, SourceLocation{source.path},
                "no run with \"CaptureData\", expected a CapFrameX recording");
  }
  const std::string application = recording.process.empty() ? recording.game : recording.process;
  FrameRows rows{CsvColumns{recording.runs.front().names}, builder, source.path, application};
  for (std::size_t i = 0; i < recording.runs.size(); ++i) {
    if (i > 0) rows.begin_run();
    if (recording.runs[i].names == recording.runs.front().names) {
      add_run(recording.runs[i], i + 1, file, rows);
    } else {
      builder.skip("run with other columns than the first", fmt::format("{}: run {}", file, i + 1));
    }
  }
  rows.finish();
  builder.provenance().source_version = "json";
  if (!recording.gpu.empty()) builder.provenance().devices.push_back({.name = recording.gpu});
  return std::move(builder).seal();
}

// `//Key=Value`
void take_comment(std::string_view line, TimelineBuilder& builder) {
  constexpr std::string_view kGpu = "//GPU=";
  if (line.starts_with(kGpu)) builder.provenance().devices.push_back({.name = std::string{line.substr(kGpu.size())}});
}

Timeline read_csv(const SourceFile& source, TimelineBuilder builder) {
  CsvLines lines{source.bytes};
  bool has_line = lines.next();
  for (; has_line && lines.line().starts_with("//"); has_line = lines.next()) take_comment(lines.line(), builder);
  if (!has_line || !is_presentmon_header(lines.line())) {
    throw Error(ErrorKind::kInput, SourceLocation{source.path, lines.number()},
                "no column names behind the // lines, expected Application, ProcessID, ... MsBetweenPresents");
  }
  read_presentmon_table(lines, source, builder);
  return std::move(builder).seal();
}

class CapFrameXImporter final : public TraceImporter {
 public:
  std::string_view name() const override { return "capframex"; }
  std::string_view description() const override {
    return "CapFrameX recordings, CSV with // lines and JSON with runs: frames";
  }

  int sniff(const SourceFile& source) const override {
    const auto head = std::string_view{source.bytes}.substr(0, kSniffedBytes);
    const auto holds = [&](std::string_view part) { return head.find(part) != std::string_view::npos; };
    if (is_json(head)) {
      if (holds("\"CaptureData\"") || (holds("\"Hash\"") && holds("\"Info\""))) return 90;
      return holds("\"GameName\"") && holds("\"ProcessName\"") ? 60 : 0;
    }
    CsvLines lines{head};
    if (!lines.next() || !lines.line().starts_with("//")) return 0;
    while (lines.line().starts_with("//")) {
      if (!lines.next()) return 0;
    }
    return is_presentmon_header(lines.line()) ? 95 : 0;
  }

  Timeline read(const SourceFile& source) const override {
    TimelineBuilder builder;
    builder.provenance().source_format = name();
    builder.provenance().source_file = std::filesystem::path(source.path).filename().string();
    builder.provenance().content_hash = source.hash;
    return is_json(source.bytes) ? read_json(source, std::move(builder)) : read_csv(source, std::move(builder));
  }
};

}  // namespace

std::unique_ptr<TraceImporter> make_capframex_importer() { return std::make_unique<CapFrameXImporter>(); }

}  // namespace corun
