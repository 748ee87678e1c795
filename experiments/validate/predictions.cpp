#include "experiments/validate/predictions.h"

#include <fstream>

#include "experiments/base/hash.h"
#include "experiments/base/json.h"
#include "experiments/question/device_choice.h"
#include "experiments/validate/scoring/score.h"

namespace corun::validation {

namespace {

void add_estimate(Json& json, std::string_view name, const Estimate& value) {
  json.key(name).object().field("mean", value.mean).field("low", value.low).field("high", value.high);
  json.field("seeds", value.count).end();
}

void add_cell(Json& json, const Experiment& experiment, const Cell& cell, const std::vector<ScoreRow>& rows,
              const Figures& predicted) {
  const Scenario& scenario = experiment.scenarios[cell.scenario];
  json.object().field("scenario", cell.key.scenario).field("policy", cell.key.policy);
  json.field("tier", to_string(cell.tier)).field("seen", cell.is_seen);
  json.field("device", content_hash(device_text(scenario.device)));
  json.field("window_ns", to_ns(scenario.horizon - scenario.warmup_or_default())).key("figures").array();
  for (const ScoreRow& row : rows) {
    if (row.cell != cell.key || !row.predicted) continue;
    json.object().field("client", row.client).field("metric", row.metric).field("bound", to_string(row.bound));
    add_estimate(json, "predicted", *row.predicted);
    json.key("null_models").object();
    for (const NullFigure& null : row.nulls) json.field(null.model, null.value);
    json.end().end();
  }
  json.end().key("failures").array();
  for (const std::string& failure : predicted.failures(cell.key)) json.value(failure);
  json.end().end();
}

}  // namespace

Predictions publish(const Experiment& experiment, const FileHashes& hashes, const std::vector<Cell>& cells,
                    const Figures& predicted, const Figures& without_losses) {
  const std::vector<ScoreRow> rows = score(cells, predicted, {}, without_losses);
  Json json;
  json.object().field("schema_version", 1).field("experiment", experiment.name).field("engine", engine_version());
  json.key("traces").array();
  for (const auto& [path, hash] : hashes) json.value(hash);
  json.end().key("cells").array();
  for (const Cell& cell : cells) add_cell(json, experiment, cell, rows, predicted);
  json.end().end();
  Predictions predictions{json.text() + "\n", {}};
  predictions.sha256 = sha256(predictions.text);
  return predictions;
}

void write_predictions(const Predictions& predictions, const std::string& path) {
  std::ofstream stream(path, std::ios::binary);
  stream << predictions.text;
  stream.close();
  if (!stream) throw Error(ErrorKind::kDevice, {path}, "the predictions cannot be written");
}

}  // namespace corun::validation
