#pragma once

#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <thread>

#include "sim/executor/host/wall_clock.h"
#include "sim/live/metrics/listen_address.h"
#include "traces/base/time.h"

namespace corun::live {

/// Answers `GET /metrics` over HTTP, from one thread of its own, of a lower priority than others.
///
/// Everything is bounded: at most 16 connections, of which the oldest makes room for a new one; 8 KiB of a request; 5 s
/// from the begin of a connection to its end. A server that only programs of this machine can reach answers no request
/// that calls the machine by a name other than localhost, so that no page on the web reads it by way of a browser.
class MetricsServer {
 public:
  static constexpr std::size_t kMostCallers = 16;
  static constexpr Duration kPatience = std::chrono::seconds{5};

  /// `page` makes what is served, on the server's thread; it must not wait for long. Throws Error(kInput) where the
  /// address is taken, or not one of this machine.
  MetricsServer(const ListenAddress& address, std::function<std::string()> page);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  /// With the port that was taken.
  const ListenAddress& address() const { return address_; }

 private:
  struct Caller {
    int socket;
    Time until;
    std::string request, reply;
    std::size_t sent = 0;
  };

  void listen_at(const ListenAddress& address);
  void serve();
  void let_in();
  int patience_ms() const;
  bool go_on(Caller& caller);
  bool read(Caller& caller);
  std::string reply_to(std::string_view received) const;
  void close_all();

  const std::function<std::string()> page_;
  const executor::WallClock clock_;
  int listener_ = -1;
  int end_ = -1;  // an event: the thread is to end
  ListenAddress address_;
  std::list<Caller> callers_;  // oldest first
  std::thread thread_;
};

}  // namespace corun::live
