#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sim/live/metrics/listen_address.h"

namespace corun::testing {

/// A program that asks a server of metrics.
class Scraper {
 public:
  /// With `most_unread`, the system takes in no more for it than about so many bytes that it has not read.
  explicit Scraper(const live::ListenAddress& address, int most_unread = 0)
      : socket_(socket(address.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (most_unread > 0) setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &most_unread, sizeof(most_unread));
    if (connect(socket_, address.get(), address.size()) != 0) throw std::runtime_error("nothing listens");
  }
  ~Scraper() { close(socket_); }
  Scraper(const Scraper&) = delete;
  Scraper& operator=(const Scraper&) = delete;

  /// False where the other side has closed the connection.
  bool say(std::string_view text) const { return send(socket_, text.data(), text.size(), MSG_NOSIGNAL) >= 0; }
  /// All that comes until the other side closes the connection, or comes no longer for this long.
  std::string hear(int patience_ms = 20000) const {
    std::string all;
    std::array<char, 65536> part;
    pollfd awaited{socket_, POLLIN, 0};
    while (poll(&awaited, 1, patience_ms) > 0) {
      const ssize_t length = recv(socket_, part.data(), part.size(), 0);
      if (length <= 0) break;
      all.append(part.data(), static_cast<std::size_t>(length));
    }
    return all;
  }
  /// Whether the other side has closed the connection, or does so within this time.
  bool is_closed(int patience_ms) const {
    pollfd awaited{socket_, POLLIN, 0};
    char one = 0;
    return poll(&awaited, 1, patience_ms) > 0 && recv(socket_, &one, 1, MSG_PEEK) <= 0;
  }

 private:
  const int socket_;
};

inline std::string get(const live::ListenAddress& address, std::string_view path = "/metrics") {
  const Scraper scraper(address);
  scraper.say("GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  return scraper.hear();
}

}  // namespace corun::testing
