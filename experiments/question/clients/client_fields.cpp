#include "experiments/question/clients/client_fields.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "experiments/question/clients/command_choice.h"
#include "experiments/question/clients/quality_choice.h"
#include "traces/base/units.h"

namespace corun {

namespace {

using namespace std::chrono_literals;
using ClientField = Field<ClientReading>;

constexpr std::array<std::string_view, 2> kReplays = {"closed", "open"};
constexpr std::array<std::string_view, 2> kRoles = {"interactive", "best_effort"};
constexpr std::array<std::string_view, 3> kPacings = {"uncapped", "sync_each_job", "recorded"};
constexpr std::array<std::string_view, 2> kAccesses = {"sequential", "random"};
constexpr Duration kLongest{std::chrono::hours{24}};

template <class T, class Read>
ClientField field(std::string_view key, std::string_view type, T ClientChoice::*member, Read read_value) {
  return {key, type, [=](const Node& node, ClientReading& out, ScalarReader& read) {
            if (auto value = read_value(node, read)) out.choice.*member = static_cast<T>(std::move(*value));
          }};
}

auto number_between(double minimum, double maximum) {
  return [=](const Node& node, ScalarReader& read) { return read.number(node, minimum, maximum); };
}

std::string resolve(const std::string& folder, const std::string& path) {
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

void read_trace(const Node& node, ClientReading& out, ScalarReader& read) {
  const auto path = read.text(node);
  if (!path) return;
  out.choice.trace = resolve(out.folder, *path);
  out.choice.trace_where = node.where;
  out.choice.synthetic.reset();
}

void read_synthetic_field(const Node& node, ClientReading& out, ScalarReader& read) {
  out.choice.synthetic = read_synthetic(node, read);
  if (out.choice.synthetic)
    for (SceneTrace& scene : out.choice.synthetic->scene_traces) scene.path = resolve(out.folder, scene.path);
  out.choice.trace.clear();
}

void read_repeat(const Node& node, ClientReading& out, ScalarReader& read) {
  if (node.is_scalar() && node.text == "forever") {
    out.choice.repeat = 0;
  } else if (const auto passes = read.integer(node, 1, 1'000'000'000)) {
    out.choice.repeat = *passes;
  }
}

Duration period_of(double rate_per_s) { return Duration{std::llround(1e9 / rate_per_s)}; }

struct PacingReading {
  std::optional<Duration> period;
  bool is_vsync = true;
};

const FieldTable<PacingReading>& pacing_fields() {
  static const FieldTable<PacingReading> table = {
      {"rate", "rate",
       [](const Node& node, PacingReading& out, ScalarReader& read) {
         if (const auto rate = read.rate(node)) out.period = period_of(*rate);
       }},
      {"period", "duration",
       [](const Node& node, PacingReading& out, ScalarReader& read) {
         out.period = read.duration(node, Duration(1us), Duration(10s), "ms");
       }},
      {"vsync", "true or false",
       [](const Node& node, PacingReading& out, ScalarReader& read) {
         out.is_vsync = read.boolean(node).value_or(true);
       }},
  };
  return table;
}

/// Neither a rate nor a word that is known.
void refuse_pacing(const Node& node, ScalarReader& read) {
  const std::string nearest = nearest_name(node.text, kPacings);
  read.wrong(node,
             fmt::format("found `{}`, expected a rate such as 60fps, a mapping, or one of {}", node.text,
                         fmt::join(kPacings, ", ")),
             parse_real(node.text) ? fmt::format("a rate needs a unit: did you mean `{}fps`?", node.text)
             : nearest.empty()     ? ""
                                   : fmt::format("did you mean `{}`?", nearest));
}

/// "60fps" is vsync at that rate; a mapping says more.
void read_pacing(const Node& node, ClientReading& out, ScalarReader& read) {
  Pacing pacing;
  if (node.is_mapping()) {
    PacingReading given;
    read_fields(node, pacing_fields(), "key", given, read);
    if (!given.period)
      return read.wrong(node, "a paced client needs a `rate` or a `period`",
                        "for example `{ rate: 60/s, vsync: false }`");
    pacing.mode = given.is_vsync ? Pacing::Mode::kVsync : Pacing::Mode::kLimited;
    pacing.period = *given.period;
  } else if (const auto rate = parse_rate(node.text); rate && *rate > 0) {
    pacing.mode = Pacing::Mode::kVsync;
    pacing.period = period_of(*rate);
  } else if (node.text == "recorded") {
    out.choice.pacing.reset();
    return;
  } else if (node.is_scalar() && std::ranges::find(kPacings, node.text) == kPacings.end()) {
    return refuse_pacing(node, read);
  } else if (const auto mode = read.choice(node, kPacings)) {
    pacing.mode = *mode == 0 ? Pacing::Mode::kUncapped : Pacing::Mode::kSyncEachJob;
  } else {
    return;
  }
  out.choice.pacing = pacing;
}

void read_phase(const Node& node, ClientReading& out, ScalarReader& read) {
  constexpr std::array<std::string_view, 2> kPhases = {"random", "0"};
  if (const auto index = read.choice(node, kPhases)) out.choice.random_phase = *index == 0;
}

void read_quality_field(const Node& node, ClientReading& out, ScalarReader& read) {
  read_quality(node, out.choice, read);
}

const FieldTable<ResizeReading>& resize_fields() {
  static const FieldTable<ResizeReading> table = {
      {"at", "duration",
       [](const Node& node, ResizeReading& out, ScalarReader& read) {
         out.at = read.duration(node, Duration(0), kLongest, "s");
       }},
      {"share", "number",
       [](const Node& node, ResizeReading& out, ScalarReader& read) { out.share = read.number(node, 0.001, 1); }},
      {"memory", "size",
       [](const Node& node, ResizeReading& out, ScalarReader& read) { out.bytes = read.bytes(node); }},
  };
  return table;
}

void read_resizes(const Node& node, ClientReading& out, ScalarReader& read) {
  constexpr std::string_view kExample = "{ at: 20s, share: 0.6, memory: 4GiB }";
  out.resizes.clear();
  if (!read.expect(node, Node::Kind::kSequence, fmt::format("[{}]", kExample))) return;
  Duration before{-1};
  for (const Node& item : node.items) {
    if (!read.expect(item, Node::Kind::kMapping, kExample)) continue;
    ResizeReading resize;
    read_fields(item, resize_fields(), "key", resize, read);
    if (item.find("at") == nullptr || (item.find("share") == nullptr && item.find("memory") == nullptr))
      read.wrong(item, "a resize needs `at`, and a `share` or a `memory` from then on");
    if (!resize.at) continue;
    if (*resize.at <= before)
      read.wrong(item, fmt::format("found a resize at {} after one at {}, expected a later one",
                                   format_duration(*resize.at), format_duration(before)));
    before = *resize.at;
    out.resizes.push_back(resize);
  }
}

/// What a resize does not state stays. Read after what the client asks for at first, whatever the order in the file.
void settle_resizes(const std::vector<ResizeReading>& resizes, ClientChoice& out) {
  Resize present{Duration{0}, out.requested_share, out.requested_bytes};
  for (const ResizeReading& resize : resizes) {
    present = {*resize.at, resize.share.value_or(present.share), resize.bytes.value_or(present.bytes)};
    out.resizes.push_back(present);
  }
}

void read_qos_field(const Node& node, ClientReading& out, ScalarReader& read) {
  if (!read.expect(node, Node::Kind::kMapping, "{ frame_time_p99: \"<= 16.7ms\" }")) return;
  out.choice.qos.clear();
  for (const Node::Entry& entry : node.entries) out.choice.qos.emplace_back(entry.key, entry.value);
}

template <class T>
ClientField option_field(std::string_view key, T WorkloadOptions::*member, std::uint64_t maximum) {
  return {key, "whole number", [=](const Node& node, ClientReading& out, ScalarReader& read) {
            if (const auto value = read.integer(node, 1, maximum)) out.choice.options.*member = static_cast<T>(*value);
          }};
}

bool check_name(const Node& node, const std::string& name, ScalarReader& read) {
  const bool is_plain = name.find_first_of(". \t\n\"'[]{}") == std::string::npos;
  if (!name.empty() && is_plain && name != "device") return true;
  read.wrong(node, name.empty() ? "a client needs a `name`" : fmt::format("`{}` cannot name a client", name), "",
             {"names have no dots, spaces, quotes or brackets, and `device` is the device's own"});
  return false;
}

}  // namespace

const FieldTable<ClientReading>& client_fields() {
  static const FieldTable<ClientReading> table = {
      field("name", "text", &ClientChoice::name, [](const Node& node, ScalarReader& read) { return read.text(node); }),
      {"trace", "path", read_trace},
      {"synthetic", "mapping", read_synthetic_field},
      {"command", "list", read_command},
      {"environment", "mapping", read_environment},
      {"working_folder", "path", read_working_folder},
      field("replay", "choice", &ClientChoice::replay,
            [](const Node& node, ScalarReader& read) -> std::optional<Replay> {
              const auto index = read.choice(node, kReplays);
              if (!index) return std::nullopt;
              return *index == 0 ? Replay::kClosed : Replay::kOpen;
            }),
      {"repeat", "forever or a count", read_repeat},
      field("arrival", "duration", &ClientChoice::arrival,
            [](const Node& node, ScalarReader& read) { return read.duration(node, Duration(0), kLongest, "s"); }),
      field("count", "whole number", &ClientChoice::count,
            [](const Node& node, ScalarReader& read) { return read.integer(node, 1, 1000); }),
      field("stay", "duration", &ClientChoice::stay,
            [](const Node& node, ScalarReader& read) { return read.duration(node, Duration(1ms), kLongest, "s"); }),
      field("every", "duration", &ClientChoice::every,
            [](const Node& node, ScalarReader& read) { return read.duration(node, Duration(0), kLongest, "s"); }),
      field("role", "choice", &ClientChoice::role,
            [](const Node& node, ScalarReader& read) -> std::optional<Role> {
              const auto index = read.choice(node, kRoles);
              if (!index) return std::nullopt;
              return *index == 0 ? Role::kInteractive : Role::kBestEffort;
            }),
      {"pacing", "choice, rate or mapping", read_pacing},
      field("queued_ahead", "whole number", &ClientChoice::queued_ahead,
            [](const Node& node, ScalarReader& read) { return read.integer(node, 0, 64); }),
      option_field("visits", &WorkloadOptions::visits_per_frame, 64),
      {"draw", "duration",
       [](const Node& node, ClientReading& out, ScalarReader& read) {
         if (const auto value = read.duration(node, Duration(1us), kLongest, "ms")) out.choice.options.draw = *value;
       }},
      {"keep_start", "true or false",
       [](const Node& node, ClientReading& out, ScalarReader& read) {
         if (const auto value = read.boolean(node)) out.choice.options.keep_start = *value;
       }},
      option_field("iterations", &WorkloadOptions::iterations, 1'000'000),
      {"gpu_busy_ratio", "number",
       [](const Node& node, ClientReading& out, ScalarReader& read) {
         if (const auto value = read.number(node, 0, 1)) out.choice.options.gpu_busy_ratio = *value;
       }},
      {"allow_co_run", "true or false",
       [](const Node& node, ClientReading& out, ScalarReader& read) {
         if (const auto value = read.boolean(node)) out.choice.options.allow_co_run = *value;
       }},
      field("solo_rate", "rate", &ClientChoice::solo_rate,
            [](const Node& node, ScalarReader& read) { return read.rate(node); }),
      {"phase", "random or 0", read_phase},
      field("host_jitter", "number", &ClientChoice::host_jitter, number_between(0, 2)),
      field("duration_jitter", "number", &ClientChoice::duration_jitter, number_between(0, 2)),
      {"quality", "list, default, knobs or mapping", read_quality_field},
      {"quality_level", "name or number",
       [](const Node& node, ClientReading& out, ScalarReader&) { out.quality_level = &node; }},
      field("share", "number", &ClientChoice::requested_share, number_between(0.001, 1)),
      field("requested_memory", "size", &ClientChoice::requested_bytes,
            [](const Node& node, ScalarReader& read) { return read.bytes(node); }),
      {"resizes", "list", read_resizes},
      {"sm_cap", "number",
       [](const Node& node, ClientReading& out, ScalarReader& read) {
         if (const auto value = read.number(node, 0.001, 1)) out.choice.context.sm_cap = *value;
       }},
      {"working_set", "size",
       [](const Node& node, ClientReading& out, ScalarReader& read) {
         if (const auto value = read.bytes(node)) out.choice.context.working_set_bytes = *value;
       }},
      {"access", "choice",
       [](const Node& node, ClientReading& out, ScalarReader& read) {
         if (const auto index = read.choice(node, kAccesses)) out.choice.context.access = static_cast<Access>(*index);
       }},
      field("allocated", "size", &ClientChoice::allocated_bytes,
            [](const Node& node, ScalarReader& read) { return read.bytes(node); }),
      field("snapshot", "size", &ClientChoice::snapshot_bytes,
            [](const Node& node, ScalarReader& read) { return read.bytes(node); }),
      field("priority", "whole number", &ClientChoice::priority,
            [](const Node& node, ScalarReader& read) { return read.integer(node, 0, 1000); }),
      {"touch_period", "duration",
       [](const Node& node, ClientReading& out, ScalarReader& read) {
         if (const auto value = read.duration(node, Duration(0), kLongest, "ms"))
           out.choice.context.touch_period = *value;
       }},
      {"qos", "mapping", read_qos_field},
  };
  return table;
}

bool read_client(const Node& node, const ClientReading& defaults, ClientChoice& out, ScalarReader& reader) {
  if (!reader.expect(node, Node::Kind::kMapping, "{ name: game, trace: game.corun }")) return false;
  ClientReading reading = defaults;
  reading.choice.where = node.where;
  read_fields(node, client_fields(), "key", reading, reader);
  settle_quality_level(reading.quality_level, reading.choice, reader);
  settle_resizes(reading.resizes, reading.choice);
  out = std::move(reading.choice);
  if (!check_name(node, out.name, reader)) return false;
  const bool has_both = node.find("trace") != nullptr && node.find("synthetic") != nullptr;
  const bool has_work = !out.trace.empty() || out.synthetic.has_value() || node.find("synthetic") != nullptr ||
                        !out.command.words.empty() || node.find("command") != nullptr;
  if (has_both) reader.wrong(node, fmt::format("client `{}` has a `trace` and a `synthetic`: which?", out.name));
  if (!has_work)
    reader.wrong(node, fmt::format("client `{}` has no work", out.name),
                 "give it a `trace:` or a `synthetic:`, or a `command:` for a live run");
  if (const Node* rate = node.find("solo_rate"); rate != nullptr && out.trace.empty())
    reader.wrong(*rate, "`solo_rate` corrects the host gaps of a capture: a synthetic client has none");
  return has_work && !has_both;
}

}  // namespace corun
