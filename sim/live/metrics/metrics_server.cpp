#include "sim/live/metrics/metrics_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "sim/executor/host/blocked_signals.h"
#include "sim/live/metrics/http_request.h"
#include "traces/base/error.h"

namespace corun::live {

namespace {

constexpr std::string_view kPath = "/metrics";
constexpr std::string_view kPlain = "text/plain; charset=utf-8";
constexpr std::string_view kExposition = "text/plain; version=0.0.4; charset=utf-8";
constexpr int kNiceness = 10;  // yields to the scheduler, and is not starved where all processors are busy
constexpr std::chrono::milliseconds kBetweenTries{10};  // where no more files can be opened

std::string help_for(int failure) {
  if (failure == EADDRINUSE) return "end what listens there, or let any free port be taken: `--metrics :0`";
  if (failure == EACCES) return "ports below 1024 are the system's: take a higher one, as `--metrics :9400`";
  return "name an address of this machine: `--metrics :9400` listens at 127.0.0.1";
}

}  // namespace

MetricsServer::MetricsServer(const ListenAddress& address, std::function<std::string()> page) : page_(std::move(page)) {
  listen_at(address);
  end_ = eventfd(0, EFD_CLOEXEC);
  if (end_ < 0) {
    close_all();
    throw Error(ErrorKind::kDevice, fmt::format("cannot make an event for metrics: {}", std::strerror(errno)));
  }
  const executor::BlockedSignals blocked;
  thread_ = std::thread([this] { serve(); });
}

MetricsServer::~MetricsServer() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(end_, &one, sizeof(one));
  thread_.join();
  close_all();
}

void MetricsServer::listen_at(const ListenAddress& address) {
  const int on = 1;
  listener_ = socket(address.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ >= 0) setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (listener_ < 0 || bind(listener_, address.get(), address.size()) != 0 || listen(listener_, SOMAXCONN) != 0) {
    const int failure = errno;
    close_all();
    throw Error(ErrorKind::kInput, SourceLocation{address.text(), 0, 0},
                fmt::format("metrics cannot be served here: {}", std::strerror(failure)), help_for(failure));
  }
  address_ = ListenAddress::of_socket(listener_);
}

void MetricsServer::close_all() {
  for (const Caller& caller : callers_) close(caller.socket);
  if (listener_ >= 0) close(listener_);
  if (end_ >= 0) close(end_);
}

void MetricsServer::serve() {
  setpriority(PRIO_PROCESS, 0, kNiceness);  // of this thread
  while (true) {
    std::vector<pollfd> awaited{{end_, POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const Caller& caller : callers_)
      awaited.push_back({caller.socket, static_cast<short>(caller.reply.empty() ? POLLIN : POLLOUT), 0});
    poll(awaited.data(), awaited.size(), patience_ms());
    if (awaited[0].revents != 0) return;
    std::size_t place = 2;
    std::erase_if(callers_, [&](Caller& caller) {
      const bool is_ready = awaited[place++].revents != 0;
      const bool stays = clock_.now() < caller.until && (!is_ready || go_on(caller));
      if (!stays) close(caller.socket);
      return !stays;
    });
    if (awaited[1].revents != 0) let_in();
  }
}

/// Until the oldest has to go; -1: there is none.
int MetricsServer::patience_ms() const {
  if (callers_.empty()) return -1;
  const Duration left = std::max(callers_.front().until - clock_.now(), Duration{0});
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
}

/// At most half of the places at a time: those that came before are heard first.
void MetricsServer::let_in() {
  for (std::size_t i = 0; i < kMostCallers / 2; ++i) {
    const int caller = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (caller < 0) {
      if (errno == EMFILE || errno == ENFILE) std::this_thread::sleep_for(kBetweenTries);
      return;
    }
    callers_.push_back({caller, clock_.now() + kPatience, {}, {}});
    if (callers_.size() <= kMostCallers) continue;
    close(callers_.front().socket);
    callers_.pop_front();
  }
}

/// False: the connection is at its end.
bool MetricsServer::go_on(Caller& caller) {
  if (caller.reply.empty() && !read(caller)) return false;
  if (caller.reply.empty()) return true;
  const ssize_t sent = send(caller.socket, caller.reply.data() + caller.sent, caller.reply.size() - caller.sent,
                            MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0) return errno == EAGAIN || errno == EINTR;
  caller.sent += static_cast<std::size_t>(sent);
  return caller.sent < caller.reply.size();
}

bool MetricsServer::read(Caller& caller) {
  std::array<char, HttpRequest::kMostBytes> received;
  const ssize_t length = recv(caller.socket, received.data(), received.size(), MSG_DONTWAIT);
  if (length < 0) return errno == EAGAIN || errno == EINTR;
  caller.request.append(received.data(), static_cast<std::size_t>(length));
  caller.reply = reply_to(caller.request);
  return length > 0;
}

/// "": more of the request is to come.
std::string MetricsServer::reply_to(std::string_view received) const {
  const HttpRequest request = HttpRequest::parse(received);
  const auto refuse = [](std::string_view status) { return http_reply(status, kPlain, fmt::format("{}\n", status)); };
  if (request.state == HttpRequest::State::kIncomplete) return {};
  if (request.state == HttpRequest::State::kTooLarge) return refuse("431 Request Header Fields Too Large");
  if (request.state == HttpRequest::State::kMalformed) return refuse("400 Bad Request");
  if (address_.is_loopback() && !request.host.empty() && !is_local_host(request.host))
    return refuse("421 Misdirected Request");
  if (request.path != kPath) return refuse("404 Not Found");
  if (request.method != "GET" && request.method != "HEAD") return refuse("405 Method Not Allowed");
  return http_reply("200 OK", kExposition, page_(), request.method == "GET");
}

}  // namespace corun::live
