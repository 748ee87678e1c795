#include "experiments/report/kept.h"

#include <fmt/format.h>

#include <cmath>

namespace corun::report {

namespace {

void add_row(const Scenario& scenario, std::size_t setting, const std::string& client, Json& json) {
  const double alone = scenario.mean(setting, client, "solo_throughput_per_s");
  const bool is_game = scenario.get(setting, client, "fps_mean").has_value();
  const char* metric = is_game ? "fps_mean" : "throughput_per_s";
  const auto rate = scenario.get(setting, client, metric);
  if (!rate || !(alone > 0)) return;
  const auto band = scenario.band(setting, client, metric).value_or(FigureBand{std::nan(""), std::nan("")});
  json.array().value(setting).value(client);
  for (const double value : {rate->mean, rate->low, rate->high, band.low, band.high})
    json.number(std::isfinite(value) ? fmt::format("{:.5g}", value / alone) : "null");
  json.end();
}

}  // namespace

void add_kept(const Scenario& scenario, Json& json) {
  json.key("kept").array();
  for (std::size_t setting = 0; setting < scenario.settings.size(); ++setting)
    for (const std::string& client : scenario.clients)
      if (client != "device" && client != "cluster") add_row(scenario, setting, client, json);
  json.end();
}

}  // namespace corun::report
