#include "sim/serving/server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "sim/run/open_gates.h"
#include "sim/run/run.h"
#include "sim/workload/synthetic/synthetic.h"

namespace corun {
namespace {

using namespace std::chrono_literals;

/// Reads a token of a prompt in 10 us after 1 ms, and decodes in 5 ms and 100 us for each sequence.
EngineProfile engine() {
  EngineProfile profile;
  profile.prefill_base = 1ms;
  profile.prefill_per_token = 10us;
  profile.decode_base = 5ms;
  profile.decode_per_sequence = 100us;
  return profile;
}

ClientSpec server(std::vector<ServedRequest> requests, std::uint32_t max_batch = 8) {
  auto served = std::make_shared<ServerSpec>();
  served->limits = {.batching = Batching::kChunked, .max_batch = max_batch, .chunk = 512, .kv_tokens = 100'000};
  served->requests = std::move(requests);
  ClientSpec spec;
  spec.name = "chat";
  spec.workload = std::make_shared<Workload>(make_engine(engine()));
  spec.server = std::move(served);
  return spec;
}

/// Keeps what servers report.
class Served : public Recorder {
 public:
  void on_request(const RequestFact& request) override { requests.push_back(request); }
  void on_server_step(const ServerStepFact& step) override { steps.push_back(step); }
  void on_job(const JobFact& job) override { jobs.push_back(job); }
  std::vector<RequestFact> requests;
  std::vector<ServerStepFact> steps;
  std::vector<JobFact> jobs;
};

Served serve(std::vector<ClientSpec> clients, Duration horizon) {
  Served served;
  OpenGates policy;
  RunInput input{DeviceSpec{}, std::move(clients), &policy, "open", horizon, Duration{0}, 1};
  simulate(input, served);
  return served;
}

TEST(Server, ALoneRequestTakesItsPrefillAndADecodeForEachFurtherToken) {
  const Served served = serve({server({{3ms, 100, 11}})}, 1s);
  ASSERT_EQ(served.requests.size(), 1u);
  const RequestFact& request = served.requests[0];
  EXPECT_EQ(request.arrival, kRunStart + 3ms);
  EXPECT_EQ(request.first_token - request.arrival, Duration{2ms});
  EXPECT_EQ(request.end - request.first_token, Duration{10 * 5100us});
}

/// A server that reads prompts on half of the SMs and decodes on the rest, as two clients.
std::vector<ClientSpec> divided(std::vector<ServedRequest> requests) {
  ClientSpec decoding = server(std::move(requests));
  decoding.context.sm_cap = 0.5;
  ClientSpec reading = decoding;
  reading.name = "chat.prefill";
  reading.server = nullptr;
  reading.reads_prompts_of = 0;
  return {decoding, reading};
}

DeviceSpec shared_in_space() {
  DeviceSpec device;
  device.sharing = Sharing::kConcurrent;
  return device;
}

Served serve(const DeviceSpec& device, std::vector<ClientSpec> clients, Policy& policy) {
  Served served;
  RunInput input{device, std::move(clients), &policy, "open", 1s, Duration{0}, 1};
  simulate(input, served);
  return served;
}

TEST(Server, ADividedServerReadsAPromptWithoutHoldingUpItsDecodes) {
  OpenGates policy;
  const std::vector<ServedRequest> requests = {{0ms, 100, 40}, {60ms, 400, 5}};
  const Served together = serve(shared_in_space(), {server(requests)}, policy);
  const Served divided_sms = serve(shared_in_space(), divided(requests), policy);
  ASSERT_EQ(divided_sms.requests.size(), 2u);
  const auto tpot = [](const RequestFact& request) {
    return (request.end - request.first_token) / (request.output - 1);
  };
  const RequestFact& oldest = divided_sms.requests[1];
  EXPECT_EQ(oldest.number, 0u);
  EXPECT_GT(tpot(oldest), Duration{2 * 5100us}) << "kernels that fill the device take twice as long on half of it";
  EXPECT_LT(tpot(oldest), Duration{2 * 5200us + 100us}) << "and no prompt lies between two tokens";
  EXPECT_GT(tpot(together.requests[1]), Duration{5100us});
  EXPECT_EQ(divided_sms.requests[0].first_token - kRunStart, Duration{60ms + 2 * 5ms}) << "as if it were alone";
}

TEST(Server, TheLoopsOfADividedServerMayJoinInEitherOrder) {
  OpenGates policy;
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u, 6u}) {
    Served served;
    RunInput input{shared_in_space(), divided({{0ms, 100, 3}, {5ms, 100, 3}}), &policy, "open", 1s, Duration{0}, seed};
    simulate(input, served);
    EXPECT_EQ(served.requests.size(), 2u);
    EXPECT_EQ(std::ranges::count(served.jobs, ClientId{1}, &JobFact::client), 2) << "a chunk of each prompt, no more";
  }
}

TEST(Server, StepsThatReadPromptsOnSmsOfTheirOwnAreJobsOfAClient) {
  OpenGates policy;
  const Served served = serve(shared_in_space(), divided({{0ms, 600, 1}, {50ms, 10, 3}}), policy);
  const auto of = [&](std::uint32_t client) {
    return std::ranges::count(served.jobs, ClientId{client}, &JobFact::client);
  };
  EXPECT_EQ(of(0), 2) << "requests";
  EXPECT_EQ(of(1), 3) << "two chunks of the first, the whole second";
  EXPECT_EQ(served.requests[0].end, served.requests[0].first_token) << "answered where its prompt was read";
}

/// Sets the SMs of all clients.
class SetsSms : public OpenGates {
 public:
  void decide(const GpuView& view, Actions& actions) override {
    OpenGates::decide(view, actions);
    for (const ClientView& client : view.clients) actions.set_sm_cap(client.id, 0.5);
  }
};

TEST(Server, APolicyThatDividesTheSmsOfADividedServerIsRefused) {
  SetsSms policy;
  EXPECT_THROW(serve(shared_in_space(), divided({{0ms, 10, 2}}), policy), Error);
}

TEST(Server, SequencesShareTheirDecodes) {
  const Served served = serve({server({{0ms, 100, 11}, {0ms, 100, 11}})}, 1s);
  ASSERT_EQ(served.requests.size(), 2u);
  EXPECT_EQ(served.steps.back().size, (StepSize{StepSize::Kind::kDecode, 1, 110}));
  // The first waits for one prefill, then nine of its ten decodes have two sequences.
  EXPECT_EQ(served.requests[0].end, kRunStart + 2ms + 5100us + 2ms + 9 * 5200us);
}

TEST(Server, AnAnsweredRequestIsAJobOfTheClient) {
  const Served served = serve({server({{0ms, 10, 2}, {100ms, 10, 2}})}, 1s);
  ASSERT_EQ(served.jobs.size(), 2u);
  EXPECT_EQ(served.jobs[1].number, 1u);
  EXPECT_EQ(served.jobs[1].arrival, kRunStart + 100ms);
  EXPECT_EQ(served.jobs[1].end, served.requests[1].end);
}

/// Notes what the first client's server says, whenever it has changed.
class Listener : public OpenGates {
 public:
  Hears hears() const override { return {}; }
  void decide(const GpuView& view, Actions& actions) override {
    OpenGates::decide(view, actions);
    const ServerView& server = view.clients[0].server;
    if (said.empty() || said.back().second.steps != server.steps ||
        said.back().second.oldest_request != server.oldest_request)
      said.emplace_back(view.now, server);
  }
  std::vector<std::pair<Time, ServerView>> said;
};

TEST(Server, SaysHowManyStepsHaveEndedAndWhichRequestHasNoTokenYet) {
  Listener policy;
  Served served;
  RunInput input{
      DeviceSpec{}, {server({{3ms, 100, 2}, {4ms, 100, 1}, {1s, 1, 1}})}, &policy, "open", 50ms, Duration{0}, 1};
  simulate(input, served);
  const auto is = [](const std::pair<Time, ServerView>& entry, Duration at, std::uint64_t steps, Time oldest) {
    return entry.first == kRunStart + at && entry.second.steps == steps && entry.second.oldest_request == oldest;
  };
  ASSERT_EQ(policy.said.size(), 5u);
  EXPECT_TRUE(is(policy.said[0], 0ms, 0, kNever));
  EXPECT_TRUE(is(policy.said[1], 3ms, 0, kRunStart + 3ms));
  EXPECT_TRUE(is(policy.said[2], 5ms, 1, kRunStart + 4ms)) << "a decode in between";
  EXPECT_TRUE(is(policy.said[3], 10'100us, 2, kRunStart + 4ms));
  EXPECT_TRUE(is(policy.said[4], 12'100us, 3, kNever));
}

TEST(Server, WithConcurrencyEachEndIsAnArrival) {
  ClientSpec chat = server(std::vector<ServedRequest>(50, ServedRequest{Duration{0}, 10, 4}));
  auto closed = std::make_shared<ServerSpec>(*chat.server);
  closed->concurrency = 3;
  chat.server = closed;
  const Served served = serve({chat}, 10s);
  ASSERT_EQ(served.requests.size(), 50u);
  EXPECT_EQ(served.requests[0].arrival, kRunStart);
  for (std::size_t i = 3; i < served.requests.size(); ++i)
    EXPECT_EQ(served.requests[i].arrival, served.requests[i - 3].end) << i;
}

/// Requests of one token are served one after another: a queue with Poisson arrivals and constant service, whose mean
/// wait is rho * service / (2 (1 - rho)) (Pollaczek-Khinchine).
TEST(Server, PoissonRequestsOfOneTokenWaitAsInAQueueWithConstantService) {
  RequestLoad load;
  load.rate_per_s = 300;
  load.prompt = {.mean = 100};
  load.output = {.mean = 1};
  RandomStream random(7, "arrivals");
  const Duration horizon = 400s;
  const Served served = serve({server(draw_requests(load, horizon, random), 1)}, horizon);
  double waited_ms = 0;
  for (const RequestFact& request : served.requests) waited_ms += to_milliseconds(request.end - request.arrival - 2ms);
  const double rho = 0.6, service_ms = 2;
  const double expected_ms = rho * service_ms / (2 * (1 - rho));
  ASSERT_GT(served.requests.size(), 100'000u);
  EXPECT_NEAR(waited_ms / static_cast<double>(served.requests.size()), expected_ms, 0.03 * expected_ms);
}

TEST(Server, ANeighbourInTurnsMakesTokensSlower) {
  ClientSpec training;
  training.name = "training";
  training.workload = std::make_shared<Workload>(make_kernels({.duration = 1ms, .count = 10}));
  const std::vector<ServedRequest> requests(1, ServedRequest{Duration{0}, 100, 101});
  const Served alone = serve({server(requests)}, 5s), together = serve({server(requests), training}, 5s);
  ASSERT_EQ(together.requests.size(), 1u);
  const double kept = to_seconds(alone.requests[0].end - kRunStart) / to_seconds(together.requests[0].end - kRunStart);
  EXPECT_GT(kept, 0.4);
  EXPECT_LT(kept, 0.55);
}

}  // namespace
}  // namespace corun
