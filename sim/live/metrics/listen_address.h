#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace corun::live {

/// An address of this machine and a port, at which something listens.
struct ListenAddress {
  sockaddr_storage raw{};  ///< a sockaddr_in or sockaddr_in6

  /// ":9400" (127.0.0.1), "localhost:9400", "10.0.0.1:9400", "[::1]:9400"; port 0 = any that is free. nullopt: it is
  /// none of these. Names are not looked up.
  static std::optional<ListenAddress> parse(std::string_view text);
  /// Of a socket that is bound.
  static ListenAddress of_socket(int socket);

  /// "127.0.0.1:9400", "[::1]:9400".
  std::string text() const;
  bool is_loopback() const;  ///< only programs of this machine come there
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&raw); }
  socklen_t size() const { return raw.ss_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6); }
};

/// Whether the Host of a request names the machine by an address or as localhost, and not by a name that a page on the
/// web could have pointed here.
bool is_local_host(std::string_view host);

}  // namespace corun::live
