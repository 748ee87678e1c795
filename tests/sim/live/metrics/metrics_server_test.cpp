// The server of metrics and those that ask it: Prometheus, broken programs, hostile ones.
#include "sim/live/metrics/metrics_server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <thread>
#include <utility>

#include "tests/sim/live/metrics/scraper.h"
#include "traces/base/error.h"

namespace corun {
namespace {

using namespace std::chrono_literals;
using live::ListenAddress;
using live::MetricsServer;
using testing::get;
using testing::Scraper;

const ListenAddress kAnyPort = *ListenAddress::parse(":0");
/// A page that no socket takes in at once; afterwards a short one.
std::function<std::string()> first_large() {
  return [is_first = true]() mutable {
    return std::exchange(is_first, false) ? std::string(6 << 20, 'a') : std::string("a 1\n");
  };
}

const std::string kReply = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n";

class MetricsServerTest : public ::testing::Test {
 protected:
  const ListenAddress& address() const { return server_.address(); }
  std::string reply_to(const std::string& request) const {
    const Scraper scraper(address());
    scraper.say(request);
    return scraper.hear();
  }
  /// Whether the page is served without waiting until another caller has to go.
  bool is_served() const {
    const auto begin = std::chrono::steady_clock::now();
    const std::string reply = get(address());
    return reply.ends_with("\r\n\r\na 1\n") && std::chrono::steady_clock::now() - begin < MetricsServer::kPatience / 2;
  }

