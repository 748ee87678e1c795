#include "experiments/run/clients/serving_files.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>

#include "experiments/base/yaml.h"
#include "traces/base/error.h"
#include "traces/text/csv_lines.h"
#include "traces/text/decimal.h"

namespace corun {

namespace {

/// Nanoseconds of "2023-11-16 18:17:03.9799600" on a clock without leap seconds.
std::optional<std::int64_t> parse_time_stamp(std::string_view text) {
  const std::string date(text.substr(0, text.find_first_of(" T")));
  const std::string time(date.size() < text.size() ? text.substr(date.size() + 1) : "");
  int year = 0, month = 0, day = 0, hours = 0, minutes = 0, read = 0;
  if (std::sscanf(date.c_str(), "%d-%d-%d", &year, &month, &day) != 3) return std::nullopt;
  if (std::sscanf(time.c_str(), "%d:%d:%n", &hours, &minutes, &read) != 2 || read == 0) return std::nullopt;
  const auto seconds_ns = parse_decimal(time.substr(static_cast<std::size_t>(read)), kNsPerSDigits);
  const std::chrono::year_month_day on{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                       std::chrono::day{static_cast<unsigned>(day)}};
  if (!seconds_ns || !on.ok()) return std::nullopt;
  const auto minute = std::chrono::sys_days{on} + std::chrono::hours{hours} + std::chrono::minutes{minutes};
  return std::chrono::nanoseconds(minute.time_since_epoch()).count() + *seconds_ns;
}

/// A table of a CSV file, row by row.
class CsvFile {
 public:
  explicit CsvFile(const std::string& path) : text_(read_text_file(path)), lines_(text_), where_{path, 1} {
    if (!lines_.next()) throw_input(where_, "the file is empty");
    table_.emplace(lines_);
  }
  const CsvColumns& columns() const { return table_->columns(); }
  /// Goes to the next row; false at the end.
  bool next() {
    if (!table_->next()) return false;
    where_.line = lines_.number();
    if (const char* fault = table_->fault()) throw_input(where_, "{}", fault);
    return true;
  }
  std::string_view cell(std::size_t column) const { return table_->cells()[column]; }
  const SourceLocation& where() const { return where_; }

