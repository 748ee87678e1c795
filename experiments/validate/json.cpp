#include "experiments/validate/json.h"

#include "experiments/base/json.h"

namespace corun::validation {

namespace {

void add_group(Json& json, const ScoreGroup& group) {
  json.object().field("tier", to_string(group.tier)).field("bound", to_string(group.bound));
  json.field("metric", group.metric).field("seen", group.is_seen).field("rows", group.rows);
  json.field("scored", group.scored).field("inside_noise", group.inside_noise).field("undecided", group.undecided);
  json.field("within_goal", group.within_goal).field("outside", group.outside).field("mean", group.mean);
  json.field("p50", group.p50).field("p90", group.p90).field("worst", group.worst).field("met", group.is_met);
  json.key("null_models").array();
  for (const NullScore& null : group.nulls)
    json.object().field("model", null.model).field("mean", null.mean).field("ours", null.predicted).end();
  json.end().end();
}

void add_row(Json& json, const ScoreRow& row) {
  json.object().field("scenario", row.cell.scenario).field("policy", row.cell.policy).field("client", row.client);
  json.field("metric", row.metric).field("verdict", to_string(row.verdict));
  if (row.predicted) json.field("predicted", row.predicted->mean);
  if (row.measured) json.field("measured", row.measured->mean);
  if (row.has_error()) json.field("error", row.error).field("noise", row.noise);
  json.end();
}

}  // namespace

std::string validation_json(const Validation& validation, const ValidationResult& result) {
  Json json;
  json.object().field("schema_version", 1).field("experiment", validation.experiment().name);
  json.field("predictions_sha256", validation.predictions().sha256).key("groups").array();
  for (const ScoreGroup& group : result.groups) add_group(json, group);
  json.end().key("figures").array();
  for (const ScoreRow& row : result.rows) add_row(json, row);
  const RankingScore ranking = score_rankings(result.rankings);
  json.end().key("ranking").object().field("pairs", ranking.concordant + ranking.discordant);
  if (ranking.tau) json.field("tau", *ranking.tau);
  json.field("mean_regret", ranking.mean_regret).field("worst_regret", ranking.worst_regret).end();
  json.key("explanations").array();
  for (const Explanation& explanation : result.explanations)
    json.object()
        .field("constant", explanation.constant)
        .field("steps", explanation.steps)
        .field("moved", explanation.moved)
        .field("explained", explanation.explained)
        .end();
  return json.end().end().text();
}

}  // namespace corun::validation
