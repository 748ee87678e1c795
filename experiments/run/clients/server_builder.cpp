#include "experiments/run/clients/server_builder.h"

#include <algorithm>

#include "experiments/run/clients/serving_files.h"
#include "sim/serving/step_costs.h"
#include "traces/base/units.h"

namespace corun {

namespace {

constexpr std::size_t kMostDrawn = 200'000;
constexpr double kNotableError = 0.03;

[[noreturn]] void refuse(const ClientChoice& client, const std::string& what, const std::string& help) {
  throw Error(ErrorKind::kInput, client.server->where, fmt::format("client `{}`: {}", client.name, what), help);
}

std::vector<ServedRequest> requests_of(const ClientChoice& client, Duration horizon, std::uint64_t seed) {
  const ServerChoice& server = *client.server;
  if (!server.requests.path.empty()) return read_request_file(server.requests.path);
  RandomStream random(seed, client.name + "/requests");
  if (server.concurrency > 0) return draw_lengths(server.load, kMostDrawn, random);
  if (const double expected = server.load.rate_per_s * to_seconds(horizon); expected > kMostDrawn)
    refuse(client,
           fmt::format("{:.0f} requests come within {}, and at most {} are drawn", expected, format_duration(horizon),
                       kMostDrawn),
           fmt::format("a `rate` of up to {:.0f}/s, or a shorter `horizon`", kMostDrawn / to_seconds(horizon)));
  return draw_requests(server.load, horizon, random);
}

/// What the requests and limits ask of the captured steps, at most.
struct Reach {
  std::uint32_t chunk = 0, prefill_context = 0, decode_context = 0;
};

Reach reach_of(const ServerSpec& server) {
  Reach reach;
  const std::uint64_t at_once = server.limits.prompts_per_step;
  const bool begin_anywhere = server.limits.batching == Batching::kMixed || at_once > 1;
  for (const ServedRequest& request : server.requests) {
    const std::uint32_t chunk = std::min(server.limits.chunk, request.prompt);
    reach.chunk = std::max<std::uint32_t>(reach.chunk, std::min<std::uint64_t>(server.limits.chunk, at_once * chunk));
    const std::uint32_t last_begin = begin_anywhere ? request.prompt - 1 : (request.prompt - 1) / chunk * chunk;
    reach.prefill_context = std::max(reach.prefill_context, last_begin);
    reach.decode_context = std::max(reach.decode_context, request.prompt + request.output - 1);
  }
  return reach;
}

void check_room(const ClientChoice& client, const ServerSpec& server) {
  std::uint64_t most = 0;
  for (const ServedRequest& request : server.requests)
    most = std::max(most, std::uint64_t{request.prompt} + request.output);
  if (most > server.limits.kv_tokens)
    refuse(
        client,
        fmt::format("a request has {} tokens, and the KV cache holds {} (`kv_tokens`)", most, server.limits.kv_tokens),
        "state what the engine reports, or bound `prompt` and `output` by `most`");
}

void check_counts(const ClientChoice& client, const ServerSpec& server, const StepCosts& costs, const Reach& reach) {
  using Kind = StepSize::Kind;
  const bool decodes = std::ranges::any_of(server.requests, [](const ServedRequest& r) { return r.output > 1; });
  for (const auto& [kind, name] : {std::pair{Kind::kPrefill, "prefill"}, std::pair{Kind::kDecode, "decode"}})
    if (!costs.has(kind) && (kind == Kind::kPrefill || decodes))
      refuse(client, fmt::format("no step of its capture is a {}", name),
             "capture the engine while it does both (docs/serving.md)");
  const std::uint32_t chunk = costs.largest_count(Kind::kPrefill), batch = costs.largest_count(Kind::kDecode);
  if (reach.chunk > chunk)
    refuse(client,
           fmt::format("steps read up to {} tokens of {}, and the largest that was captured reads {}", reach.chunk,
                       server.limits.prompts_per_step > 1 ? "prompts" : "a prompt", chunk),
           fmt::format("`chunk: {}`, or a capture with larger ones", chunk));
  if (decodes && server.limits.max_batch > batch)
    refuse(client,
           fmt::format("`max_batch` is {}, and the largest decode that was captured has {} sequences",
                       server.limits.max_batch, batch),
           fmt::format("`max_batch: {}`, or a capture with larger ones", batch));
}

/// Contexts that no captured step has: refused where captures differ in their contexts, and said where none states one.
void check_contexts(const ClientChoice& client, const std::vector<CapturedStep>& steps, ServerSpec& server,
                    const StepCosts& costs, const Reach& reach) {
  const bool states_contexts =
      std::ranges::any_of(steps, [](const CapturedStep& step) { return step.size.context > 0; });
  if (!states_contexts) {
    server.notes.push_back(
        "warning: its captured steps do not state their contexts: attention over longer ones costs "
        "as in the capture");
    return;
  }
  const std::uint32_t batch = std::min<std::uint64_t>(server.limits.max_batch, server.requests.size());
  for (const StepSize& size : {StepSize{StepSize::Kind::kPrefill, reach.chunk, reach.prefill_context},
                               StepSize{StepSize::Kind::kDecode, batch, reach.decode_context}}) {
    if (!costs.has(size.kind) || costs.covers(size)) continue;
    const bool is_prefill = size.kind == StepSize::Kind::kPrefill;
    refuse(client,
           fmt::format("{} reach a context of {} tokens, and captured ones of that size do not",
                       is_prefill ? "prompts" : "decodes", size.context),
           is_prefill ? "a larger `chunk`, shorter prompts (`most`), or a capture of later chunks"
                      : "bound `prompt` and `output` by `most`, or capture decodes of longer contexts");
  }
}

/// What is not known of steps of prompts and decodes at once.
void note_mixed_steps(ServerSpec& server, const StepCosts& costs, const Reach& reach) {
  const std::uint32_t decodes = server.limits.max_batch - 1;
  if (server.limits.batching != Batching::kMixed || decodes == 0 || server.limits.chunk <= decodes) return;
  if (costs.has_mixed()) {
    if (const double error = costs.mixed_error(); error > kNotableError)
      server.notes.push_back(fmt::format(
          "warning: its captured steps of prompts and decodes at once are told within {:.0f} %: those between "
          "them are that uncertain",
          100 * error));
    return;
  }
  const std::uint32_t tokens = std::min(reach.chunk, server.limits.chunk - decodes);
  const StepSize largest{StepSize::Kind::kMixed, tokens, 0, decodes, reach.decode_context};
  const auto [least, most] = costs.mixed_range(largest);
  server.notes.push_back(fmt::format(
      "warning: its capture has no step of prompts and decodes at once; the largest is taken as {:.3g} ms, and "
      "may be {:.3g} to {:.3g} ms",
      to_milliseconds(costs.device_time(largest)), to_milliseconds(least), to_milliseconds(most)));
}

/// What is not known of steps of several prompts.
void note_several_prompts(ServerSpec& server, const StepCosts& costs, const Reach& reach) {
  const std::uint32_t prompts = std::min({server.limits.prompts_per_step, server.limits.max_batch, reach.chunk});
  if (prompts < 2) return;
  if (costs.has_several_prompts()) {
    if (const double error = costs.several_prompts_error(); error > kNotableError)
      server.notes.push_back(fmt::format(
          "warning: its captured steps of several prompts are told within {:.0f} %: those between them are that "
          "uncertain",
          100 * error));
    return;
  }
  const StepSize two{.kind = StepSize::Kind::kPrefill, .count = reach.chunk, .prompts = 2};
  const auto [least, most] = costs.prompts_range(two);
  server.notes.push_back(
      fmt::format("warning: its capture has no step of several prompts; the largest of two is taken as one prompt of "
                  "all tokens, {:.3g} ms, and may be up to {:.3g} ms",
                  to_milliseconds(least), to_milliseconds(most)));
}

}  // namespace

std::shared_ptr<const ServerSpec> server_of(const ClientChoice& client, const std::vector<CapturedStep>& steps,
                                            Duration horizon, std::uint64_t seed) {
  const ServerChoice& choice = *client.server;
  auto server = std::make_shared<ServerSpec>();
  server->limits = choice.limits;
  server->pads = choice.pads;
  server->concurrency = choice.concurrency;
  server->level = choice.level;
  server->requests = requests_of(client, horizon, seed);
  const StepCosts costs(steps, choice.pads);
  const Reach reach = reach_of(*server);
  if (!server->requests.empty()) {
    check_room(client, *server);
    check_counts(client, *server, costs, reach);
    check_contexts(client, steps, *server, costs, reach);
    note_mixed_steps(*server, costs, reach);
    note_several_prompts(*server, costs, reach);
  }
  if (const double error = costs.interpolation_error(); error > kNotableError)
    server->notes.push_back(fmt::format(
        "warning: captured sizes of its steps tell one another within {:.0f} %: sizes between them are that uncertain",
        100 * error));
  return server;
}

}  // namespace corun