 private:
  const std::string text_;
  CsvLines lines_;
  SourceLocation where_;
  std::optional<CsvTable> table_;
};

/// The columns that tell a request.
struct Columns {
  std::optional<std::size_t> arrival, stamp, prompt, output;
  bool are_complete() const { return (arrival || stamp) && prompt && output; }
};

Columns columns_of(const CsvColumns& header) {
  return {header.find({"arrival_s"}), header.find({"timestamp"}), header.find({"prompt", "contexttokens"}),
          header.find({"output", "generatedtokens"})};
}

std::uint32_t tokens_of(std::string_view cell, std::string_view what, const SourceLocation& where) {
  const auto tokens = parse_integer(cell);
  if (!tokens || *tokens < 1 || *tokens > UINT32_MAX)
    throw_input(where, "found `{}`, expected the number of {} tokens of a request, 1 or more", cell, what);
  return static_cast<std::uint32_t>(*tokens);
}

std::int64_t arrival_of(const Columns& columns, const CsvFile& file) {
  const std::string_view cell = file.cell(columns.arrival ? *columns.arrival : *columns.stamp);
  const auto ns = columns.arrival ? parse_decimal(cell, kNsPerSDigits) : parse_time_stamp(cell);
  if (!ns || (columns.arrival && *ns < 0))
    throw_input(
        file.where(), "found `{}`, expected {}", cell,
        columns.arrival ? "the arrival of a request in seconds, 0 or more" : "a time such as 2023-11-16 18:17:03.97");
  return *ns;
}

}  // namespace

std::vector<ServedRequest> read_request_file(const std::string& path) {
  CsvFile file(path);
  const Columns columns = columns_of(file.columns());
  if (!columns.are_complete())
    throw Error(ErrorKind::kInput, file.where(), "the first line does not name the columns of requests",
                "expected `arrival_s,prompt,output`, or `TIMESTAMP,ContextTokens,GeneratedTokens`");
  std::vector<ServedRequest> requests;
  std::int64_t first_ns = 0, before_ns = 0;
  while (file.next()) {
    const std::int64_t ns = arrival_of(columns, file);
    if (requests.empty()) first_ns = columns.arrival ? 0 : ns;
    if (!requests.empty() && ns < before_ns) throw_input(file.where(), "the request arrives before the one above it");
    before_ns = ns;
    requests.push_back({Duration{ns - first_ns}, tokens_of(file.cell(*columns.prompt), "prompt", file.where()),
                        tokens_of(file.cell(*columns.output), "output", file.where())});
  }
  if (requests.empty()) throw_input(file.where(), "the file has no requests below its header");
  return requests;
}

namespace {

struct LoggedStep {
  StepSize size;
  std::int64_t begin_ns = 0, end_ns = 0;
};

/// The columns of a log of steps; the last three where it has mixed ones, or such of several prompts.
struct StepColumns {
  std::size_t kind, size, context, begin, end;
  std::optional<std::size_t> decodes, decode_context, prompts;
};

StepColumns step_columns_of(const CsvFile& file) {
  std::vector<std::size_t> found;
  for (const std::string_view name : {"kind", "size", "context", "begin_s", "end_s"}) {
    const auto column = file.columns().find({name});
    if (!column)
      throw Error(ErrorKind::kInput, file.where(), fmt::format("a log of steps needs the column `{}`", name),
                  "expected `kind,size,context,begin_s,end_s`");
    found.push_back(*column);
  }
  return {found[0],
          found[1],
          found[2],
          found[3],
          found[4],
          file.columns().find({"decodes"}),
          file.columns().find({"decode_context"}),
          file.columns().find({"prompts"})};
}

std::uint32_t whole_number(const CsvFile& file, std::size_t column, std::int64_t least) {
  const auto number = parse_integer(file.cell(column));
  if (!number || *number < least || *number > UINT32_MAX)
    throw_input(file.where(), "found `{}`, expected a whole number, {} or more", file.cell(column), least);
  return static_cast<std::uint32_t>(*number);
}

std::int64_t nanoseconds(const CsvFile& file, std::size_t column) {
  const auto ns = parse_decimal(file.cell(column), kNsPerSDigits);
  if (!ns) throw_input(file.where(), "found `{}`, expected a time in seconds", file.cell(column));
  return *ns;
}

LoggedStep step_of(const CsvFile& file, const StepColumns& columns) {
  const std::string_view kind = file.cell(columns.kind);
  constexpr std::array<std::string_view, 3> kKinds = {"prefill", "decode", "mixed"};  // as StepSize::Kind
  const auto found = std::ranges::find(kKinds, kind);
  if (found == kKinds.end()) throw_input(file.where(), "found `{}`, expected prefill, decode or mixed", kind);
  LoggedStep step;
  step.size = {static_cast<StepSize::Kind>(found - kKinds.begin()), whole_number(file, columns.size, 1),
               whole_number(file, columns.context, 0)};
  if (step.size.kind == StepSize::Kind::kMixed) {
    if (!columns.decodes || !columns.decode_context)
      throw_input(file.where(), "a mixed step needs the columns `decodes` and `decode_context`");
    step.size.decodes = whole_number(file, *columns.decodes, 1);
    step.size.decode_context = whole_number(file, *columns.decode_context, 0);
  }
  if (columns.prompts && step.size.reads_prompt()) step.size.prompts = whole_number(file, *columns.prompts, 1);
  step.begin_ns = nanoseconds(file, columns.begin);
  step.end_ns = nanoseconds(file, columns.end);
  if (step.end_ns <= step.begin_ns) throw_input(file.where(), "the step ends before it begins");
  return step;
}

Duration median(std::vector<std::int64_t>& lengths_ns) {
  const auto middle = lengths_ns.begin() + static_cast<std::ptrdiff_t>(lengths_ns.size() / 2);
  std::nth_element(lengths_ns.begin(), middle, lengths_ns.end());
  return Duration{*middle};
}

}  // namespace

std::map<StepSize, Duration> read_step_times(const std::string& path) {
  constexpr std::int64_t kSoon = 20;  // a twentieth of the step
  CsvFile file(path);
  const StepColumns columns = step_columns_of(file);
  std::map<StepSize, std::vector<std::int64_t>> lengths_ns;
  std::optional<LoggedStep> before;
  while (file.next()) {
    const LoggedStep step = step_of(file, columns);
    if (before) {
      const std::int64_t length_ns = before->end_ns - before->begin_ns, pause_ns = step.begin_ns - before->end_ns;
      const bool follows = pause_ns >= 0 && pause_ns <= length_ns / kSoon;
      lengths_ns[before->size].push_back(follows ? length_ns + pause_ns : length_ns);
    }
    before = step;
  }
  if (!before) throw_input(file.where(), "the log has no steps below its header");
  lengths_ns[before->size].push_back(before->end_ns - before->begin_ns);
  std::map<StepSize, Duration> times;
  for (auto& [size, lengths] : lengths_ns) times[size] = median(lengths);
  return times;
}

}  // namespace corun