  MetricsServer server_{kAnyPort, [] { return "a 1\n"; }};
};

TEST_F(MetricsServerTest, ServesThePageToThisMachineAlone) {
  EXPECT_TRUE(address().text().starts_with("127.0.0.1:"));
  EXPECT_NE(address().text(), "127.0.0.1:0") << "the port that was taken";
  const std::string reply = get(address());
  EXPECT_TRUE(reply.starts_with(kReply)) << reply;
  EXPECT_NE(reply.find("Content-Length: 4\r\n"), std::string::npos) << reply;
  EXPECT_TRUE(reply.ends_with("\r\n\r\na 1\n")) << reply;
  EXPECT_TRUE(get(address(), "/metrics?name=a").starts_with(kReply));
}

TEST_F(MetricsServerTest, OtherPathsAndMethodsAreRefused) {
  EXPECT_TRUE(get(address(), "/").starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(get(address(), "/metrics/").starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(reply_to("POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
  EXPECT_TRUE(reply_to("GET\r\n\r\n").starts_with("HTTP/1.1 400 "));
  const std::string head = reply_to("HEAD /metrics HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(head.starts_with(kReply)) << head;
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
}

TEST_F(MetricsServerTest, APageOnTheWebCannotReadItByANameThatPointsHere) {
  EXPECT_TRUE(reply_to("GET /metrics HTTP/1.1\r\nHost: evil.example:9400\r\n\r\n").starts_with("HTTP/1.1 421 "));
  EXPECT_TRUE(reply_to("GET /metrics HTTP/1.1\r\nhost: localhost:9400\r\n\r\n").starts_with(kReply));
  EXPECT_TRUE(reply_to("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").starts_with(kReply));
  EXPECT_TRUE(reply_to("GET /metrics HTTP/1.0\r\n\r\n").starts_with(kReply)) << "curl -0 sends none";
}

TEST_F(MetricsServerTest, AServerForOthersIsCalledAnything) {
  const MetricsServer server(*ListenAddress::parse("0.0.0.0:0"), [] { return "b 2\n"; });
  const Scraper scraper(server.address());
  scraper.say("GET /metrics HTTP/1.1\r\nHost: gpu-host.example\r\n\r\n");
  EXPECT_TRUE(scraper.hear().starts_with(kReply));
}

TEST_F(MetricsServerTest, ARequestMayComeInParts) {
  const Scraper scraper(address());
  for (const std::string_view part : {"GET /met", "rics HTTP/1.1\r", "\n\r", "\n"}) {
    scraper.say(part);
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_TRUE(scraper.hear().starts_with(kReply));
}

TEST_F(MetricsServerTest, AScraperThatSaysNothingHoldsNoOtherUpAndIsLeft) {
  const Scraper silent(address());
  EXPECT_TRUE(is_served());
  EXPECT_FALSE(silent.is_closed(100));
  EXPECT_TRUE(silent.is_closed(6000)) << "after 5 s";
  EXPECT_TRUE(is_served());
}

TEST_F(MetricsServerTest, AScraperThatReadsNothingHoldsNoOtherUp) {
  const MetricsServer server(kAnyPort, first_large());
  const Scraper deaf(server.address(), 4096);
  deaf.say("GET /metrics HTTP/1.1\r\n\r\n");
  std::this_thread::sleep_for(50ms);
  EXPECT_TRUE(get(server.address()).ends_with("\r\n\r\na 1\n"));
}

TEST_F(MetricsServerTest, AScraperThatLeavesInTheMiddleOfAPageIsLeft) {
  const MetricsServer server(kAnyPort, first_large());
  {
    const Scraper hasty(server.address(), 4096);
    hasty.say("GET /metrics HTTP/1.1\r\n\r\n");
    std::this_thread::sleep_for(50ms);
  }
  EXPECT_TRUE(get(server.address()).ends_with("\r\n\r\na 1\n"));
}

TEST_F(MetricsServerTest, AMegabyteOfARequestIsNotRead) {
  const Scraper talker(address());
  const std::string part(1024, 'x');
  bool is_heard = talker.say("GET /metrics HTTP/1.1\r\nX: ");
  for (int i = 0; i < 1024 && is_heard; ++i) is_heard = talker.say(part);
  EXPECT_TRUE(talker.is_closed(1000) || talker.hear().starts_with("HTTP/1.1 431 "));
  EXPECT_TRUE(is_served());
}

TEST_F(MetricsServerTest, ManyThatSayNothingMakeRoomForTheNext) {
  std::list<Scraper> silent;
  for (int i = 0; i < 100; ++i) silent.emplace_back(address());
  EXPECT_TRUE(is_served());
  EXPECT_TRUE(silent.front().is_closed(1000));
}

TEST_F(MetricsServerTest, ScrapersAtTheSameTimeGetWholePages) {
  const std::string page(200'000, 'p');
  std::atomic<int> whole = 0;
  const MetricsServer server(kAnyPort, [&] { return page; });
  std::list<std::thread> scrapers;
  for (int i = 0; i < 4; ++i)
    scrapers.emplace_back([&] {
      for (int turn = 0; turn < 20; ++turn) whole += get(server.address()).ends_with("\r\n\r\n" + page) ? 1 : 0;
    });
  for (std::thread& scraper : scrapers) scraper.join();
  EXPECT_EQ(whole, 80);
}

TEST_F(MetricsServerTest, EndsWithoutPatienceWhateverIsAsked) {
  std::list<Scraper> scrapers;
  std::chrono::steady_clock::time_point begin;
  {
    const MetricsServer server(kAnyPort, first_large());
    for (int i = 0; i < 3; ++i) scrapers.emplace_back(server.address(), 4096);
    scrapers.front().say("GET /metrics HTTP/1.1\r\n\r\n");
    scrapers.back().say("GET /metr");
    std::this_thread::sleep_for(50ms);
    begin = std::chrono::steady_clock::now();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, MetricsServer::kPatience / 2);
  EXPECT_TRUE(scrapers.back().is_closed(1000));
}

TEST_F(MetricsServerTest, APortThatIsTakenIsAnErrorThatNamesIt) {
  try {
    const MetricsServer second(address(), [] { return ""; });
    FAIL() << "both listen";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_EQ(error.where().file, address().text());
    EXPECT_EQ(error.message(), "metrics cannot be served here: Address already in use");
    EXPECT_NE(error.help().find("--metrics :0"), std::string::npos);
  }
}

TEST_F(MetricsServerTest, AnAddressOfAnotherMachineIsAnErrorThatNamesIt) {
  try {
    const MetricsServer other(*ListenAddress::parse("192.0.2.1:9400"), [] { return ""; });
    FAIL() << "it listens";
  } catch (const Error& error) {
    EXPECT_EQ(error.where().file, "192.0.2.1:9400");
    EXPECT_NE(error.help().find("an address of this machine"), std::string::npos);
  }
}

TEST_F(MetricsServerTest, APortIsFreeAgainAfterItsServer) {
  const auto served = [](const ListenAddress& address) {
    const MetricsServer server(address, [] { return "a 1\n"; });
    EXPECT_TRUE(get(server.address()).starts_with(kReply));
    return server.address();
  };
  served(served(kAnyPort));
}

}  // namespace
}  // namespace corun
