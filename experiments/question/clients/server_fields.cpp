#include "experiments/question/clients/server_fields.h"

#include <array>

#include "experiments/question/clients/value_fields.h"

namespace corun {

namespace {

using namespace std::chrono_literals;

constexpr std::array<std::string_view, 3> kBatchings = {"prefill_first", "chunked", "mixed"};
constexpr std::array<std::string_view, 3> kWaysOfArriving = {"poisson", "periodic", "bursts"};
constexpr std::uint64_t kMostTokens = 10'000'000;
constexpr double kLeastShare = 0.01;

/// What reading a server needs besides what it fills in.
struct ServerReading {
  ServerChoice choice;
  std::string folder;
};

const FieldTable<TokenCount>& token_fields() {
  static const FieldTable<TokenCount> table = {
      number_field("mean", &TokenCount::mean, 1, kMostTokens),
      number_field("cv", &TokenCount::cv, 0, 100),
      count_field("least", &TokenCount::least, 1, kMostTokens),
      count_field("most", &TokenCount::most, 1, kMostTokens),
  };
  return table;
}

/// `512`, or a distribution.
TokenCount read_tokens(const Node& node, ScalarReader& read) {
  TokenCount tokens;
  if (node.is_mapping()) {
    read_fields(node, token_fields(), "key", tokens, read);
    if (node.find("mean") == nullptr) read.wrong(node, "a number of tokens needs a `mean`");
    if (tokens.least > tokens.most)
      read.wrong(node, fmt::format("at least {} and at most {} tokens", tokens.least, tokens.most));
  } else {
    tokens.mean = static_cast<double>(read.integer(node, 1, kMostTokens).value_or(0));
  }
  return tokens;
}

const FieldTable<ServerReading>& served_request_fields() {
  static const FieldTable<ServerReading> table = {
      {"rate", "rate",
       [](const Node& node, ServerReading& out, ScalarReader& read) {
         out.choice.load.rate_per_s = read.rate(node).value_or(0);
       }},
      {"arrivals", "choice",
       [](const Node& node, ServerReading& out, ScalarReader& read) {
         if (const auto index = read.choice(node, kWaysOfArriving))
           out.choice.load.arrivals = static_cast<RequestLoad::Arrivals>(*index);
       }},
      {"burst", "number",
       [](const Node& node, ServerReading& out, ScalarReader& read) {
         out.choice.load.burst = read.number(node, 1, 100'000).value_or(1);
       }},
      {"concurrency", "whole number",
       [](const Node& node, ServerReading& out, ScalarReader& read) {
         out.choice.concurrency = static_cast<std::uint32_t>(read.integer(node, 1, 100'000).value_or(0));
       }},
      {"file", "path",
       [](const Node& node, ServerReading& out, ScalarReader& read) {
         if (const auto path = read.text(node)) out.choice.requests = {in_folder(out.folder, *path), node.where};
       }},
      {"prompt", "whole number or mapping",
       [](const Node& node, ServerReading& out, ScalarReader& read) {
         out.choice.load.prompt = read_tokens(node, read);
       }},
      {"output", "whole number or mapping",
       [](const Node& node, ServerReading& out, ScalarReader& read) {
         out.choice.load.output = read_tokens(node, read);
       }},
  };
  return table;
}

void read_served_requests(const Node& node, ServerReading& out, ScalarReader& read) {
  constexpr std::string_view kExample = "{ rate: 4/s, prompt: 512, output: 128 } or { file: requests.csv }";
  if (!read.expect(node, Node::Kind::kMapping, kExample)) return;
  read_fields(node, served_request_fields(), "key", out, read);
  const bool is_file = node.find("file") != nullptr, is_closed = node.find("concurrency") != nullptr;
  const auto refuse_beside = [&](std::string_view key, std::string_view why) {
    if (const Node* extra = node.find(key)) read.wrong(*extra, fmt::format("`{}` means nothing here: {}", key, why));
  };
  for (const std::string_view key : {"rate", "arrivals", "burst"}) {
    if (is_file) refuse_beside(key, "the file has the arrivals");
    if (is_closed && !is_file) refuse_beside(key, "with `concurrency` each end of a request is an arrival");
  }
  for (const std::string_view key : {"prompt", "output"}) {
    if (is_file) refuse_beside(key, "the file has the tokens");
    if (!is_file && node.find(key) == nullptr)
      read.wrong(node, fmt::format("requests need `{}`, the number of its tokens", key), std::string(kExample));
  }
  if (!is_file && !is_closed && node.find("rate") == nullptr)
    read.wrong(node, "requests need a `rate`, a `concurrency` or a `file`", std::string(kExample));
  if (node.find("burst") != nullptr && out.choice.load.arrivals != RequestLoad::Arrivals::kBursts)
    refuse_beside("burst", "only `arrivals: bursts` have one");
}

const FieldTable<ServiceLevel>& service_level_fields() {
  static const FieldTable<ServiceLevel> table = {
      duration_field("ttft", &ServiceLevel::ttft, Duration(1us), Duration(1h)),
      duration_field("tpot", &ServiceLevel::tpot, Duration(1us), Duration(1h)),
  };
  return table;
}

const FieldTable<ServerReading>& server_fields() {
  const auto limit = [](auto member) {
    return [member](ServerReading & out) -> auto& { return out.choice.limits.*member; };
  };
  static const FieldTable<ServerReading> table = {
      {"requests", "mapping", read_served_requests},
      {"batching", "choice",
       [](const Node& node, ServerReading& out, ScalarReader& read) {
         if (const auto index = read.choice(node, kBatchings))
           out.choice.limits.batching = static_cast<Batching>(*index);
       }},
      count_field<ServerReading>("chunk", limit(&BatchLimits::chunk), 1, kMostTokens),
      count_field<ServerReading>("prompts_per_step", limit(&BatchLimits::prompts_per_step), 1, 100'000),
      {"prefill_share", "number",
       [](const Node& node, ServerReading& out, ScalarReader& read) {
         out.choice.prefill_share = read.number(node, kLeastShare, 1 - kLeastShare).value_or(0);
       }},
      count_field<ServerReading>("max_batch", limit(&BatchLimits::max_batch), 1, 100'000),
      count_field<ServerReading>("kv_tokens", limit(&BatchLimits::kv_tokens), 1, 1'000'000'000'000),
      count_field<ServerReading>("max_queue", limit(&BatchLimits::max_queue), 1, 1'000'000'000),
      {"pads", "true or false",
       [](const Node& node, ServerReading& out, ScalarReader& read) {
         out.choice.pads = read.boolean(node).value_or(false);
       }},
      {"step_times", "path",
       [](const Node& node, ServerReading& out, ScalarReader& read) {
         if (const auto path = read.text(node)) out.choice.step_times = {in_folder(out.folder, *path), node.where};
       }},
      {"slo", "mapping",
       [](const Node& node, ServerReading& out, ScalarReader& read) {
         if (read.expect(node, Node::Kind::kMapping, "{ ttft: 500ms, tpot: 50ms }"))
           read_fields(node, service_level_fields(), "key", out.choice.level, read);
       }},
  };
  return table;
}

std::string tokens_text(const TokenCount& tokens) {
  return fmt::format("{}/{}/{}-{}", tokens.mean, tokens.cv, tokens.least, tokens.most);
}

}  // namespace

void read_server(const Node& node, ClientReading& out, ScalarReader& read) {
  constexpr std::uint32_t kUsualChunk = 512;
  if (!read.expect(node, Node::Kind::kMapping, "{ requests: { rate: 4/s, prompt: 512, output: 128 }, max_batch: 32 }"))
    return;
  ServerReading reading{{}, out.folder};
  reading.choice.where = node.where;
  reading.choice.limits.chunk = kUsualChunk;
  read_fields(node, server_fields(), "key", reading, read);
  for (const std::string_view key : {"requests", "max_batch", "kv_tokens"})
    if (node.find(key) == nullptr) read.wrong(node, fmt::format("a server needs `{}`", key));
  if (const Node* batching = node.find("batching"); batching != nullptr && reading.choice.prefill_share > 0)
    read.wrong(*batching, "`batching` means nothing here: with `prefill_share` prompts are read while it decodes");
  out.choice.server = std::move(reading.choice);
}

void write_server(const ClientChoice& client, CanonicalLines& lines) {
  if (!client.server) return;
  const ServerChoice& server = *client.server;
  const BatchLimits& limits = server.limits;
  lines.add("server",
            fmt::format("batching={} chunk={} batch={} kv={} queue={} pads={}", static_cast<int>(limits.batching),
                        limits.chunk, limits.max_batch, limits.kv_tokens, limits.max_queue, server.pads));
  lines.add("server.level_ns", fmt::format("{} {}", to_ns(server.level.ttft), to_ns(server.level.tpot)));
  const RequestLoad& load = server.load;
  lines.add("server.requests",
            server.requests.path.empty()
                ? fmt::format("arrivals={} rate={} burst={} prompt={} output={}", static_cast<int>(load.arrivals),
                              load.rate_per_s, load.burst, tokens_text(load.prompt), tokens_text(load.output))
                : lines.hash_of(server.requests.path));
  if (!server.step_times.path.empty()) lines.add("server.step_times", lines.hash_of(server.step_times.path));
  if (server.concurrency > 0) lines.add("server.concurrency", server.concurrency);
  if (limits.prompts_per_step > 1) lines.add("server.prompts_per_step", limits.prompts_per_step);
  if (server.prefill_share > 0) lines.add("server.prefill_share", server.prefill_share);
}

void settle_server(const Node& node, ClientChoice& out, ScalarReader& read) {
  const bool is_engine = out.synthetic && std::holds_alternative<EngineProfile>(out.synthetic->numbers);
  if (is_engine && !out.server)
    read.wrong(node, fmt::format("client `{}`: an engine has no work without requests", out.name),
               "state `server:` with the requests that come");
  if (!out.server) return;
  if (is_engine && !out.server->step_times.path.empty())
    read.wrong(*node.find("server")->find("step_times"), "a synthetic engine has the step times that it states");
  if (out.synthetic && !is_engine)
    read.wrong(node, fmt::format("client `{}`: only an engine can serve", out.name),
               "give it a `trace:` whose ranges state the sizes of steps, or `synthetic: { engine: ... }`");
  for (const std::string_view key : {"step", "iterations", "solo_rate", "replay", "repeat", "pacing"})
    if (const Node* extra = node.find(key))
      read.wrong(*extra, fmt::format("`{}` means nothing for a server: its requests decide which steps come", key));
  if (!out.capped_rates.empty())
    read.wrong(*node.find("fewer_sms"), "a server's rates with fewer SMs depend on its requests",
               "name captures of its engine under MPS percentages: `fewer_sms: [engine.50.corun]`");
  if (!out.trace.empty()) out.options.step = {StepChoice::By::kSized, "", 0};
}

}  // namespace corun
