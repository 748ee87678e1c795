#include "experiments/results/schema.h"

namespace corun {

const char* const kResultsSchema = R"(
CREATE TABLE runs (
  id TEXT PRIMARY KEY, experiment TEXT NOT NULL, scenario TEXT NOT NULL, policy TEXT NOT NULL, parameters TEXT NOT NULL,
  seed INTEGER NOT NULL, backend TEXT NOT NULL, engine_version TEXT NOT NULL, device TEXT NOT NULL,
  trace_hashes TEXT NOT NULL, horizon_ns INTEGER NOT NULL, warmup_ns INTEGER NOT NULL, wall_time_s REAL NOT NULL,
  events INTEGER NOT NULL, error TEXT, notes TEXT NOT NULL, holds_until_ns INTEGER);
CREATE TABLE metrics (
  run TEXT NOT NULL REFERENCES runs(id), client TEXT NOT NULL, metric TEXT NOT NULL, value REAL NOT NULL,
  unit TEXT NOT NULL);
CREATE TABLE frames (
  run TEXT NOT NULL REFERENCES runs(id), client TEXT NOT NULL, number INTEGER NOT NULL, start_ns INTEGER NOT NULL,
  submit_ns INTEGER NOT NULL, gpu_begin_ns INTEGER NOT NULL, gpu_end_ns INTEGER NOT NULL, present_ns INTEGER NOT NULL,
  gpu_busy_ns INTEGER NOT NULL, quality_level INTEGER NOT NULL, quality REAL NOT NULL, missed INTEGER NOT NULL);
CREATE TABLE decisions (
  run TEXT NOT NULL REFERENCES runs(id), seq INTEGER NOT NULL, time_ns INTEGER NOT NULL, action TEXT NOT NULL,
  client TEXT NOT NULL, count INTEGER NOT NULL, duration_ns INTEGER NOT NULL, level INTEGER NOT NULL,
  fraction REAL NOT NULL);
CREATE TABLE holds (
  run TEXT NOT NULL REFERENCES runs(id), client TEXT NOT NULL, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,
  rule TEXT NOT NULL, needed REAL NOT NULL, available REAL NOT NULL, unit TEXT NOT NULL);
CREATE TABLE kills (
  run TEXT NOT NULL REFERENCES runs(id), client TEXT NOT NULL, time_ns INTEGER NOT NULL, lost_ns INTEGER NOT NULL,
  restored_ns INTEGER);
CREATE TABLE refusals (
  run TEXT NOT NULL REFERENCES runs(id), client TEXT NOT NULL, time_ns INTEGER NOT NULL, rule TEXT NOT NULL,
  needed REAL NOT NULL, available REAL NOT NULL, unit TEXT NOT NULL);
CREATE TABLE pods (
  run TEXT NOT NULL REFERENCES runs(id), pod TEXT NOT NULL, state TEXT NOT NULL, arrival_ns INTEGER NOT NULL,
  start_ns INTEGER, end_ns INTEGER, node TEXT, cards TEXT, client TEXT, slowdown REAL);
CREATE TABLE operations (
  run TEXT NOT NULL REFERENCES runs(id), client TEXT NOT NULL, number INTEGER NOT NULL, job INTEGER NOT NULL,
  stream INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, submit_ns INTEGER NOT NULL,
  launch_ns INTEGER NOT NULL, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, device_time_ns INTEGER NOT NULL);
CREATE TABLE requests (
  run TEXT NOT NULL REFERENCES runs(id), client TEXT NOT NULL, number INTEGER NOT NULL, arrival_ns INTEGER NOT NULL,
  first_token_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, prompt INTEGER NOT NULL, output INTEGER NOT NULL);
CREATE TABLE experiments (
  name TEXT PRIMARY KEY, description TEXT NOT NULL, file TEXT NOT NULL, changes TEXT NOT NULL, text TEXT NOT NULL,
  sha256 TEXT NOT NULL);
CREATE TABLE expectations (
  scenario TEXT NOT NULL, text TEXT NOT NULL, is_qos INTEGER NOT NULL, policy TEXT NOT NULL, client TEXT NOT NULL,
  metric TEXT NOT NULL, relation TEXT NOT NULL, factor REAL NOT NULL, other_policy TEXT, other_client TEXT,
  other_metric TEXT, PRIMARY KEY (scenario, is_qos, policy, text));
CREATE TABLE planned_runs (position INTEGER PRIMARY KEY, point INTEGER, run TEXT NOT NULL);
CREATE TABLE points (
  point INTEGER NOT NULL, parameter TEXT NOT NULL, value TEXT NOT NULL, number REAL, unit TEXT NOT NULL);
CREATE TABLE error_classes (
  run TEXT NOT NULL, client TEXT NOT NULL, mechanism TEXT NOT NULL, programs INTEGER NOT NULL,
  unmeasured TEXT NOT NULL, PRIMARY KEY (run, client));
CREATE TABLE mechanisms (run TEXT PRIMARY KEY, mechanism TEXT NOT NULL, device_laws TEXT NOT NULL);
CREATE TABLE properties (key TEXT PRIMARY KEY, value TEXT NOT NULL);
)";

}  // namespace corun
