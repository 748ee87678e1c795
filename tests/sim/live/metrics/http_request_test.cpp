#include "sim/live/metrics/http_request.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "sim/live/metrics/listen_address.h"

namespace corun {
namespace {

using live::HttpRequest;
using State = HttpRequest::State;

TEST(HttpRequest, IsReadWhenItsHeadIsWhole) {
  const std::string text = "GET /metrics?a=b HTTP/1.1\r\nAccept: */*\r\nHOST:  localhost:1 \r\n\r\n";
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_EQ(HttpRequest::parse(text.substr(0, length)).state, State::kIncomplete) << length;
  const HttpRequest request = HttpRequest::parse(text);
  EXPECT_EQ(request.state, State::kComplete);
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.path, "/metrics");
  EXPECT_EQ(request.host, "localhost:1");
}

TEST(HttpRequest, WhatIsNoRequestIsMalformed) {
  for (const std::string line : {"", "GET", "GET /metrics", "GET /metrics HTTP/2", "/metrics HTTP/1.1",
                                 "GET http://localhost/metrics HTTP/1.1", " GET /metrics HTTP/1.1"})
    EXPECT_EQ(HttpRequest::parse(line + "\r\n\r\n").state, State::kMalformed) << line;
}

TEST(HttpRequest, AHeadHasAtMostEightKibibytes) {
  const std::string begin = "GET / HTTP/1.1\r\nX: ", end = "\r\n\r\n";
  const auto of = [&](std::size_t bytes) { return begin + std::string(bytes - begin.size() - end.size(), 'x') + end; };
  EXPECT_EQ(HttpRequest::parse(of(HttpRequest::kMostBytes)).state, State::kComplete);
  EXPECT_EQ(HttpRequest::parse(of(HttpRequest::kMostBytes + 1)).state, State::kTooLarge);
}

/// Pieces of requests in any order, and any bytes among them; AddressSanitizer looks on.
RC_GTEST_PROP(HttpRequestRead, WhateverComesIsReadWithinItsBounds, ()) {
  const auto piece = rc::gen::oneOf(rc::gen::elementOf(std::vector<std::string>{
                                        "GET ", "/metrics", "?", " HTTP/1.1", "\r\n", "\r\n\r\n", "Host:", ":", " ",
                                        "[::1]", "]:", "\n", std::string(1, '\0'), "localhost"}),
                                    rc::gen::container<std::string>(rc::gen::arbitrary<char>()));
  std::string received;
  for (const std::string& part : *rc::gen::container<std::vector<std::string>>(piece)) received += part;
  const HttpRequest request = HttpRequest::parse(received);
  for (const std::string_view text : {request.method, request.path, request.host})
    RC_ASSERT(text.empty() ||
              (text.data() >= received.data() && text.data() + text.size() <= received.data() + received.size()));
  RC_ASSERT(request.state != State::kComplete || request.path.starts_with('/'));
  live::is_local_host(request.host);
}

}  // namespace
}  // namespace corun
