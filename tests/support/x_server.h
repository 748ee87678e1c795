#pragma once

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace corun::testing {

inline bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " > /dev/null 2>&1").c_str()) == 0;
}

/// An X server for as long as the test; `display` is empty where there is none.
class XServer {
 public:
  XServer() {
    int ends[2];
    if (!has_program("Xvfb") || ::pipe(ends) != 0) return;
    server_ = ::fork();
    if (server_ == 0) {
      ::dup2(ends[1], 3);
      if (std::freopen("/dev/null", "w", stderr) == nullptr) ::_exit(1);
      // A number of its own: servers that look for a free one take away each other's sockets when they end.
      const std::string number = ":" + std::to_string(1000 + ::getpid());
      ::execlp("Xvfb", "Xvfb", number.c_str(), "-displayfd", "3", "-noreset", "-screen", "0", "640x480x24", nullptr);
      ::_exit(1);
    }
    ::close(ends[1]);
    std::string number;
    for (char digit = 0; ::read(ends[0], &digit, 1) == 1 && digit != '\n';) number += digit;
    ::close(ends[0]);  // not before the end of the line: the server dies where it cannot write it
    if (!number.empty()) display = ":" + number;
  }
  XServer(const XServer&) = delete;
  XServer& operator=(const XServer&) = delete;
  ~XServer() {
    if (server_ <= 0) return;
    ::kill(server_, SIGTERM);
    ::waitpid(server_, nullptr, 0);
  }

  std::string display;

 private:
  pid_t server_ = -1;
};

}  // namespace corun::testing
