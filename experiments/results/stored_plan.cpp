#include "experiments/results/stored_plan.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <set>

#include "experiments/bands/basis.h"
#include "experiments/bands/error_class.h"
#include "experiments/base/hash.h"
#include "experiments/run/results_revision.h"

namespace corun {

namespace {

std::vector<Cell> expectation_row(const Scenario& scenario, const Expectation& e, bool is_qos) {
  std::vector<Cell> row = {scenario.name,
                           e.text,
                           std::int64_t{is_qos},
                           e.left.policy,
                           e.left.client,
                           e.left.metric,
                           std::string(to_string(e.relation)),
                           e.factor};
  const bool has_other = e.right.has_value();
  for (const std::string* name : {has_other ? &e.right->policy : nullptr, has_other ? &e.right->client : nullptr,
                                  has_other ? &e.right->metric : nullptr})
    row.push_back(name == nullptr ? Cell{} : Cell{*name});
  return row;
}

/// Points of a sweep share the expectations of their scenario, and a text may stand there twice.
Rows expectation_rows(const Experiment& experiment) {
  Rows rows;
  std::set<std::array<std::string, 4>> known;
  const auto add = [&](const Scenario& scenario, const Expectation& e, bool is_qos) {
    if (known.insert({scenario.name, is_qos ? "qos" : "", e.left.policy, e.text}).second)
      rows.push_back(expectation_row(scenario, e, is_qos));
  };
  for (const Scenario& scenario : experiment.scenarios) {
    for (const Expectation& e : scenario.expectations) add(scenario, e, false);
    for (const Expectation& e : scenario.qos) add(scenario, e, true);
  }
  return rows;
}

std::string recorded_text(const RecordChoice& record) {
  return fmt::format("frames={} operations={} decisions={} baselines={}{}", record.frames, record.operations,
                     record.decisions, record.baselines, record.requests ? "" : " requests=false");
}

}  // namespace

std::string Shard::to_string() const { return fmt::format("{}/{}", index, count); }

std::optional<Shard> parse_shard(const std::string& text) {
  Shard shard;
  const char* end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, shard.index);
  if (index.ec != std::errc{} || index.ptr == end || *index.ptr != '/') return std::nullopt;
  const auto count = std::from_chars(index.ptr + 1, end, shard.count);
  const bool is_shard = count.ec == std::errc{} && count.ptr == end && shard.index >= 1 && shard.index <= shard.count;
  return is_shard ? std::optional(shard) : std::nullopt;
}

std::vector<std::string> StoredPlan::runs() const {
  std::vector<std::string> ids;
  std::set<std::string> seen;
  for (const std::vector<Cell>& row : planned_runs)
    if (const auto& id = std::get<std::string>(row[2]); seen.insert(id).second) ids.push_back(id);
  return ids;
}

std::optional<Shard> StoredPlan::shard() const {
  const auto text = properties.find("shard");
  return text == properties.end() ? std::nullopt : parse_shard(text->second);
}

std::string StoredPlan::revision() const {
  const auto text = properties.find("results_revision");
  return text == properties.end() ? "0" : text->second;
}

StoredPlan stored_question(const Experiment& experiment) {
  StoredPlan stored;
  stored.experiments = {
      {experiment.name, experiment.description, std::filesystem::path(experiment.file).filename().string(),
       fmt::format("{}", fmt::join(experiment.changes, " ")), experiment.text, sha256(experiment.text)}};
  stored.expectations = expectation_rows(experiment);
  stored.properties = {{"results_revision", std::to_string(kResultsRevision)}};
  return stored;
}

