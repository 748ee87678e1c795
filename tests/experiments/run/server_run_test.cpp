#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "experiments/load/load.h"
#include "experiments/run/clients/server_builder.h"
#include "experiments/run/clients/serving_files.h"
#include "experiments/run/plan.h"
#include "experiments/run/runner.h"
#include "tests/experiments/question/experiment_text.h"
#include "tests/support/temporary_folder.h"
#include "traces/base/error.h"

namespace corun {
namespace {

using namespace std::chrono_literals;
using testing::read_text;
using testing::TemporaryFolder;

const PolicyRegistry& testing_policies() {
  static const PolicyRegistry policies = builtin_policies();
  return policies;
}

StepSize prefill(std::uint32_t tokens, std::uint32_t context) { return {StepSize::Kind::kPrefill, tokens, context}; }
StepSize decode(std::uint32_t batch, std::uint32_t context) { return {StepSize::Kind::kDecode, batch, context}; }

const std::vector<CapturedStep> kGrid = {{prefill(128, 0), 0, 1ms},   {prefill(512, 0), 1, 3ms},
                                         {prefill(512, 512), 2, 4ms}, {decode(1, 512), 3, 1ms},
                                         {decode(8, 512), 4, 2ms},    {decode(8, 1024), 5, 3ms}};

ClientChoice client() {
  ClientChoice choice;
  choice.name = "chat";
  ServerChoice server;
  server.limits = {.batching = Batching::kChunked, .max_batch = 8, .chunk = 512, .kv_tokens = 10'000};
  server.load.rate_per_s = 10;
  server.load.prompt = {.mean = 600};
  server.load.output = {.mean = 100};
  choice.server = server;
  return choice;
}

/// What is wrong with a server, and what to do; "" where nothing is.
std::string refusal(const ClientChoice& choice, const std::vector<CapturedStep>& steps = kGrid) {
  try {
    server_of(choice, steps, 10s, 1);
    return "";
  } catch (const Error& error) {
    return fmt::format("{} | {}", error.message(), error.help());
  }
}

TEST(ServerRun, RequestsOfASeedAreAlwaysTheSame) {
  const auto once = server_of(client(), kGrid, 10s, 1), again = server_of(client(), kGrid, 10s, 1);
  const auto other = server_of(client(), kGrid, 10s, 2);
  ASSERT_GT(once->requests.size(), 50u);
  EXPECT_EQ(once->requests.back().arrival, again->requests.back().arrival);
  EXPECT_NE(once->requests.back().arrival, other->requests.back().arrival);
}

TEST(ServerRun, WhatNoCaptureCoversIsRefusedWithTheLargestThatIsCovered) {
  EXPECT_EQ(refusal(client()), "");
  ClientChoice batch = client();
  batch.server->limits.max_batch = 16;
  EXPECT_EQ(refusal(batch),
            "client `chat`: `max_batch` is 16, and the largest decode that was captured has 8 sequences | "
            "`max_batch: 8`, or a capture with larger ones");
  ClientChoice chunk = client();
  chunk.server->limits.chunk = 1024;
  EXPECT_NE(refusal(chunk).find("read up to 600 tokens of a prompt, and the largest that was captured reads 512"),
            std::string::npos);
  ClientChoice context = client();
  context.server->load.output = {.mean = 900};
  EXPECT_NE(refusal(context).find("decodes reach a context of 1499 tokens"), std::string::npos);
  ClientChoice room = client();
  room.server->limits.kv_tokens = 650;
  EXPECT_NE(refusal(room).find("a request has 700 tokens, and the KV cache holds 650"), std::string::npos);
}

TEST(ServerRun, AnEngineWithoutDecodesIsRefusedWhereRequestsNeedThem) {
  const std::vector<CapturedStep> prefills(kGrid.begin(), kGrid.begin() + 3);
  EXPECT_NE(refusal(client(), prefills).find("no step of its capture is a decode"), std::string::npos);
  ClientChoice one_token = client();
  one_token.server->load.output = {.mean = 1};
  EXPECT_EQ(refusal(one_token, prefills), "");
}

TEST(ServerRun, CapturesThatStateNoContextsAreWarnedOf) {
  const std::vector<CapturedStep> plain = {{prefill(512, 0), 0, 1ms}, {decode(8, 0), 1, 1ms}};
  const auto server = server_of(client(), plain, 10s, 1);
  ASSERT_EQ(server->notes.size(), 1u);
  EXPECT_TRUE(server->notes[0].starts_with("warning: ")) << server->notes[0];
}

Experiment served(const std::string& keys) {
  return read_text(fmt::format(
      "name: e\ndevice: h200\nhorizon: 20s\nclients:\n  - name: chat\n    synthetic: {{ engine: {{ prefill: {{ "
      "per_token: 20us }}, decode: {{ base: 6ms }} }} }}\n    server: {{ requests: {{ rate: 3/s, prompt: 200, output: "
      "50 }}, max_batch: 8, kv_tokens: 10000{} }}\npolicies: [passthrough]\n",
      keys));
}

/// The first note that has the words.
std::string note_with(const std::string& words, const ServerSpec& server) {
  for (const std::string& note : server.notes)
    if (note.find(words) != std::string::npos) return note;
  return "";
}

TEST(ServerRun, StepsOfSeveralPromptsThatWereNotCapturedAreWarnedOfWithTheirRange) {
  ClientChoice several = client();
  several.server->limits.prompts_per_step = 4;
  several.server->load.prompt = {.mean = 300};
  EXPECT_EQ(note_with("several prompts", *server_of(several, kGrid, 10s, 1)),
            "warning: its capture has no step of several prompts; the largest of two is taken as one prompt of all "
            "tokens, 3 ms, and may be up to 3.33 ms");
  std::vector<CapturedStep> more = kGrid;
  more.push_back({{.kind = StepSize::Kind::kPrefill, .count = 512, .prompts = 2}, 6, 3ms});
  EXPECT_EQ(note_with("several prompts", *server_of(several, more, 10s, 1)), "");
  several.server->limits.prompts_per_step = 1;
  EXPECT_EQ(note_with("several prompts", *server_of(several, kGrid, 10s, 1)), "");
}

TEST(ServerRun, MixedStepsThatWereNotCapturedAreWarnedOfWithTheRangeInWhichTheyLie) {
  ClientChoice mixing = client();
  mixing.server->limits.batching = Batching::kMixed;
  mixing.server->load.prompt = {.mean = 500};
  EXPECT_NE(note_with("and may be", *server_of(mixing, kGrid, 10s, 1)), "");
  std::vector<CapturedStep> more = kGrid;
  more.push_back({{StepSize::Kind::kMixed, 512, 512, 8, 1024}, 6, 6ms});
  EXPECT_EQ(note_with("and may be", *server_of(mixing, more, 10s, 1)), "");
  EXPECT_EQ(note_with("prompts and decodes at once", *server_of(client(), kGrid, 10s, 1)), "");
}

TEST(ServerRun, MixedPromptsNeedCapturesOfAllContextsThatTheyReach) {
  ClientChoice mixing = client();
  mixing.server->limits.batching = Batching::kMixed;
  mixing.server->load.prompt = {.mean = 600};
  EXPECT_NE(refusal(mixing).find("prompts reach a context of 599 tokens"), std::string::npos) << refusal(mixing);
}

/// A server that reads prompts on a quarter of the SMs, next to nothing.
RunOutcome divided_on(const std::string& device, const std::string& policy = "passthrough") {
  const Experiment experiment = read_text(fmt::format(
      "name: e\ndevice: {}\nhorizon: 5s\nclients:\n  - name: chat\n    synthetic: {{ engine: {{ prefill: {{ "
      "per_token: 20us }}, decode: {{ base: 6ms }} }} }}\n    server: {{ requests: {{ rate: 3/s, prompt: 200, output: "
      "50 }}, max_batch: 8, kv_tokens: 10000, prefill_share: 25% }}\npolicies: [{}]\n",
      device, policy));
  const Plan plan = make_plan(experiment);
  RunInputs inputs(experiment, plan.hashes, testing_policies());
  return run_one(experiment, plan.runs.front(), inputs, testing_policies());
}

TEST(ServerRun, ADividedServerHasALoopOfItsOwnBehindTheClientsOfTheExperiment) {
  const RunOutcome outcome = divided_on("{ model: h200, sharing: concurrent }");
  ASSERT_FALSE(outcome.error) << outcome.error->what();
  EXPECT_EQ(outcome.readers, std::vector<std::string>{"chat.prefill"});
  const auto value = [&](const std::string& client, const std::string& name) {
    const auto is_it = [&](const Metric& m) { return m.client == client && m.name == name; };
    const auto found = std::ranges::find_if(outcome.metrics, is_it);
    return found == outcome.metrics.end() ? -1 : found->value;
  };
  EXPECT_NEAR(value("chat", "tpot_p50_ms"), 6 / 0.75, 0.2) << "decodes on three quarters of the SMs";
  EXPECT_GE(value("chat", "ttft_p50_ms"), 4 / 0.25) << "prompts on a quarter";
  EXPECT_LT(value("chat", "ttft_p50_ms"), 4 / 0.25 + 1) << "which no decode holds up";
  EXPECT_NEAR(value("chat", "throughput_per_s"), value("chat", "solo_throughput_per_s"), 0.01) << "alone with its loop";
  EXPECT_GT(value("chat.prefill", "throughput_per_s"), 1) << "steps";
  EXPECT_EQ(value("chat.prefill", "ttft_p50_ms"), -1) << "requests are those of the server";
}

TEST(ServerRun, APolicyThatTakesADividedServerForTwoProgramsIsWarnedOf) {
  const std::string device = "{ model: h200, sharing: concurrent }";
  EXPECT_NE(divided_on(device, "nvshare").notes.find("takes chat and chat.prefill for two programs"),
            std::string::npos);
  EXPECT_EQ(divided_on(device).notes.find("two programs"), std::string::npos);
}

TEST(ServerRun, ADividedServerIsRefusedWhereProgramsTakeTurns) {
  const RunOutcome outcome = divided_on("h200");
  ASSERT_TRUE(outcome.error);
  EXPECT_NE(std::string(outcome.error->what()).find("`prefill_share` divides SMs"), std::string::npos);
  EXPECT_NE(outcome.error->help().find("sharing: concurrent"), std::string::npos);
}

TEST(LargestLoad, HoldsTheServiceLevelAndALittleMoreDoesNot) {
  const auto loads = largest_loads(served(", slo: { ttft: 200ms, tpot: 20ms }"), testing_policies(), 0.05);
  ASSERT_EQ(loads.size(), 1u);
  const LargestLoad& load = loads.front();
  EXPECT_TRUE(load.at.holds);
  EXPECT_FALSE(load.beyond.holds);
  EXPECT_LE(load.at.ttft_p99_ms, 200);
  EXPECT_GT(load.beyond.ttft_p99_ms, 200);
  EXPECT_GT(load.beyond.rate_per_s, load.at.rate_per_s);
  EXPECT_LE(load.beyond.rate_per_s, 1.05 * load.at.rate_per_s);
  // Eight sequences share a decode of 6 ms and interleaved prefills of 4 ms: 25 to 27 requests of 50 tokens a second.
  EXPECT_GT(load.at.rate_per_s, 10);
  EXPECT_LT(load.at.rate_per_s, 27);
}

TEST(LargestLoad, NeedsAServiceLevelWithATtft) {
  try {
    largest_loads(served(", slo: { tpot: 20ms }"), testing_policies(), 0.05);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("states no `slo` with a TTFT"), std::string::npos);
  }
}

/// Requests of a file with this text, or the error.
std::string read(const std::string& text) {
  const TemporaryFolder folder;
  const std::string path = folder / "requests.csv";
  std::ofstream(path) << text;
  try {
    std::string read;
    for (const ServedRequest& request : read_request_file(path))
      read += fmt::format("{}:{}/{} ", to_ns(request.arrival), request.prompt, request.output);
    return read;
  } catch (const Error& error) {
    return fmt::format("line {}: {}", error.where().line, error.message());
  }
}

TEST(RequestFile, ArrivalsAreSecondsFromTheStart) {
  EXPECT_EQ(read("arrival_s,prompt,output\n0.5,100,7\n1.25,9,1\n"), "500000000:100/7 1250000000:9/1 ");
}

TEST(RequestFile, TracesOfAzureBeginAtTheirFirstRequest) {
  EXPECT_EQ(read("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 23:59:59.9799600,374,44\n"
                 "2023-11-17 00:00:01.4799600,396,109\n"),
            "0:374/44 1500000000:396/109 ");
}

TEST(StepLog, TellsTheMedianOfEachSizeWithPausesUntilTheNextStep) {
  const TemporaryFolder folder;
  const std::string path = folder / "steps.csv";
  std::ofstream(path) << "begin_s,end_s,kind,size,context\n"
                         "0,0.100,decode,4,512\n"      // 102 ms to the next begin
                         "0.102,0.200,decode,4,512\n"  // 98 ms: the pause of 0.3 s behind it is none of the step's
                         "0.5,0.6,decode,4,512\n"      // 100 ms
                         "0.6,0.65,prefill,64,0\n";
  const auto times = read_step_times(path);
  EXPECT_EQ(times.at(decode(4, 512)), Duration{100ms});
  EXPECT_EQ(times.at(prefill(64, 0)), Duration{50ms});
}

TEST(StepLog, StepsOfSeveralPromptsStateTheirNumber) {
  const TemporaryFolder folder;
  const std::string path = folder / "steps.csv";
  std::ofstream(path) << "begin_s,end_s,kind,size,context,prompts\n0,0.1,prefill,480,0,3\n0.2,0.3,decode,4,8,1\n";
  const StepSize three{.kind = StepSize::Kind::kPrefill, .count = 480, .prompts = 3};
  EXPECT_EQ(read_step_times(path).at(three), Duration{100ms});
  EXPECT_EQ(read_step_times(path).at(decode(4, 8)), Duration{100ms});
}

TEST(StepLog, MixedStepsStateBothOfTheirParts) {
  const TemporaryFolder folder;
  const std::string path = folder / "steps.csv";
  std::ofstream(path) << "begin_s,end_s,kind,size,context,decodes,decode_context\n0,0.1,mixed,480,0,32,512\n";
  EXPECT_EQ(read_step_times(path).at(StepSize{StepSize::Kind::kMixed, 480, 0, 32, 512}), Duration{100ms});
  std::ofstream(path) << "begin_s,end_s,kind,size,context\n0,0.1,mixed,480,0\n";
  EXPECT_THROW(read_step_times(path), Error);
}

TEST(RequestFile, FaultsAreLocated) {
  EXPECT_EQ(read("a,b\n"), "line 1: the first line does not name the columns of requests");
  EXPECT_EQ(read("arrival_s,prompt,output\n1,5,5\n0.5,5,5\n"), "line 3: the request arrives before the one above it");
  EXPECT_EQ(read("arrival_s,prompt,output\n1,0,5\n"),
            "line 2: found `0`, expected the number of prompt tokens of a request, 1 or more");
  EXPECT_EQ(read("arrival_s,prompt,output\nnow,5,5\n"),
            "line 2: found `now`, expected the arrival of a request in seconds, 0 or more");
  EXPECT_EQ(read("arrival_s,prompt,output\n"), "line 1: the file has no requests below its header");
  EXPECT_EQ(read(""), "line 1: the file is empty");
}

}  // namespace
}  // namespace corun
