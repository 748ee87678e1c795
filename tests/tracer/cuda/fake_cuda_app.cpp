// A program that uses CUDA as far as the tracer can see: it is given the injected library and the fake CUPTI, loads the
// first as the driver would in cuInit(), and launches kernels through the second.
//
//   fake_cuda_app INJECTION CUPTI MODE LAUNCHES
//
// It always prints the same and ends with 7, except in the modes that do not come to their end.
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

constexpr int kExitCode = 7;

void initialize(const char* injection) {
  void* const library = dlopen(injection, RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  const auto start = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  errno = ELOOP;
  if (start() != 1 || start() != 1) std::exit(2);
  if (errno != ELOOP) std::exit(4);
}

void launch(void* cupti, std::uint32_t count) {
  if (cupti == nullptr) return;
  reinterpret_cast<void (*)(std::uint32_t)>(dlsym(cupti, "fake_cuda_launch"))(count);
}

// One launch every two milliseconds.
void launch_steadily(void* cupti, std::uint32_t count) {
  const timespec pause{0, 2'000'000};
  for (std::uint32_t i = 0; i < count; ++i) {
    launch(cupti, 1);
    nanosleep(&pause, nullptr);
  }
}

void make_scripted_calls(void* cupti) {
  if (cupti != nullptr) reinterpret_cast<void (*)()>(dlsym(cupti, "fake_cuda_calls"))();
}

void await_disabled(void* cupti) { reinterpret_cast<void (*)()>(dlsym(cupti, "fake_cuda_await_disabled"))(); }

void fork_and_launch(void* cupti) {
  const pid_t child = fork();
  if (child == 0) {
    launch(cupti, 5);
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) std::exit(3);
}

}  // namespace

int main(int, char** arguments) {
  const std::string mode = arguments[3];
  const auto count = static_cast<std::uint32_t>(std::atoi(arguments[4]));
  void* const cupti = dlopen(arguments[2], RTLD_NOW | RTLD_GLOBAL);
  initialize(arguments[1]);
  if (mode == "killed") {
    launch_steadily(cupti, count);
  } else {
    launch(cupti, count);
  }
  make_scripted_calls(cupti);
  if (mode == "fork") fork_and_launch(cupti);
  if (mode == "await_disabled") await_disabled(cupti);
  if (mode == "await_disabled") launch(cupti, count);
  std::printf("launched %u\n", count);
  std::fflush(stdout);
  if (mode == "exec") execl("/proc/self/exe", arguments[0], arguments[1], arguments[2], "exit", arguments[4], nullptr);
  if (mode == "crash") raise(SIGSEGV);
  if (mode == "killed") raise(SIGKILL);
  if (mode == "_exit") _exit(kExitCode);
  return kExitCode;
}