StoredPlan stored_plan(const Experiment& experiment, const Plan& plan, const std::optional<Shard>& shard) {
  StoredPlan stored = stored_question(experiment);
  for (const Plan::Place& place : plan.places) {
    Cell point;
    if (place.point) point = static_cast<std::int64_t>(*place.point);
    stored.planned_runs.push_back(
        {static_cast<std::int64_t>(stored.planned_runs.size()), point, plan.runs[place.run].id});
  }
  for (const RunSpec& run : plan.runs) {
    const Scenario& scenario = experiment.scenarios[run.scenario];
    for (const auto& [client, its] : error_classes(scenario, scenario.policies[run.policy]))
      stored.error_classes.push_back(
          {run.id, client, its.mechanism, static_cast<std::int64_t>(its.programs), its.unmeasured});
    const MechanismOn its = mechanism_on(scenario, scenario.policies[run.policy]);
    if (!its.mechanism.empty()) stored.mechanisms.push_back({run.id, its.mechanism, std::string(to_string(its.laws))});
  }
  std::int64_t number = 0;
  for (const std::vector<PointValue>& point : experiment.points) {
    for (const PointValue& value : point) {
      Cell quantity;
      if (value.quantity) quantity = value.quantity->number;
      const std::string unit = value.quantity ? value.quantity->unit : "";
      stored.points.push_back({number, value.parameter, value.text, quantity, unit});
    }
    ++number;
  }
  stored.properties = {{"experiment", experiment.name},
                       {"recorded", recorded_text(experiment.record)},
                       {"results_revision", std::to_string(kResultsRevision)}};
  if (shard) stored.properties["shard"] = shard->to_string();
  return stored;
}

std::vector<Cell> cells_of(SQLite::Statement& statement) {
  std::vector<Cell> cells;
  for (int i = 0; i < statement.getColumnCount(); ++i) {
    const SQLite::Column column = statement.getColumn(i);
    Cell& cell = cells.emplace_back();
    if (column.isInteger()) {
      cell = column.getInt64();
    } else if (column.isFloat()) {
      cell = column.getDouble();
    } else if (!column.isNull()) {
      cell = column.getString();
    }
  }
  return cells;
}

/// The name of a run or of a property.
static const std::string& text_in(const std::vector<Cell>& row, std::size_t column) {
  const auto* text = std::get_if<std::string>(&row.at(column));
  if (text == nullptr) throw SQLite::Exception("a name in the plan is no text");
  return *text;
}

Rows rows_of(SQLite::Database& results, const std::string& query) {
  Rows rows;
  SQLite::Statement statement(results, query);
  while (statement.executeStep()) rows.push_back(cells_of(statement));
  return rows;
}

StoredPlan stored_plan(SQLite::Database& results) {
  StoredPlan plan;
  if (!results.tableExists("planned_runs")) return plan;
  plan.planned_runs = rows_of(results, "SELECT position, point, run FROM planned_runs ORDER BY position");
  plan.points = rows_of(results, "SELECT point, parameter, value, number, unit FROM points ORDER BY rowid");
  if (results.tableExists("experiments")) {
    plan.experiments = rows_of(results, "SELECT * FROM experiments ORDER BY rowid");
    plan.expectations = rows_of(results, "SELECT * FROM expectations ORDER BY rowid");
  }
  if (results.tableExists("error_classes"))
    plan.error_classes =
        rows_of(results, "SELECT run, client, mechanism, programs, unmeasured FROM error_classes ORDER BY rowid");
  if (results.tableExists("mechanisms"))
    plan.mechanisms = rows_of(results, "SELECT run, mechanism, device_laws FROM mechanisms ORDER BY rowid");
  for (const std::vector<Cell>& row : plan.planned_runs) text_in(row, 2);
  for (const std::vector<Cell>& row : rows_of(results, "SELECT key, value FROM properties WHERE key <> 'hash'"))
    plan.properties[text_in(row, 0)] = text_in(row, 1);
  return plan;
}

std::string difference(const StoredPlan& a, const StoredPlan& b) {
  if (a.revision() != b.revision())
    return fmt::format("results of revision {} and of revision {}, whose numbers differ", a.revision(), b.revision());
  const std::vector<std::string> runs = a.runs(), others = b.runs();
  const std::set<std::string> known(others.begin(), others.end());
  std::size_t common = 0;
  for (const std::string& id : runs) common += known.contains(id) ? 1 : 0;
  if (common != runs.size() || common != others.size())
    return fmt::format("{} runs and {} runs, {} in common", runs.size(), others.size(), common);
  if (a.planned_runs != b.planned_runs || a.points != b.points) return "the same runs at other points";
  if (a.expectations != b.expectations) return "other expectations of the same runs";
  const auto property = [](const StoredPlan& plan, const char* key) {
    const auto value = plan.properties.find(key);
    return value == plan.properties.end() ? std::string() : value->second;
  };
  for (const char* key : {"experiment", "recorded"})
    if (property(a, key) != property(b, key))
      return fmt::format("{} `{}` and `{}`", key, property(a, key), property(b, key));
  return "";
}

}  // namespace corun
