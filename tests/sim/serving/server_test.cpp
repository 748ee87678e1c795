#include "sim/serving/server.h"

#include <gtest/gtest.h>

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
