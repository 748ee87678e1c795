#include "sim/live/control_door.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "tracer/gate/channel/handover.h"
#include "traces/base/error.h"

namespace corun::live {

namespace {

constexpr std::size_t kMostAskers = 16;
constexpr std::size_t kMostText = std::size_t{32} << 10;
constexpr int kPatienceMs = 5000;
constexpr char kAnswered = '+', kRefused = '-', kSplits = '\n';

bool is_ours(int asker) {
  ucred peer{};
  socklen_t length = sizeof(peer);
  return getsockopt(asker, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(kSplits));
    words.emplace_back(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return words;
}

/// An error as a message and, after it, what to do.
std::string reply_to(const ControlDoor::Answer& answer, std::string_view request) {
  try {
    return kAnswered + answer(words_of(request));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInput) throw;
    return fmt::format("{}{}{}{}", kRefused, error.message(), kSplits, error.help());
  }
}

[[noreturn]] void fail(const std::string& path, std::string_view what) {
  throw Error(ErrorKind::kInput, SourceLocation{path, 0, 0}, std::string(what),
              "name the socket of a run that goes on: `simcli live ... --control SOCKET`");
}

int connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) fail(path, "the path is too long for a socket");
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int run = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (run >= 0 && connect(run, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return run;
  const int failure = errno;
  if (run >= 0) close(run);
  fail(path, fmt::format("no live run answers: {}", std::strerror(failure)));
}

}  // namespace

ControlDoor::ControlDoor(std::string path) : path_(std::move(path)) {
  struct stat there {};
  const bool is_taken = lstat(path_.c_str(), &there) == 0;
  if (is_taken && !S_ISSOCK(there.st_mode))
    throw Error(ErrorKind::kInput, SourceLocation{path_, 0, 0}, "there is a file, and a socket is to be made");
  if (is_taken && gate::is_answered(path_.c_str()))
    throw Error(ErrorKind::kInput, SourceLocation{path_, 0, 0}, "another live run is controlled here");
  listener_ = gate::listen_at(path_.c_str());
  if (listener_ < 0)
    throw Error(errno == ENAMETOOLONG || errno == ENOENT ? ErrorKind::kInput : ErrorKind::kDevice,
                SourceLocation{path_, 0, 0}, fmt::format("cannot make a socket: {}", std::strerror(errno)));
}

ControlDoor::~ControlDoor() {
  for (const int asker : askers_) close(asker);
  close(listener_);
  unlink(path_.c_str());
}

void ControlDoor::let_in() {
  for (int asker = 0; asker >= 0;) {
    asker = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (asker < 0) return;
    if (is_ours(asker)) askers_.push_back(asker);
    if (!is_ours(asker)) close(asker);
    if (askers_.size() <= kMostAskers) continue;
    close(askers_.front());
    askers_.erase(askers_.begin());
  }
}

void ControlDoor::serve(const Answer& answer) {
  let_in();
  std::array<char, kMostText> text;
  std::erase_if(askers_, [&](int asker) {
    const ssize_t length = recv(asker, text.data(), text.size(), 0);
    if (length < 0 && errno == EAGAIN) return false;
    if (length > 0) {
      const std::string reply = reply_to(answer, {text.data(), static_cast<std::size_t>(length) - 1});
      send(asker, reply.data(), std::min(reply.size(), kMostText), MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    close(asker);
    return true;
  });
}

std::string ask_run(const std::string& path, const std::vector<std::string>& words) {
  const int run = connect_to(path);
  const std::string request = fmt::format("{}{}", fmt::join(words, std::string(1, kSplits)), kSplits);
  std::array<char, kMostText> text;
  pollfd awaited{run, POLLIN, 0};
  const bool is_sent = send(run, request.data(), request.size(), MSG_NOSIGNAL) >= 0;
  const bool is_answered = is_sent && poll(&awaited, 1, kPatienceMs) > 0;
  const ssize_t length = is_answered ? recv(run, text.data(), text.size(), 0) : 0;
  close(run);
  if (length <= 0) fail(path, "the live run does not answer");
  const std::string_view reply(text.data() + 1, static_cast<std::size_t>(length) - 1);
  if (text.front() == kAnswered) return std::string(reply);
  const std::size_t split = reply.find(kSplits);
  throw Error(ErrorKind::kInput, SourceLocation{path, 0, 0}, std::string(reply.substr(0, split)),
              std::string(reply.substr(split + 1)));
}

}  // namespace corun::live
