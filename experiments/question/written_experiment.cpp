#include "experiments/question/written_experiment.h"

#include <array>

namespace corun {

namespace {

using namespace std::chrono_literals;

template <class T>
Field<T> text_field(std::string_view key, std::string WrittenScenario::*member) {
  return {key, "text",
          [=](const Node& node, T& out, ScalarReader& read) { out.*member = read.text(node).value_or(""); }};
}

template <class T>
Field<T> node_field(std::string_view key, std::string_view type, const Node* WrittenScenario::*member) {
  return {key, type, [=](const Node& node, T& out, ScalarReader&) { out.*member = &node; }};
}

template <class T>
Field<T> duration_field(std::string_view key, std::optional<Duration> WrittenScenario::*member, Duration minimum) {
  return {key, "duration", [=](const Node& node, T& out, ScalarReader& read) {
            out.*member = read.duration(node, minimum, kLongestHorizon, "s");
          }};
}

/// The keys that a scenario and the top level share.
template <class T>
FieldTable<T> fields_of_scenarios() {
  return {text_field<T>("name", &WrittenScenario::name),
          text_field<T>("description", &WrittenScenario::description),
          node_field<T>("device", "model or mapping", &WrittenScenario::device),
          duration_field<T>("horizon", &WrittenScenario::horizon, Duration(1us)),
          duration_field<T>("warmup", &WrittenScenario::warmup, Duration(0)),
          node_field<T>("gate", "mapping", &WrittenScenario::gate),
          node_field<T>("seeds", "count or list", &WrittenScenario::seeds),
          node_field<T>("clients", "list", &WrittenScenario::clients),
          node_field<T>("cluster", "mapping", &WrittenScenario::cluster),
          node_field<T>("policies", "list", &WrittenScenario::policies),
          node_field<T>("expect", "list", &WrittenScenario::expect),
          {"seen", "true or false",
           [](const Node& node, T& out, ScalarReader& read) { out.is_seen = read.boolean(node); }}};
}

bool read_all_or_none(const Node& node, bool fallback, ScalarReader& read) {
  constexpr std::array<std::string_view, 2> kChoices = {"none", "all"};
  const auto index = read.choice(node, kChoices);
  return index ? *index == 1 : fallback;
}

const FieldTable<RecordChoice>& record_fields() {
  static const FieldTable<RecordChoice> table = {
      {"frames", "all or none",
       [](const Node& node, RecordChoice& out, ScalarReader& read) {
         out.frames = read_all_or_none(node, true, read);
       }},
      {"requests", "all or none",
       [](const Node& node, RecordChoice& out, ScalarReader& read) {
         out.requests = read_all_or_none(node, true, read);
       }},
      {"operations", "all or none",
       [](const Node& node, RecordChoice& out, ScalarReader& read) {
         out.operations = read_all_or_none(node, false, read);
       }},
      {"decisions", "all, none or first N",
       [](const Node& node, RecordChoice& out, ScalarReader& read) {
         if (!node.is_scalar() || !node.text.starts_with("first ")) {
           out.decisions = read_all_or_none(node, true, read) ? UINT64_MAX : 0;
           return;
         }
         Node count = node;
         count.text.erase(0, 6);
         out.decisions = read.integer(count, 0, UINT64_MAX).value_or(0);
       }},
  };
  return table;
}

}  // namespace

const FieldTable<WrittenScenario>& scenario_fields() {
  static const FieldTable<WrittenScenario> table = fields_of_scenarios<WrittenScenario>();
  return table;
}

const FieldTable<WrittenExperiment>& experiment_fields() {
  static const FieldTable<WrittenExperiment> table = [] {
    FieldTable<WrittenExperiment> fields = fields_of_scenarios<WrittenExperiment>();
    fields.push_back(
        {"version", "1", [](const Node& node, WrittenExperiment&, ScalarReader& read) { read.integer(node, 1, 1); }});
    fields.push_back(
        {"defaults", "mapping", [](const Node& node, WrittenExperiment& out, ScalarReader&) { out.defaults = &node; }});
    fields.push_back(
        {"scenarios", "list", [](const Node& node, WrittenExperiment& out, ScalarReader&) { out.scenarios = &node; }});
    fields.push_back(
        {"sweep", "mapping", [](const Node& node, WrittenExperiment& out, ScalarReader&) { out.sweep = &node; }});
    fields.push_back({"output", "path", [](const Node& node, WrittenExperiment& out, ScalarReader& read) {
                        out.output = read.text(node).value_or("");
                      }});
    fields.push_back({"record", "mapping", [](const Node& node, WrittenExperiment& out, ScalarReader& read) {
                        if (read.expect(node, Node::Kind::kMapping, "{ frames: all, decisions: first 10000 }"))
                          read_fields(node, record_fields(), "key", out.record, read);
                      }});
    return fields;
  }();
  return table;
}

}  // namespace corun
