#include "experiments/load/load.h"

#include <fmt/format.h>

#include "experiments/base/json.h"
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

/// What ends the loads that hold.
std::string reason(const LargestLoad& load) {
  const LoadPoint& beyond = load.beyond;
  if (beyond.rate_per_s == 0) return "more was not tried";
  if (beyond.rejected > 0) return fmt::format("{:.0f} rejected", beyond.rejected);
  if (beyond.ttft_p99_ms > to_milliseconds(load.level.ttft)) return fmt::format("TTFT {:.3g} ms", beyond.ttft_p99_ms);
  return fmt::format("TPOT {:.3g} ms", beyond.tpot_p99_ms);
}

void print_table(const std::vector<LargestLoad>& loads) {
  std::vector<std::vector<std::string>> rows = {
      {"scenario", "policy", "server", "largest load", "p99 TTFT", "p99 TPOT", "beyond", "others"}};
  for (const LargestLoad& load : loads) {
    std::vector<std::string> others;
    for (const NeighbourRate& neighbour : load.neighbours)
      others.push_back(fmt::format("{} {:.3g} /s", neighbour.client, neighbour.throughput_per_s));
    const bool is_some = load.at.rate_per_s > 0;
    rows.push_back({load.scenario, load.policy, load.client,
                    is_some ? fmt::format("{:.3g} /s", load.at.rate_per_s) : "none that was tried",
                    is_some ? fmt::format("{:.3g} ms", load.at.ttft_p99_ms) : "",
                    is_some ? fmt::format("{:.3g} ms", load.at.tpot_p99_ms) : "", reason(load),
                    fmt::format("{}", fmt::join(others, ", "))});
  }
  put_out(aligned(rows, {3, 4, 5}));
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
    json.key("others").object();
    for (const NeighbourRate& neighbour : load.neighbours) json.field(neighbour.client, neighbour.throughput_per_s);
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
    print_table(loads);
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
