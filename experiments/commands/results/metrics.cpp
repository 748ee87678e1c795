#include <fmt/format.h>

#include "experiments/base/json.h"
#include "experiments/base/table.h"
#include "experiments/commands/commands.h"
#include "sim/metrics/metric_table.h"
#include "traces/base/streams.h"
#include "traces/base/units.h"

namespace corun {

namespace {

struct MetricsOptions {
  std::string name;  ///< of one metric; "" = all
};

const MetricDescriptor& metric_asked_for(const std::string& name) {
  if (const MetricDescriptor* metric = find_metric(name)) return *metric;
  std::vector<std::string> names;
  for (const MetricDescriptor& metric : metric_table()) names.emplace_back(metric.name);
  const std::string nearest = nearest_name(name, names);
  throw Error(ErrorKind::kInput, {},
              fmt::format("there is no metric `{}`; `simcli metrics` lists all {}", name, names.size()),
              nearest.empty() ? "" : fmt::format("did you mean `{}`?", nearest));
}

void add_json(Json& json, const MetricDescriptor& metric) {
  json.object().field("name", metric.name).field("unit", metric.unit).field("of", to_string(metric.owner));
  json.field("better", to_string(metric.better)).field("meaning", metric.meaning);
  json.field("definition", metric.definition).field("is_percentage", metric.is_percentage);
  json.field("counts_from_zero", metric.counts_from_zero).end();
}

void print_one(const MetricDescriptor& metric) {
  print_out("{} ({})\n  {}\n", metric.name, metric.unit, metric.meaning);
  if (!metric.definition.empty()) print_out("  {}\n", metric.definition);
  print_out("\nof      {}\nbetter  {}\n", to_string(metric.owner), to_string(metric.better));
  if (metric.is_percentage) print_out("shown   in per cent\n");
  if (metric.counts_from_zero) print_out("absent  counts as 0\n");
}

int metrics_command(const CommonOptions& common, const MetricsOptions& options) {
  const bool is_of_one = !options.name.empty();
  if (common.json) {
    Json json;
    json.object().field("schema_version", 1).key("metrics").array();
    for (const MetricDescriptor& metric : metric_table())
      if (!is_of_one || metric.name == metric_asked_for(options.name).name) add_json(json, metric);
    print_out("{}\n", json.end().end().text());
  } else if (is_of_one) {
    print_one(metric_asked_for(options.name));
  } else {
    std::vector<std::vector<std::string>> rows = {{"metric", "unit", "of", "meaning"}};
    for (const MetricDescriptor& metric : metric_table())
      rows.push_back({std::string(metric.name), std::string(metric.unit), std::string(to_string(metric.owner)),
                      std::string(metric.meaning)});
    put_out(aligned(rows, {}, common.out.table_width()));
  }
  return 0;
}

}  // namespace

void add_metrics(Commands& commands) {
  auto [command, options] =
      commands.add("metrics", "Say what each metric means, or everything about one", &metrics_command);
  command.option("NAME", &options.name, "A metric");
}

}  // namespace corun
