#include "experiments/advise/advice_json.h"

#include <array>

#include "experiments/advise/advice_text.h"
#include "experiments/advise/figures/server_json.h"
#include "experiments/base/json.h"

namespace corun {

namespace {

void add_loads(Json& json, const WayLoads& loads) {
  json.key("largest_load").object();
  add_spread(json, "rate_per_s", loads.largest);
  add_spread(json, "surely_per_s", loads.surely);
  json.field("beyond", loads.beyond).end();
}

}  // namespace

std::string advice_json(const AdviceQuestion& question, const Advice& advice) {
  constexpr std::array<std::string_view, 5> kVerdicts = {"share", "apart", "no_way", "cannot_tell", "close"};
  Json json;
  json.object().field("schema_version", 1).field("verdict", kVerdicts[static_cast<std::size_t>(advice.verdict)]);
  json.field("text", verdict_text(question, advice));
  if (advice.best) json.field("best", advice.ways[*advice.best].way.label);
  json.key("ways").array();
  for (const TriedWay& way : advice.ways) {
    json.object().field("mode", way.way.mode).field("label", way.way.label).field("impossible", way.impossible);
    json.field("basis", to_string(way.basis));
    json.key("parts").array();
    for (const int part : way.way.parts) json.value(part);
    json.end().key("broken").array();
    for (const std::string& promise : way.broken) json.value(promise);
    json.end().key("programs").array();
    for (std::size_t i = 0; i < way.programs.size(); ++i) {
      const ProgramShare& share = way.programs[i];
      json.object().field("name", question.programs[i].name).field("bound", advice.bounds[i]);
      add_spread(json, "kept", share.kept);
      add_spread(json, "kept_band", share.kept_band);
      add_spread(json, "p99_ms", share.p99_ms);
      add_spread(json, "p99_band", share.p99_band);
      add_spread(json, "fps", share.fps);
      if (share.server) add_server(json, *share.server);
      json.end();
    }
    json.end();
    if (way.loads) add_loads(json, *way.loads);
    json.end();
  }
  json.end().key("unknown_rates").array();
  for (const std::string& name : advice.unknown_rates) json.value(name);
  json.end().key("unknown_draws").array();
  for (const std::string& name : advice.unknown_draws) json.value(name);
  json.end();
  if (const auto& its = advice.hangs_on) {
    json.key("hangs_on").object().field("program", its->program);
    add_spread(json, "rate_per_s", its->rate_per_s);
    json.field("at_low", its->at_low).field("at_high", its->at_high);
    if (its->changes_at_per_s) json.field("changes_at_per_s", *its->changes_at_per_s);
    json.end();
  }
  json.key("alone").object();
  for (const auto& [server, alone] : advice.alone) {
    json.key(server).object();
    add_server(json, alone);
    json.end();
  }
  json.end().key("warnings").array();
  for (const std::string& warning : advice.warnings) json.value(warning);
  return json.end().end().text();
}

}  // namespace corun
