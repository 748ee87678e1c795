#include "experiments/question/cluster_lists.h"

#include <algorithm>

#include "traces/base/error.h"
#include "traces/reader.h"
#include "traces/text/csv_lines.h"
#include "traces/text/decimal.h"

namespace corun {

namespace {

constexpr std::int64_t kMostCards = 64;
constexpr std::int64_t kMost = std::int64_t{1} << 40;

/// A table with a header, row by row.
class Table {
 public:
  explicit Table(const std::string& path) : source_(read_source(path)), lines_(source_.bytes), columns_(header()) {}

  bool next() {
    if (!lines_.next()) return false;
    split_csv(lines_.line(), fields_);
    return true;
  }

  bool has(std::string_view column) const { return columns_.has(column); }
  std::string_view text(std::string_view column) const { return field_at(fields_, columns_.find({column})); }

  /// A whole number in [0, most]; `absent` where the field is empty.
  std::int64_t count(std::string_view column, std::int64_t most, std::int64_t absent = -1) const {
    const std::string_view field = text(column);
    if (field.empty() && absent >= 0) return absent;
    const auto value = parse_integer(field);
    if (!value || *value < 0 || *value > most)
      fail("`{}` is `{}`, expected a whole number from 0 to {}", column, field, most);
    return *value;
  }

  Duration seconds(std::string_view column) const {
    const auto value = parse_decimal(text(column), kNsPerSDigits);
    if (!value || *value < 0 || Duration{*value} > kLongestPodTime)
      fail("`{}` is `{}`, expected seconds from the begin of the list, of ten years at most", column, text(column));
    return Duration{*value};
  }

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw Error(ErrorKind::kInput, {source_.path, lines_.number()}, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  CsvColumns header() {
    if (!lines_.next()) fail("the list is empty");
    std::vector<std::string_view> names;
    split_csv(lines_.line(), names);
    return CsvColumns(std::move(names));
  }

  SourceFile source_;
  CsvLines lines_;
  std::vector<std::string_view> fields_;
  CsvColumns columns_;
};

void require(const Table& table, std::initializer_list<std::string_view> columns) {
  for (const std::string_view column : columns)
    if (!table.has(column)) table.fail("there is no column `{}`", column);
}

std::vector<std::string> split_models(std::string_view text) {
  std::vector<std::string> models;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('|'), text.size());
    if (end > 0) models.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return models;
}

PodSpec openb_pod(const Table& table) {
  PodSpec pod;
  pod.name = table.text("name");
  pod.cpu_milli = table.count("cpu_milli", kMost);
  pod.memory_mib = table.count("memory_mib", kMost);
  pod.cards = static_cast<std::uint32_t>(table.count("num_gpu", kMostCards));
  pod.milli = static_cast<Milli>(table.count("gpu_milli", kWholeCard));
  if (pod.cards > 0 && (pod.milli == 0 || (pod.cards > 1 && pod.milli < kWholeCard)))
    table.fail("{} cards of {} thousandths each: a pod asks for a part of one card or for whole cards", pod.cards,
               pod.milli);
  pod.models = split_models(table.text("gpu_spec"));
  pod.arrival = table.seconds("creation_time");
  const Duration begin = table.text("scheduled_time").empty() ? pod.arrival : table.seconds("scheduled_time");
  pod.runtime = std::max(Duration::zero(), table.seconds("deletion_time") - begin);
  return pod;
}

PodSpec philly_job(const Table& table) {
  PodSpec pod;
  pod.name = fmt::format("job-{}", table.text("job_id"));
  pod.cards = static_cast<std::uint32_t>(table.count("num_gpu", kMostCards));
  pod.milli = kWholeCard;
  pod.arrival = table.seconds("submit_time");
  pod.runtime = table.seconds("duration");
  return pod;
}

}  // namespace

std::vector<NodeSpec> read_node_list(const std::string& path) {
  Table table(path);
  require(table, {"sn", "cpu_milli", "memory_mib", "gpu", "model"});
  std::vector<NodeSpec> nodes;
  while (table.next()) {
    NodeSpec& node = nodes.emplace_back();
    node.name = table.text("sn");
    node.cpu_milli = table.count("cpu_milli", kMost);
    node.memory_mib = table.count("memory_mib", kMost);
    node.cards = static_cast<std::uint32_t>(table.count("gpu", kMostCards));
    node.model = table.text("model");
  }
  return nodes;
}

std::vector<PodSpec> read_pod_list(const std::string& path) {
  Table table(path);
  const bool is_philly = table.has("submit_time");
  if (is_philly) {
    require(table, {"job_id", "num_gpu", "duration"});
  } else {
    require(table, {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "creation_time", "deletion_time"});
  }
  std::vector<PodSpec> pods;
  while (table.next()) pods.push_back(is_philly ? philly_job(table) : openb_pod(table));
  std::ranges::stable_sort(pods, {}, &PodSpec::arrival);
  return pods;
}

}  // namespace corun
