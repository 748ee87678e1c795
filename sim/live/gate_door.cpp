#include "sim/live/gate_door.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "sim/executor/host/blocked_signals.h"
#include "traces/base/error.h"

namespace corun::live {

namespace {

constexpr std::chrono::milliseconds kBetweenTries{10};  // where no more files can be opened

}  // namespace

GateDoor::GateDoor(const std::vector<std::string>& paths, const std::vector<gate::Memory>& memory) : memory_(memory) {
  const auto fail = [&](const std::string& what) {
    const int failure = errno;
    close_all();
    throw Error(ErrorKind::kDevice, fmt::format("cannot make {}: {}", what, std::strerror(failure)));
  };
  for (const std::string& path : paths) {
    const int listener = gate::listen_at(path.c_str());
    if (listener < 0) fail("the gate " + path);
    listeners_.push_back(listener);
  }
  end_ = eventfd(0, EFD_CLOEXEC);
  if (end_ < 0) fail("an event for gates");
  const executor::BlockedSignals blocked;
  thread_ = std::thread([this] { serve(); });
}

GateDoor::~GateDoor() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(end_, &one, sizeof(one));
  thread_.join();
  close_all();
}

void GateDoor::close_all() const {
  for (const int listener : listeners_) close(listener);
  if (end_ >= 0) close(end_);
}

void GateDoor::serve() const {
  std::vector<pollfd> awaited;
  for (const int listener : listeners_) awaited.push_back({listener, POLLIN, 0});
  awaited.push_back({end_, POLLIN, 0});
  while (poll(awaited.data(), awaited.size(), -1) >= 0 && awaited.back().revents == 0)
    for (std::size_t i = 0; i < listeners_.size(); ++i)
      if (awaited[i].revents != 0 && !gate::hand_over(listeners_[i], memory_[i]))
        std::this_thread::sleep_for(kBetweenTries);
}

}  // namespace corun::live
