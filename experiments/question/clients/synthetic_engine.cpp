#include "experiments/question/clients/synthetic_choice.h"

namespace corun {

namespace {

using namespace std::chrono_literals;

const FieldTable<EngineProfile>& prefill_fields() {
  static const FieldTable<EngineProfile> table = {
      duration_field("base", &EngineProfile::prefill_base, Duration(0), Duration(10s)),
      duration_field("per_token", &EngineProfile::prefill_per_token, Duration(1ns), Duration(10ms), "us"),
      number_field("per_context_token_ns", &EngineProfile::prefill_per_context_token_ns, 0, 100),
  };
  return table;
}

const FieldTable<EngineProfile>& decode_fields() {
  static const FieldTable<EngineProfile> table = {
      duration_field("base", &EngineProfile::decode_base, Duration(1us), Duration(10s)),
      duration_field("per_sequence", &EngineProfile::decode_per_sequence, Duration(0), Duration(100ms), "us"),
      number_field("per_context_token_ns", &EngineProfile::decode_per_context_token_ns, 0, 1000),
  };
  return table;
}

template <const FieldTable<EngineProfile>& (*fields)()>
Field<EngineProfile> part_field(std::string_view key) {
  return {key, "mapping", [](const Node& node, EngineProfile& out, ScalarReader& read) {
            if (read.expect(node, Node::Kind::kMapping, "{ base: 8ms }")) read_fields(node, fields(), "key", out, read);
          }};
}

const FieldTable<EngineProfile>& engine_fields() {
  static const FieldTable<EngineProfile> table = {
      part_field<prefill_fields>("prefill"),
      part_field<decode_fields>("decode"),
      count_field("kernels", &EngineProfile::kernels, 1, 10'000),
      duration_field("host_per_step", &EngineProfile::host_per_step, Duration(0), Duration(1s), "us"),
  };
  return table;
}

}  // namespace

std::optional<SyntheticWork> read_engine(const Node& node, ScalarReader& read) {
  constexpr std::string_view kExample = "{ prefill: { per_token: 25us }, decode: { base: 8ms } }";
  EngineProfile engine;
  if (!read.expect(node, Node::Kind::kMapping, kExample)) return std::nullopt;
  read_fields(node, engine_fields(), "key", engine, read);
  if (engine.prefill_per_token <= Duration{0}) read.wrong(node, "an engine needs `prefill` with a time `per_token`");
  if (engine.decode_base <= Duration{0}) read.wrong(node, "an engine needs `decode` with a `base` time");
  return SyntheticWork{"", engine};
}

}  // namespace corun
