#include "tracer/gate/channel/handover.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace corun::gate {
namespace {

constexpr int kWaiting = 4096;  // guests that have connected and not been served
constexpr timeval kPatience{1, 0};

bool fill(sockaddr_un& address, const char* path) {
  address = {};
  address.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof(address.sun_path)) return false;
  strcpy(address.sun_path, path);
  return true;
}

/// -1 with errno where it is not.
int connected_to(const char* path, int flags) {
  sockaddr_un address;
  if (!fill(address, path)) return -1;
  const int descriptor = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0);
  if (descriptor < 0) return -1;
  setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
  setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
  if (connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return descriptor;
  const int failure = errno;
  close(descriptor);
  errno = failure;
  return -1;
}

bool is_of_this_user(int descriptor) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

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

void hand_over(int listener, const Memory& memory) {
  const int guest = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (guest < 0) return;
  Message message;
  cmsghdr* rights = CMSG_FIRSTHDR(&message.header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(2 * sizeof(int));
  const int descriptors[] = {memory.common, memory.lane};
  memcpy(CMSG_DATA(rights), descriptors, sizeof(descriptors));
  sendmsg(guest, &message.header, MSG_DONTWAIT | MSG_NOSIGNAL);
  close(guest);
}

bool receive(const char* path, Memory& memory) {
  const int descriptor = connected_to(path, 0);
  if (descriptor < 0) return false;
  Message message;
  int descriptors[2] = {-1, -1};
  const bool is_received = is_of_this_user(descriptor) && recvmsg(descriptor, &message.header, MSG_CMSG_CLOEXEC) == 1;
  const cmsghdr* rights = is_received ? CMSG_FIRSTHDR(&message.header) : nullptr;
  close(descriptor);
  if (rights == nullptr || rights->cmsg_type != SCM_RIGHTS || rights->cmsg_len != CMSG_LEN(sizeof(descriptors)))
    return false;
  memcpy(descriptors, CMSG_DATA(rights), sizeof(descriptors));
  memory = {descriptors[0], descriptors[1]};
  return true;
}

bool is_answered(const char* path) {
  const int descriptor = connected_to(path, SOCK_NONBLOCK);
  if (descriptor < 0) return errno != ECONNREFUSED && errno != ENOENT;  // too many may have connected and wait
  close(descriptor);
  return true;
}

}  // namespace corun::gate
