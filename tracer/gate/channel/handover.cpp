#include "tracer/gate/channel/handover.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

namespace corun::gate {
namespace {

constexpr int kWaiting = 4096;  // guests that have connected and not been served
constexpr long kNapNs = 1'000'000, kNsPerMs = 1'000'000;

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

bool fill(sockaddr_un& address, const char* path) {
  address = {};
  address.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof(address.sun_path)) return errno = ENAMETOOLONG, false;
  strcpy(address.sun_path, path);
  return true;
}

/// Never waits. -1 with errno where it is not; EAGAIN: too many others wait.
int connected_to(const char* path) {
  sockaddr_un address;
  if (!fill(address, path)) return -1;
  const int descriptor = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -1;
  if (connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return descriptor;
  const int failure = errno;
  close(descriptor);
  errno = failure;
  return -1;
}

// A signal of the program ends neither wait.
int connected_until(const char* path, std::int64_t until_ns) {
  for (;;) {
    const int descriptor = connected_to(path);
    if (descriptor >= 0 || (errno != EAGAIN && errno != EINTR) || monotonic_ns() >= until_ns) return descriptor;
    const timespec nap{0, kNapNs};
    nanosleep(&nap, nullptr);
  }
}

bool is_readable_until(int descriptor, std::int64_t until_ns) {
  for (;;) {
    const std::int64_t left_ns = until_ns - monotonic_ns();
    pollfd awaited{descriptor, POLLIN, 0};
    const int ready = poll(&awaited, 1, left_ns > 0 ? static_cast<int>(1 + left_ns / kNsPerMs) : 0);
    if (ready > 0) return true;
    if ((ready < 0 && errno != EINTR) || left_ns <= 0) return false;
  }
}

bool is_of_this_user(int descriptor) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

/// As errno says of an attempt to connect.
bool is_nothing_there() { return errno == ECONNREFUSED || errno == ENOENT; }

/// A message of one byte with two descriptors.
struct Message {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
  msghdr header{};
  Message() {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
  }
};

/// Both descriptors, or none is left open.
bool take_descriptors(Message& message, Memory& memory) {
  int taken[2] = {-1, -1};
  std::size_t count = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message.header); part != nullptr; part = CMSG_NXTHDR(&message.header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= part->cmsg_len && count < 2; at += sizeof(int))
      memcpy(&taken[count++], reinterpret_cast<const char*>(part) + at, sizeof(int));
  }
  if (count == 2 && (message.header.msg_flags & MSG_CTRUNC) == 0) {
    memory = {taken[0], taken[1]};
    return true;
  }
  while (count > 0) close(taken[--count]);
  return false;
}

}  // namespace

int listen_at(const char* path) {
  sockaddr_un address;
  char unfinished[sizeof(address.sun_path)];  // nothing that is found by its name answers no guest
  const int length = snprintf(unfinished, sizeof(unfinished), "%s.new", path);
  if (length >= static_cast<int>(sizeof(unfinished)) || !fill(address, unfinished)) return errno = ENAMETOOLONG, -1;
  const int descriptor = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -1;
  if (bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
      listen(descriptor, kWaiting) == 0 && rename(unfinished, path) == 0)
    return descriptor;
  const int failure = errno;
  close(descriptor);
  return errno = failure, -1;
}

bool hand_over(int listener, const Memory& memory) {
  const int guest = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (guest < 0) return errno == EAGAIN;
  Message message;
  cmsghdr* rights = CMSG_FIRSTHDR(&message.header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(2 * sizeof(int));
  const int descriptors[] = {memory.common, memory.lane};
  memcpy(CMSG_DATA(rights), descriptors, sizeof(descriptors));
  sendmsg(guest, &message.header, MSG_DONTWAIT | MSG_NOSIGNAL);
  close(guest);
  return true;
}

Receipt receive(const char* path, Memory& memory, std::int64_t patience_ns) {
  const std::int64_t until_ns = monotonic_ns() + patience_ns;
  const int descriptor = connected_until(path, until_ns);
  if (descriptor < 0) return is_nothing_there() ? Receipt::kNothingThere : Receipt::kFailed;
  Message message;
  const bool is_received = is_of_this_user(descriptor) && is_readable_until(descriptor, until_ns) &&
                           recvmsg(descriptor, &message.header, MSG_CMSG_CLOEXEC) == 1;
  close(descriptor);
  return is_received && take_descriptors(message, memory) ? Receipt::kReceived : Receipt::kFailed;
}

bool is_answered(const char* path) {
  const int descriptor = connected_to(path);
  if (descriptor < 0) return !is_nothing_there();  // too many may have connected and wait
  close(descriptor);
  return true;
}

}  // namespace corun::gate
