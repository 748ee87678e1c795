#include "sim/executor/host/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "sim/executor/host/wall_clock.h"

namespace corun::executor {

namespace {

constexpr useconds_t kNap = 1'000;

/// "NAME=" of "NAME=VALUE".
std::string_view name_of(std::string_view variable) { return variable.substr(0, variable.find('=') + 1); }

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  return pointers;
}

std::vector<char*> environment_with(const std::vector<std::string>& own) {
  std::vector<char*> all = pointers(own);
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (std::ranges::find(own, name_of(*variable), [](const std::string& text) { return name_of(text); }) == own.end())
      all.push_back(*variable);
  all.push_back(nullptr);
  return all;
}

/// As posix_spawn() does, which cannot bind a process to its parent's life. Copies our page tables.
int start_bound(const Program& program, char** words, char** environment, pid_t& process) {
  int failure = 0, ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  process = fork();
  if (process == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (program.input >= 0) dup2(program.input, STDIN_FILENO);
    for (const int to : {STDOUT_FILENO, STDERR_FILENO})
      if (program.output >= 0) dup2(program.output, to);
    for (const int descriptor : program.descriptors) fcntl(descriptor, F_SETFD, 0);
    execvpe(words[0], words, environment);
    failure = errno;
    _exit(write(ends[1], &failure, sizeof(failure)) > 0 ? 127 : 126);
  }
  if (process < 0) failure = errno;
  close(ends[1]);
  if (process > 0 && read(ends[0], &failure, sizeof(failure)) > 0) waitpid(process, nullptr, 0);
  close(ends[0]);
  return failure;
}

int start(const Program& program, char** words, char** environment, pid_t& process) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  // Onto itself: inherited in spite of its closing on exec, and by this program alone.
  for (const int descriptor : program.descriptors) posix_spawn_file_actions_adddup2(&actions, descriptor, descriptor);
  if (program.input >= 0) posix_spawn_file_actions_adddup2(&actions, program.input, STDIN_FILENO);
  for (const int to : {STDOUT_FILENO, STDERR_FILENO})
    if (program.output >= 0) posix_spawn_file_actions_adddup2(&actions, program.output, to);
  const int failure = posix_spawnp(&process, words[0], &actions, &attributes, words, environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failure;
}

}  // namespace

pid_t spawn(const Program& program) {
  std::vector<char*> words = pointers(program.words);
  words.push_back(nullptr);
  std::vector<char*> environment = environment_with(program.environment);
  pid_t process = -1;
  errno = (program.ends_with_us ? start_bound : start)(program, words.data(), environment.data(), process);
  return errno == 0 ? process : -1;
}

bool has_ended(pid_t process, int* status) { return waitpid(process, status, WNOHANG) != 0; }

bool await_end(pid_t process, Duration patience, int* status) {
  const WallClock clock;
  while (!has_ended(process, status)) {
    if (clock.elapsed() > patience) return false;
    usleep(kNap);
  }
  return true;
}

}  // namespace corun::executor
