#include "experiments/question/clients/client_fields.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <type_traits>

#include "experiments/question/clients/canonical_client.h"
#include "experiments/question/clients/command_choice.h"
#include "experiments/question/clients/quality_choice.h"
#include "experiments/question/clients/server_fields.h"
#include "experiments/question/clients/step_choice.h"
#include "traces/base/units.h"

namespace corun {

namespace {

using namespace std::chrono_literals;

constexpr std::array<std::string_view, 2> kReplays = {"closed", "open"};
constexpr std::array<std::string_view, 2> kRoles = {"interactive", "best_effort"};
constexpr std::array<std::string_view, 3> kPacings = {"uncapped", "sync_each_job", "recorded"};
constexpr std::array<std::string_view, 3> kHostGaps = {"range", "recorded", "none"};
constexpr std::array<std::string_view, 2> kHostWaits = {"evident", "recorded"};
constexpr std::array<std::string_view, 3> kAccesses = {"sequential", "random", "sawtooth"};
constexpr Duration kLongest{std::chrono::hours{24}};

using ReadField = void (*)(const Node&, ClientReading&, ScalarReader&);
using WriteField = void (*)(const ClientChoice&, CanonicalLines&);

/// A key that functions of its own read and write.
ClientField field(std::string_view key, std::string_view type, ReadField read_field, WriteField write_field) {
  return {{key, type, read_field}, write_field};
}

/// A key of one member: `member` gives it of a choice, by std::invoke. `read_value` returns nullopt after a diagnostic.
template <class Member, class Read, class Write>
ClientField field(std::string_view key, std::string_view type, Member member, Read read_value, Write write_value) {
  using T = std::remove_cvref_t<std::invoke_result_t<Member, ClientChoice&>>;
  return {{key, type,
           [=](const Node& node, ClientReading& out, ScalarReader& read) {
             if (auto value = read_value(node, read))
               std::invoke(member, out.choice) = static_cast<T>(std::move(*value));
           }},
          [=](const ClientChoice& choice, CanonicalLines& lines) { write_value(std::invoke(member, choice), lines); }};
}

// How a value is read.

std::optional<std::string> text(const Node& node, ScalarReader& read) { return read.text(node); }
std::optional<std::uint64_t> size(const Node& node, ScalarReader& read) { return read.bytes(node); }
std::optional<double> rate(const Node& node, ScalarReader& read) { return read.rate(node); }
std::optional<bool> true_or_false(const Node& node, ScalarReader& read) { return read.boolean(node); }

auto duration_from(Duration minimum, std::string_view usual_unit) {
  return [=](const Node& node, ScalarReader& read) { return read.duration(node, minimum, kLongest, usual_unit); };
}

auto whole_number(std::uint64_t minimum, std::uint64_t maximum) {
  return [=](const Node& node, ScalarReader& read) { return read.integer(node, minimum, maximum); };
}

/// `names` are those of an enumeration's values, in order.
template <class Enumeration, std::size_t count>
auto choice_of(const std::array<std::string_view, count>& names) {
  return [&names](const Node& node, ScalarReader& read) {
    const auto index = read.choice(node, names);
    return index ? std::optional(static_cast<Enumeration>(*index)) : std::nullopt;
  };
}

auto number_between(double minimum, double maximum) {
  return [=](const Node& node, ScalarReader& read) { return read.number(node, minimum, maximum); };
}

// How a value stands in the canonical form.

template <class T>
auto number_of(const T& value) {
  if constexpr (std::is_same_v<T, Duration>) {
    return to_ns(value);
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<int>(value);
  } else {
    return value;
  }
}

auto always(std::string_view key) {
  return [key](const auto& value, CanonicalLines& lines) { lines.add(key, number_of(value)); };
}

/// Of an optional value.
template <class Default>
auto always_or(std::string_view key, Default by_default) {
  return [=](const auto& value, CanonicalLines& lines) { lines.add(key, value ? number_of(*value) : by_default); };
}

template <class Default>
auto where_stated(std::string_view key, Default by_default) {
  return [=](const auto& value, CanonicalLines& lines) {
    if (value != by_default) lines.add(key, number_of(value));
  };
}

/// In one line with other keys.
auto joined(std::string_view key) {
  return [key](const auto& value, CanonicalLines& lines) { lines.append(key, number_of(value)); };
}

/// The experiment holds its clients one by one, each with its arrival.
constexpr auto decides_nothing = [](const auto&, CanonicalLines&) {};

void read_trace(const Node& node, ClientReading& out, ScalarReader& read) {
  const auto path = read.text(node);
  if (!path) return;
  out.choice.trace = in_folder(out.folder, *path);
  out.choice.trace_where = node.where;
  out.choice.synthetic.reset();
}

void read_power(const Node& node, ClientReading& out, ScalarReader& read) {
  static const FieldTable<PowerMean> table = {
      unit_field("mean", "W", &PowerMean::watts, 1, PowerMean::kMostWatts),
      unit_field("clock", "MHz", &PowerMean::sm_mhz, 1, PowerMean::kMostMhz),
  };
  if (!read.expect(node, Node::Kind::kMapping, "{ mean: 690W, clock: 1845MHz }")) return;
  PowerMean mean;
  read_fields(node, table, "key", mean, read);
  if (node.find("mean") == nullptr)
    read.wrong(node, "`power` needs its `mean`", "the watts that nvidia-smi shows while the program runs alone");
  out.choice.power = mean;
}

void write_power(const ClientChoice& client, CanonicalLines& lines) {
  if (client.power) lines.add("power", fmt::format("{} {}", client.power->watts, client.power->sm_mhz));
}

void read_capped_rates(const Node& node, ClientReading& out, ScalarReader& read) {
  constexpr double kLeast = 0.01, kMost = 0.99;
  for (const Node::Entry& entry : node.entries) {
    Node part;
    part.where = entry.where;
    part.text = entry.key;
    const auto fraction = read.number(part, kLeast, kMost);
    const auto rate = read.rate(entry.value);
    if (!fraction || !rate) continue;
    auto& rates = out.choice.capped_rates;
    if (std::ranges::find(rates, *fraction, &CappedRate::fraction) != rates.end())
      read.wrong(part, fmt::format("{} of the SMs is there twice", entry.key));
    rates.push_back({*fraction, *rate});
  }
}

void read_fewer_sms(const Node& node, ClientReading& out, ScalarReader& read) {
  out.choice.fewer_sms.clear();
  out.choice.capped_rates.clear();
  if (node.is_mapping()) return read_capped_rates(node, out, read);
  if (!read.expect(node, Node::Kind::kSequence, "[train.50.corun, train.25.corun] or { 50%: 24/s, 25%: 13/s }")) return;
  for (const Node& item : node.items)
    if (const auto path = read.text(item)) out.choice.fewer_sms.push_back({in_folder(out.folder, *path), item.where});
}

void read_synthetic_field(const Node& node, ClientReading& out, ScalarReader& read) {
  out.choice.synthetic = read_synthetic(node, read);
  if (out.choice.synthetic)
    for (SceneTrace& scene : out.choice.synthetic->scene_traces) scene.path = in_folder(out.folder, scene.path);
  out.choice.trace.clear();
}

std::optional<std::uint64_t> forever_or_a_count(const Node& node, ScalarReader& read) {
  if (node.is_scalar() && node.text == "forever") return 0;
  return read.integer(node, 1, 1'000'000'000);
}

void read_replay(const Node& node, ClientReading& out, ScalarReader& read) {
  if (const auto replay = choice_of<Replay>(kReplays)(node, read)) out.choice.replay = *replay;
}

void write_replay(const ClientChoice& client, CanonicalLines& lines) {
  lines.add("replay", static_cast<int>(client.replay_or_default()));
}

/// Of a display, or of a program that limits itself.
std::optional<Duration> paced_period(const Node& node, ScalarReader& read) {
  constexpr double kLeastRate = 1e-4, kMostRate = 1e6;
  const auto given = parse_rate(node.text);
  if (given && *given > 0 && (*given < kLeastRate || *given > kMostRate)) {
    read.wrong(node, fmt::format("{} is out of range, expected a rate from {}/s to {}/s", node.text, kLeastRate,
                                 static_cast<int>(kMostRate)));
    return std::nullopt;
  }
  const auto rate = read.rate(node);
  return rate ? std::optional(Duration{std::llround(1e9 / *rate)}) : std::nullopt;
}

struct PacingReading {
  std::optional<Duration> period;
  bool is_vsync = true;
};

const FieldTable<PacingReading>& pacing_fields() {
  static const FieldTable<PacingReading> table = {
      {"rate", "rate",
       [](const Node& node, PacingReading& out, ScalarReader& read) { out.period = paced_period(node, read); }},
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
    const bool has_said = node.find("rate") != nullptr || node.find("period") != nullptr;
    if (!given.period && !has_said)
      read.wrong(node, "a paced client needs a `rate` or a `period`", "for example `{ rate: 60/s, vsync: false }`");
    if (!given.period) return;
    pacing.mode = given.is_vsync ? Pacing::Mode::kVsync : Pacing::Mode::kLimited;
    pacing.period = *given.period;
  } else if (const auto rate = parse_rate(node.text); rate && *rate > 0) {
    const auto period = paced_period(node, read);
    if (!period) return;
    pacing.mode = Pacing::Mode::kVsync;
    pacing.period = *period;
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

std::optional<bool> is_random(const Node& node, ScalarReader& read) {
  constexpr std::array<std::string_view, 2> kPhases = {"random", "0"};
  const auto index = read.choice(node, kPhases);
  return index ? std::optional(*index == 0) : std::nullopt;
}

void read_host_jitter(const Node& node, ClientReading& out, ScalarReader& read) {
  if (const auto value = read.number(node, 0, 2)) out.choice.host_jitter = *value;
}

void read_quality_field(const Node& node, ClientReading& out, ScalarReader& read) {
  read_quality(node, out.choice, read);
}

void read_quality_level(const Node& node, ClientReading& out, ScalarReader&) { out.quality_level = &node; }

void write_quality_level(const ClientChoice& client, CanonicalLines& lines) {
  lines.add("quality_level", client.quality_level);
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

void read_accept(const Node& node, ClientReading& out, ScalarReader& read) {
  out.choice.accepted.clear();
  if (!read.expect(node, Node::Kind::kSequence, fmt::format("[{}]", kDoubts.front()))) return;
  for (const Node& item : node.items)
    if (const auto doubt = choice_of<Doubt>(kDoubts)(item, read)) out.choice.accepted.push_back(*doubt);
}

/// What a client does, and how it is made of a capture.
std::vector<ClientField> work_fields() {
  const auto option = [](auto member) {
    return [member](auto& choice) -> auto& { return choice.options.*member; };
  };
  return {
      field("name", "text", &ClientChoice::name, text, always("name")),
      field("trace", "path", read_trace, write_trace),
      field("fewer_sms", "list of paths, or rates", read_fewer_sms, write_fewer_sms),
      field("synthetic", "mapping", read_synthetic_field, write_synthetic),
      field("command", "list", read_command, write_command),
      field("environment", "mapping", read_environment, nullptr),     // written with the command
      field("working_folder", "path", read_working_folder, nullptr),  // likewise
      field(
          "restartable", "true or false", [](auto& choice) -> auto& { return choice.command.is_restartable; },
          true_or_false, where_stated("restartable", false)),
      field("iterations", "whole number", option(&WorkloadOptions::iterations), whole_number(1, 1'000'000),
            joined("options")),
      field("step", "whole or mapping", read_step, write_step),
      field("visits", "whole number", option(&WorkloadOptions::visits_per_frame), whole_number(1, 64),
            joined("options")),
      field("gpu_busy_ratio", "number", option(&WorkloadOptions::gpu_busy_ratio), number_between(0, 1),
            joined("options")),
      field("draw", "duration", option(&WorkloadOptions::draw), duration_from(1us, "ms"), where_stated("draw_ns", 0s)),
      field("run", "whole number", option(&WorkloadOptions::run), whole_number(1, 1'000'000), where_stated("run", 0U)),
      field("keep_start", "true or false", option(&WorkloadOptions::keep_start), true_or_false,
            where_stated("keep_start", false)),
      field("allow_co_run", "true or false", option(&WorkloadOptions::allow_co_run), true_or_false,
            where_stated("allow_co_run", false)),
      field("host_waits", "choice", option(&WorkloadOptions::host_waits), choice_of<HostWaits>(kHostWaits),
            where_stated("host_waits", HostWaits::kEvident)),
      field("gpu", "whole number", option(&WorkloadOptions::gpu), whole_number(0, 1023),
            where_stated("gpu", WorkloadOptions::kOnlyGpu)),
      field("solo_rate", "rate", &ClientChoice::solo_rate, rate, always_or("solo_rate", 0.0)),
      field("power", "mapping", read_power, write_power),
      field("server", "mapping", read_server, write_server),
  };
}

/// When a client comes and goes, and how its jobs follow one another.
std::vector<ClientField> course_fields() {
  return {
      field("count", "whole number", &ClientChoice::count, whole_number(1, 1000), decides_nothing),
      field("every", "duration", &ClientChoice::every, duration_from(0s, "s"), decides_nothing),
      field("arrival", "duration", &ClientChoice::arrival, duration_from(0s, "s"), always("arrival_ns")),
      field("phase", "random or 0", &ClientChoice::random_phase, is_random, always("random_phase")),
      field("first_job", "random or 0", &ClientChoice::random_first_job, is_random,
            where_stated("random_first_job", false)),
      field("stay", "duration", &ClientChoice::stay, duration_from(1ms, "s"), where_stated("stay_ns", 0s)),
      field("replay", "choice", read_replay, write_replay),
      field("repeat", "forever or a count", &ClientChoice::repeat, forever_or_a_count, always("repeat")),
      field("pacing", "choice, rate or mapping", read_pacing, write_pacing),
      field("queued_ahead", "whole number", &ClientChoice::queued_ahead, whole_number(0, 64),
            always_or("queued_ahead", Pacing::kByMode)),
      field("host_gaps", "choice", &ClientChoice::host_gaps, choice_of<HostGaps>(kHostGaps),
            where_stated("host_gaps", HostGaps::kRange)),
      field("host_speed", "number", &ClientChoice::host_speed, number_between(0.01, 100),
            where_stated("host_speed", 1.0)),
      field("host_jitter", "number", read_host_jitter, write_host_jitter),
      field("duration_jitter", "number", &ClientChoice::duration_jitter, number_between(0, 2), joined("jitter")),
  };
}

/// What a client's owner says and asks for.
std::vector<ClientField> owner_fields() {
  return {
      field("role", "choice", &ClientChoice::role, choice_of<Role>(kRoles), always_or("role", -1)),
      field("priority", "whole number", &ClientChoice::priority, whole_number(0, 1000), always("priority")),
      field("quality", "list, default, knobs or mapping", read_quality_field, write_quality),
      field("quality_level", "name or number", read_quality_level, write_quality_level),
      field("share", "number", &ClientChoice::requested_share, number_between(0.001, 1), where_stated("share", 0.0)),
      field("requested_memory", "size", &ClientChoice::requested_bytes, size, where_stated("requested_bytes", 0U)),
      field("resizes", "list", read_resizes, write_resizes),
      field("qos", "mapping", read_qos_field, nullptr),  // decides nothing
      field("accept", "list", read_accept, nullptr),     // likewise
  };
}

/// What a client brings to the device.
std::vector<ClientField> memory_fields() {
  const auto context = [](auto member) {
    return [member](auto& choice) -> auto& { return choice.context.*member; };
  };
  return {
      field("sm_cap", "number", context(&ContextSpec::sm_cap), number_between(0.001, 1), joined("context")),
      field("working_set", "size", context(&ContextSpec::working_set_bytes), size, joined("context")),
      field("touch_period", "duration", context(&ContextSpec::touch_period), duration_from(0s, "ms"),
            joined("context")),
      field("access", "choice", context(&ContextSpec::access), choice_of<Access>(kAccesses), joined("context")),
      field("allocated", "size", &ClientChoice::allocated_bytes, size, joined("memory")),
      field("snapshot", "size", &ClientChoice::snapshot_bytes, size, joined("memory")),
  };
}

bool check_name(const Node& node, const std::string& name, ScalarReader& read) {
  const bool is_plain = name.find_first_of(". \t\n\"'[]{}") == std::string::npos;
  if (!name.empty() && is_plain && name != "device") return true;
  read.wrong(node, name.empty() ? "a client needs a `name`" : fmt::format("`{}` cannot name a client", name), "",
             {"names have no dots, spaces, quotes or brackets, and `device` is the device's own"});
  return false;
}

}  // namespace

const std::vector<ClientField>& client_fields() {
  static const std::vector<ClientField> table = [] {
    std::vector<ClientField> all;
    for (const auto& group : {work_fields(), course_fields(), owner_fields(), memory_fields()})
      all.insert(all.end(), group.begin(), group.end());
    return all;
  }();
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
  if (const Node* power = node.find("power"); power != nullptr && out.trace.empty())
    reader.wrong(*power, "`power` is of a captured program: a synthetic client draws none that is known");
  if (const Node* rates = node.find("fewer_sms"); rates != nullptr && rates->is_mapping() && out.trace.empty())
    reader.wrong(*rates, "rates with fewer SMs are those of a captured program: a synthetic client has none");
  if (const Node* gaps = node.find("host_gaps"); gaps != nullptr && out.solo_rate)
    reader.wrong(*gaps, "`host_gaps` is for a client whose `solo_rate` is not known, and here it is stated");
  settle_server(node, out, reader);
  return has_work && !has_both;
}

}  // namespace corun
