#include "sim/live/metrics/listen_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>

namespace corun::live {

namespace {

/// An address and what is behind its colon.
struct Parts {
  std::string host;
  std::string_view port;
  bool is_v6 = false;  // it stood in brackets
};

/// nullopt: there is no colon where one has to be.
std::optional<Parts> split(std::string_view text) {
  const bool is_bracketed = text.starts_with('[');
  const std::size_t colon = is_bracketed ? text.find("]:") : text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  if (is_bracketed) return Parts{std::string(text.substr(1, colon - 1)), text.substr(colon + 2), true};
  return Parts{std::string(text.substr(0, colon)), text.substr(colon + 1)};
}

std::optional<std::uint16_t> port_of(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return port;
}

template <class Address>
Address as(const sockaddr_storage& raw) {
  Address address{};
  std::memcpy(&address, &raw, sizeof(address));
  return address;
}

template <class Address>
ListenAddress listen_address(const Address& address) {
  ListenAddress made;
  std::memcpy(&made.raw, &address, sizeof(address));
  return made;
}

}  // namespace

std::optional<ListenAddress> ListenAddress::parse(std::string_view text) {
  const std::optional<Parts> parts = split(text);
  if (!parts) return std::nullopt;
  const std::optional<std::uint16_t> port = port_of(parts->port);
  if (!port) return std::nullopt;
  if (parts->is_v6) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(*port);
    if (inet_pton(AF_INET6, parts->host.c_str(), &v6.sin6_addr) != 1) return std::nullopt;
    return listen_address(v6);
  }
  const std::string host = parts->host.empty() || parts->host == "localhost" ? "127.0.0.1" : parts->host;
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(*port);
  if (inet_pton(AF_INET, host.c_str(), &v4.sin_addr) != 1) return std::nullopt;
  return listen_address(v4);
}

ListenAddress ListenAddress::of_socket(int socket) {
  ListenAddress address;
  socklen_t size = sizeof(address.raw);
  getsockname(socket, reinterpret_cast<sockaddr*>(&address.raw), &size);
  return address;
}

std::string ListenAddress::text() const {
  std::array<char, INET6_ADDRSTRLEN> host{};
  if (raw.ss_family == AF_INET) {
    const auto v4 = as<sockaddr_in>(raw);
    return fmt::format("{}:{}", inet_ntop(AF_INET, &v4.sin_addr, host.data(), host.size()), ntohs(v4.sin_port));
  }
  const auto v6 = as<sockaddr_in6>(raw);
  return fmt::format("[{}]:{}", inet_ntop(AF_INET6, &v6.sin6_addr, host.data(), host.size()), ntohs(v6.sin6_port));
}

bool ListenAddress::is_loopback() const {
  if (raw.ss_family == AF_INET) return ntohl(as<sockaddr_in>(raw).sin_addr.s_addr) >> 24U == 127;
  const auto v6 = as<sockaddr_in6>(raw);
  return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
}

bool is_local_host(std::string_view host) {
  const bool is_whole = host.find(':') == std::string_view::npos || host.ends_with(']');
  return ListenAddress::parse(is_whole ? fmt::format("{}:0", host) : std::string(host)).has_value();
}

}  // namespace corun::live
