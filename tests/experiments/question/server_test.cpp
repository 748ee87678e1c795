#include <gtest/gtest.h>

#include "tests/experiments/question/experiment_text.h"

namespace corun {
namespace {

using namespace std::chrono_literals;
using testing::complaints;
using testing::read_text;

constexpr const char* kEngine = "synthetic: { engine: { prefill: { per_token: 20us }, decode: { base: 6ms } } }";
constexpr const char* kServer = "{ requests: { rate: 4/s, prompt: 512, output: 128 }, max_batch: 8, kv_tokens: 10000 }";

std::string with_client(const std::string& keys) {
  return fmt::format("name: e\ndevice: h200\npolicies: [passthrough]\nclients:\n  - {{ name: a, {} }}\n", keys);
}

std::string with_server(const std::string& server) {
  return with_client(fmt::format("{}, server: {}", kEngine, server));
}

std::string with_requests(const std::string& requests) {
  return with_server(fmt::format("{{ requests: {}, max_batch: 8, kv_tokens: 10000 }}", requests));
}

ServerChoice server_of(const std::string& text) { return *read_text(text).scenarios.front().clients.front().server; }

/// The one complaint about a text.
std::string complaint(const std::string& text) {
  const std::vector<std::string> all = complaints(text);
  return all.size() == 1 ? all.front() : fmt::format("{} complaints: {}", all.size(), fmt::join(all, "; "));
}

TEST(ServerKey, StatesLimitsRequestsAndServiceLevel) {
  const ServerChoice server = server_of(
      with_server("{ requests: { rate: 4/s, arrivals: bursts, burst: 3, prompt: { mean: 400, cv: 0.5, most: 900 }, "
                  "output: 100 }, batching: prefill_first, chunk: 256, max_batch: 16, kv_tokens: 5000, max_queue: 9, "
                  "pads: true, slo: { ttft: 300ms, tpot: 40ms } }"));
  EXPECT_EQ(server.limits.batching, Batching::kPrefillFirst);
  EXPECT_EQ(server.limits.chunk, 256u);
  EXPECT_EQ(server.limits.max_batch, 16u);
  EXPECT_EQ(server.limits.kv_tokens, 5000u);
  EXPECT_EQ(server.limits.max_queue, 9u);
  EXPECT_TRUE(server.pads);
  EXPECT_EQ(server.level.ttft, Duration{300ms});
  EXPECT_EQ(server.level.tpot, Duration{40ms});
  EXPECT_EQ(server.load.arrivals, RequestLoad::Arrivals::kBursts);
  EXPECT_EQ(server.load.prompt.most, 900u);
  EXPECT_EQ(server.load.output.mean, 100);
}

TEST(ServerKey, StatesPromptsOfAStepAndTheShareOfSmsThatReadsThem) {
  const std::string requests = "{ requests: { rate: 4/s, prompt: 9, output: 9 }, max_batch: 8, kv_tokens: 99";
  EXPECT_EQ(server_of(with_server(requests + "}")).limits.prompts_per_step, 1u);
  const ServerChoice server = server_of(with_server(requests + ", prompts_per_step: 4, prefill_share: 25% }"));
  EXPECT_EQ(server.limits.prompts_per_step, 4u);
  EXPECT_EQ(server.prefill_share, 0.25);
  EXPECT_NE(complaint(with_server(requests + ", prefill_share: 100% }")), "");
  EXPECT_NE(
      complaint(with_server(requests + ", prefill_share: 25%, batching: mixed }")).find("`batching` means nothing"),
      std::string::npos);
}

TEST(ServerKey, ReadsTheRangesOfItsCapture) {
  const std::string text = with_client(fmt::format("trace: engine.corun, server: {}", kServer));
  EXPECT_EQ(read_text(text).scenarios.front().clients.front().options.step.by, StepChoice::By::kSized);
}

TEST(ServerKey, NeedsRequestsBatchAndCache) {
  EXPECT_NE(complaint(with_server("{ max_batch: 8, kv_tokens: 9 }")).find("a server needs `requests`"),
            std::string::npos);
  EXPECT_NE(
      complaint(with_server("{ requests: { rate: 1/s, prompt: 1, output: 1 }, kv_tokens: 9 }")).find("`max_batch`"),
      std::string::npos);
  EXPECT_NE(complaint(with_requests("{ prompt: 1, output: 1 }")).find("a `rate`, a `concurrency` or a `file`"),
            std::string::npos);
  EXPECT_NE(complaint(with_requests("{ rate: 4/s, prompt: 512 }")).find("requests need `output`"), std::string::npos);
}

TEST(ServerKey, RefusesKeysThatWouldBeIgnored) {
  EXPECT_NE(
      complaint(with_requests("{ concurrency: 4, rate: 4/s, prompt: 1, output: 1 }")).find("`rate` means nothing"),
      std::string::npos);
  EXPECT_NE(complaint(with_requests("{ rate: 4/s, burst: 4, prompt: 1, output: 1 }")).find("`burst` means nothing"),
            std::string::npos);
  EXPECT_NE(complaint(with_requests("{ file: r.csv, prompt: 1 }")).find("`prompt` means nothing"), std::string::npos);
  EXPECT_NE(complaint(with_client(fmt::format("{}, server: {}, repeat: 3", kEngine, kServer)))
                .find("`repeat` means nothing for a server"),
            std::string::npos);
}

TEST(ServerKey, AnEngineAndAServerNeedEachOther) {
  EXPECT_NE(complaint(with_client(kEngine)).find("an engine has no work without requests"), std::string::npos);
  EXPECT_NE(complaint(with_client(fmt::format("synthetic: {{ game: rdr2 }}, server: {}", kServer)))
                .find("only an engine can serve"),
            std::string::npos);
}

TEST(ServerKey, TokensAreBoundedInOrder) {
  EXPECT_NE(complaint(with_requests("{ rate: 4/s, prompt: { mean: 5, least: 9, most: 3 }, output: 1 }"))
                .find("at least 9 and at most 3 tokens"),
            std::string::npos);
}

}  // namespace
}  // namespace corun
