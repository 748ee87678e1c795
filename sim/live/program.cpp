#include "sim/live/program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>

#include "traces/base/error.h"

namespace corun::live {

namespace {

/// Assignments by name, each whole.
using Variables = std::map<std::string, std::string>;

const std::string kInjection = "CUDA_INJECTION64_PATH";

/// A list of paths, with one more behind or in front of it.
void append(Variables& variables, const std::string& name, const std::string& path) {
  std::string& list = variables.try_emplace(name, name + "=").first->second;
  list += (list.ends_with('=') ? "" : ":") + path;
}
void prepend(Variables& variables, const std::string& name, const std::string& path, const std::string& usual) {
  const auto known = variables.find(name);
  const std::string before = known == variables.end() ? "" : known->second.substr(name.size() + 1);
  variables[name] = fmt::format("{}={}:{}", name, path, before.empty() ? usual : before);
}

/// Ours, with the assignments of both lists; the last of a name counts.
std::vector<std::string> environment_with(const std::vector<std::string>& first, const std::vector<std::string>& then,
                                          const Guests& guests) {
  Variables variables;
  const auto put = [&](const std::string& assignment) {
    variables[assignment.substr(0, assignment.find('='))] = assignment;
  };
  for (char** at = environ; *at != nullptr; ++at) put(*at);
  for (const auto* list : {&first, &then})
    for (const std::string& assignment : *list) put(assignment);
  for (const std::string& library : guests.preloads) append(variables, "LD_PRELOAD", library);
  if (!guests.injection.empty()) variables.try_emplace(kInjection, kInjection + "=" + guests.injection);
  if (!guests.layer_data.empty()) {
    prepend(variables, "XDG_DATA_DIRS", guests.layer_data, "/usr/local/share:/usr/share");
    put("CORUN_TRACE_VULKAN=1");
  }
  std::vector<std::string> all;
  for (const auto& [name, assignment] : variables) all.push_back(assignment);
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// What posix_spawn is to do before the program runs.
class Preparation {
 public:
  explicit Preparation(const std::string& folder) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setpgroup(&attributes, 0);
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGTERM);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  }
  ~Preparation() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  Preparation(const Preparation&) = delete;
  Preparation& operator=(const Preparation&) = delete;

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

}  // namespace

void Program::start(const std::string& client, const LiveCommand& command, const std::vector<std::string>& variables,
                    const Guests& guests) {
  std::vector<std::string> words = command.words;
  std::vector<std::string> environment = environment_with(command.environment, variables, guests);
  const std::vector<char*> arguments = pointers_to(words), assignments = pointers_to(environment);
  const Preparation preparation(command.working_folder);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const int failure = posix_spawnp(&group_, arguments[0], &preparation.actions, &preparation.attributes,
                                   arguments.data(), assignments.data());
  is_over_ = false;
  ending_.clear();
  if (failure == 0) return;
  group_ = 0;
  throw Error(ErrorKind::kInput,
              fmt::format("client '{}': cannot start `{}`: {}", client, words.front(), std::strerror(failure)));
}

void Program::note_ending(int code, int status) {
  is_over_ = true;
  if (code != CLD_EXITED) ending_ = fmt::format("signal {}", status);
  if (code == CLD_EXITED && status != 0) ending_ = fmt::format("exit code {}", status);
}

// The others are reaped as they end, lest they pile up; the command stays a zombie for is_gone().
bool Program::has_ended() {
  siginfo_t ended{};
  while (!is_over_ && waitid(P_PGID, static_cast<id_t>(group_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         ended.si_pid != 0) {
    if (ended.si_pid == group_) {
      note_ending(ended.si_code, ended.si_status);
    } else {
      waitpid(ended.si_pid, nullptr, WNOHANG);
    }
    ended = {};
  }
  return is_over_;
}

// From when the command is no zombie any more, its number is the group's until the last of that has ended.
bool Program::is_gone() {
  if (group_ <= 0) return true;
  if (!has_ended()) return false;
  while (waitpid(-group_, nullptr, WNOHANG) > 0) {
  }
  if (::kill(-group_, 0) != 0 && errno == ESRCH) group_ = 0;
  return group_ <= 0;
}

void Program::terminate() {
  if (group_ > 0) ::kill(-group_, SIGTERM);
}

void Program::kill() {
  if (group_ > 0) ::kill(-group_, SIGKILL);
}

Program::~Program() {
  if (group_ <= 0) return;
  kill();
  waitpid(group_, nullptr, 0);
}

}  // namespace corun::live
