#include "sim/live/metrics/listen_address.h"

#include <gtest/gtest.h>

namespace corun {
namespace {

using live::is_local_host;
using live::ListenAddress;

std::string parsed(std::string_view text) {
  const auto address = ListenAddress::parse(text);
  return address ? address->text() : "";
}

TEST(ListenAddress, IsThisMachineUnlessAnotherIsNamed) {
  EXPECT_EQ(parsed(":9400"), "127.0.0.1:9400");
  EXPECT_EQ(parsed("localhost:9400"), "127.0.0.1:9400");
  EXPECT_EQ(parsed("10.1.2.3:80"), "10.1.2.3:80");
  EXPECT_EQ(parsed("[::1]:9400"), "[::1]:9400");
  EXPECT_EQ(parsed(":0"), "127.0.0.1:0");
}

TEST(ListenAddress, WhatIsNoAddressAndPortIsNone) {
  for (const char* text :
       {"", ":", "9400", ":94OO", ":65536", ":-1", ": 9400", "127.0.0.1", "127.0.0.1:", "example.org:9400", "::1:9400",
        "[::1]", "[::1", "[]:9400", "1.2.3:9400", "[127.0.0.1]:9400x"})
    EXPECT_EQ(parsed(text), "") << text;
}

TEST(ListenAddress, KnowsWhatOnlyThisMachineReaches) {
  EXPECT_TRUE(ListenAddress::parse(":1")->is_loopback());
  EXPECT_TRUE(ListenAddress::parse("127.9.9.9:1")->is_loopback());
  EXPECT_TRUE(ListenAddress::parse("[::1]:1")->is_loopback());
  EXPECT_FALSE(ListenAddress::parse("0.0.0.0:1")->is_loopback());
  EXPECT_FALSE(ListenAddress::parse("[::]:1")->is_loopback());
}

TEST(ListenAddress, AHostIsLocalByItsAddressOrAsLocalhost) {
  for (const char* host : {"localhost", "localhost:9400", "127.0.0.1", "127.0.0.1:9400", "[::1]", "[::1]:9400"})
    EXPECT_TRUE(is_local_host(host)) << host;
  for (const char* host : {"evil.example", "evil.example:9400", "localhost.evil.example", "127.0.0.1.evil.example:80"})
    EXPECT_FALSE(is_local_host(host)) << host;
}

}  // namespace
}  // namespace corun
