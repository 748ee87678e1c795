#include "experiments/load/load.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/base/json.h"
#include "experiments/base/table.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/experiment/experiment_options.h"
#include "experiments/run/ranges.h"
#include "policies/builtin.h"
#include "traces/base/streams.h"

namespace corun {

namespace {

struct LoadOptions {
  ExperimentOptions experiment;
  double precision = 2;  ///< per cent
};

std::string rate_text(double rate_per_s) {
  return rate_per_s > 0 ? fmt::format("{:.3g} /s", rate_per_s) : "none that was tried";
}

void print_table(const CommonOptions& common, const std::vector<LargestLoad>& loads) {
  const bool has_bands = std::ranges::any_of(loads, [](const auto& load) { return load.surely_per_s.has_value(); });
  std::vector<std::vector<std::string>> rows = {
      {"scenario", "policy", "server", "largest load", "surely", "p99 TTFT", "p99 TPOT", "beyond", "others"}};
  for (const LargestLoad& load : loads) {
    std::vector<std::string> others;
    for (const NeighbourRate& neighbour : load.at.neighbours)
      others.push_back(fmt::format("{} {:.3g} /s", neighbour.client, neighbour.throughput_per_s));
    const std::string no_band = has_bands ? "no band" : "";
    const bool is_some = load.at.rate_per_s > 0;
    rows.push_back({load.scenario, load.policy, load.client, rate_text(load.at.rate_per_s),
                    load.surely_per_s ? rate_text(*load.surely_per_s) : no_band,
                    is_some ? fmt::format("{:.3g} ms", load.at.ttft_p99_ms) : "",
                    is_some ? fmt::format("{:.3g} ms", load.at.tpot_p99_ms) : "", reason_of(load),
                    fmt::format("{}", fmt::join(others, ", "))});
  }
  put_out(aligned(rows, {3, 4, 5, 6}, common.out.table_width()));
}

void write_point(Json& json, std::string_view key, const LoadPoint& point) {
  if (point.rate_per_s == 0) return;
  json.key(key)
      .object()
      .field("rate_per_s", point.rate_per_s)
      .field("ttft_p99_ms", point.ttft_p99_ms)
      .field("tpot_p99_ms", point.tpot_p99_ms)
      .field("rejected", point.rejected)
      .end();
}

void print_json(const std::vector<LargestLoad>& loads) {
  Json json;
  json.object().field("schema_version", 1).key("loads").array();
  for (const LargestLoad& load : loads) {
    json.object().field("scenario", load.scenario).field("policy", load.policy).field("client", load.client);
    write_point(json, "largest", load.at);
    write_point(json, "beyond", load.beyond);
    if (load.surely_per_s) json.field("surely_per_s", *load.surely_per_s);
    json.key("others").object();
    for (const NeighbourRate& neighbour : load.at.neighbours) json.field(neighbour.client, neighbour.throughput_per_s);
    json.end().end();
  }
  print_out("{}\n", json.end().end().text());
}

int load_command(const CommonOptions& common, const LoadOptions& options) {
  PolicyRegistry policies = builtin_policies();
  const Experiment experiment =
      with_host_ranges(read_experiment(options.experiment.file, options.experiment.overrides, policies));
  const auto show = [&](const std::string& trial) {
    if (common.err.is_interactive) put_err(fmt::format("\r\033[K{}", trial));
  };
  const std::vector<LargestLoad> loads = largest_loads(experiment, policies, options.precision / 100, show);
  show("");
  if (common.json)
    print_json(loads);
  else
    print_table(common, loads);
  return 0;
}

}  // namespace

void add_load(Commands& commands) {
  auto [command, options] =
      commands.add("load", "Say how many requests per second a server takes within its service level", &load_command);
  add_experiment_options(command, options.experiment);
  command
      .option("--precision", &options.precision,
              "How far apart the loads that hold and do not hold may be, in per cent")
      .shows_default("2")
      .range(0.01, 100.0);
}

}  // namespace corun
