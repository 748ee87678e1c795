#include "sim/serving/requests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace corun {
namespace {

using namespace std::chrono_literals;

RequestLoad load(RequestLoad::Arrivals arrivals) {
  RequestLoad load;
  load.arrivals = arrivals;
  load.rate_per_s = 50;
  load.burst = 5;
  load.prompt = {.mean = 400, .cv = 0.8, .least = 16, .most = 2048};
  load.output = {.mean = 100, .cv = 0.5, .least = 2, .most = 400};
  return load;
}

std::vector<ServedRequest> draw(RequestLoad::Arrivals arrivals) {
  RandomStream random(3, "requests");
  return draw_requests(load(arrivals), 200s, random);
}

TEST(Requests, EachWayOfArrivingHasTheStatedRate) {
  using Arrivals = RequestLoad::Arrivals;
  for (const Arrivals arrivals : {Arrivals::kPoisson, Arrivals::kPeriodic, Arrivals::kBursts}) {
    const std::vector<ServedRequest> requests = draw(arrivals);
    EXPECT_NEAR(static_cast<double>(requests.size()), 10'000, 800) << static_cast<int>(arrivals);
    EXPECT_TRUE(std::ranges::is_sorted(requests, {}, &ServedRequest::arrival));
    EXPECT_LT(requests.back().arrival, Duration{200s});
  }
}

TEST(Requests, BurstsComeAtOnceAndSingleRequestsDoNot) {
  const auto at_once = [](const std::vector<ServedRequest>& requests) {
    std::size_t count = 0;
    for (std::size_t i = 1; i < requests.size(); ++i) count += requests[i].arrival == requests[i - 1].arrival ? 1 : 0;
    return static_cast<double>(count) / static_cast<double>(requests.size());
  };
  EXPECT_NEAR(at_once(draw(RequestLoad::Arrivals::kBursts)), 0.8, 0.03) << "four of five come with another";
  EXPECT_LT(at_once(draw(RequestLoad::Arrivals::kPoisson)), 0.001);
}

TEST(Requests, TokensHaveTheStatedMeanAndBounds) {
  double prompts = 0;
  const std::vector<ServedRequest> requests = draw(RequestLoad::Arrivals::kPoisson);
  for (const ServedRequest& request : requests) {
    prompts += request.prompt;
    EXPECT_GE(request.prompt, 16u);
    EXPECT_LE(request.prompt, 2048u);
    EXPECT_LE(request.output, 400u);
  }
  EXPECT_NEAR(prompts / static_cast<double>(requests.size()), 400, 16);
}

TEST(Requests, TokensWithoutVariationAreTheMean) {
  RequestLoad fixed = load(RequestLoad::Arrivals::kPoisson);
  fixed.prompt = {.mean = 512};
  RandomStream random(3, "requests");
  for (const ServedRequest& request : draw_lengths(fixed, 20, random)) EXPECT_EQ(request.prompt, 512u);
}

}  // namespace
}  // namespace corun
