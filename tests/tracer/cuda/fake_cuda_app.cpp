// A program that uses CUDA as far as the tracer can see: it is given the injected library and the fake CUPTI, loads the
// first as the driver would in cuInit(), and launches kernels through the second.
//
//   fake_cuda_app INJECTION CUPTI MODE LAUNCHES
//
// It always prints the same and ends with 7, except in the modes that do not come to their end.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

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

bool has_ended_well(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void fork_and_launch(void* cupti) {
  const pid_t child = fork();
  if (child == 0) {
    launch(cupti, 5);
    std::exit(0);
  }
  if (!has_ended_well(child)) std::exit(3);
}

// The program's own NVTX, as nvtx3 lays out its tables: functions are null until a tool puts its own in.
using Function = void (*)();
constexpr unsigned kPlaces = 17;
Function functions[6][kPlaces];
Function* places[6][kPlaces];
bool is_nvtx_short = false;

int module_table(std::uint32_t module, Function*** table, unsigned* count) {
  if (module != 1 && module != 5) return 0;
  for (unsigned i = 0; i < kPlaces; ++i) places[module][i] = &functions[module][i];
  *table = places[module];
  *count = is_nvtx_short ? 3 : kPlaces;
  return 1;
}

const void* export_table(std::uint32_t id) {
  static const struct {
    std::size_t size;
    int (*module)(std::uint32_t, Function***, unsigned*);
  } callbacks = {sizeof(callbacks), &module_table};
  return id == 1 ? &callbacks : nullptr;
}

struct Attributes {
  std::uint16_t version = 3, size = sizeof(Attributes);
  std::uint32_t category = 0;
  std::int32_t color_type = 0;
  std::uint32_t color = 0;
  std::int32_t payload_type = 0, reserved = 0;
  std::uint64_t payload = 0;
  std::int32_t message_type = 1;
  const void* message = nullptr;
};

template <class... Arguments>
std::uint64_t nvtx(unsigned module, unsigned place, Arguments... arguments) {
  if (functions[module][place] == nullptr) return 0;
  return reinterpret_cast<std::uint64_t (*)(Arguments...)>(functions[module][place])(arguments...);
}

void use_nvtx(const char* injection) {
  const auto start = reinterpret_cast<int (*)(decltype(&export_table))>(
      dlsym(dlopen(injection, RTLD_NOW), "InitializeInjectionNvtx2"));
  if (start(nullptr) != 0) std::exit(5);
  start(&export_table);
}

void name_ranges(const char* injection, void* cupti) {
  use_nvtx(injection);
  errno = ELOOP;
  const char* const domain = "a domain";
  for (int i = 0; i < 3; ++i) {
    nvtx(1, 9, "step");
    nvtx(1, 9, "inner");
    launch(cupti, 1);
    nvtx(1, 11);
    nvtx(1, 11);
  }
  const Attributes plain{.message = "of a domain"};
  const Attributes registered{.message_type = 3,
                              .message = reinterpret_cast<const void*>(nvtx(5, 10, domain, "registered"))};
  nvtx(1, 9, "outer");
  nvtx(5, 4, domain, &plain);
  nvtx(1, 11);  // ends "outer", which is of no domain
  nvtx(5, 5, domain);
  const std::uint64_t number = nvtx(5, 2, domain, &registered);
  nvtx(5, 3, domain, number);
  nvtx(5, 3, domain, number);  // ended already
  nvtx(1, 9, "around");
  nvtx(1, 10, L"wide");
  nvtx(1, 11);
  nvtx(1, 9, "inside");
  nvtx(1, 11);
  nvtx(1, 11);
  if (errno != ELOOP) std::exit(6);
}

const void* registered_early = nullptr;

void register_before_cuda(const char* injection) {
  use_nvtx(injection);
  char text[] = "registered early";
  registered_early = reinterpret_cast<const void*>(nvtx(5, 10, static_cast<const void*>(nullptr), +text));
  text[0] = '?';
}

void use_what_was_registered_early() {
  const Attributes registered{.message_type = 3, .message = registered_early};
  nvtx(5, 4, static_cast<const void*>(nullptr), &registered);
  nvtx(5, 5, static_cast<const void*>(nullptr));
}

// What no sound program does.
void misuse_nvtx(const char* injection) {
  use_nvtx(injection);
  Attributes small{.message = "too small"}, wide{.message_type = 2, .message = L"wide"}, none{.message_type = 0};
  small.size = 16;
  for (const Attributes* attributes :
       {static_cast<const Attributes*>(nullptr), &std::as_const(small), &std::as_const(wide), &std::as_const(none)}) {
    nvtx(1, 8, attributes);
    nvtx(1, 11);
    nvtx(5, 4, static_cast<const void*>(nullptr), attributes);
    nvtx(5, 5, static_cast<const void*>(nullptr));
  }
  nvtx(1, 9, static_cast<const char*>(nullptr));
  for (int i = 0; i < 3; ++i) nvtx(1, 11);
  nvtx(1, 7, std::uint64_t{0});
  nvtx(1, 7, ~std::uint64_t{0});
  for (int i = 0; i < 100; ++i) nvtx(1, 9, "deep");
  for (int i = 0; i < 100; ++i) nvtx(1, 11);
  for (int i = 0; i < 3000; ++i) nvtx(1, 5, "never ended");
  for (int i = 0; i < 20000; ++i) {
    char name[64];
    std::snprintf(name, sizeof(name), "%c%c%c step %d", 'a' + i % 26, 'a' + i / 26 % 26, 'a' + i / 676, i);
    nvtx(1, 9, static_cast<const char*>(name));
    nvtx(1, 11);
  }
  nvtx(1, 9, "deep");
  nvtx(1, 11);
}

void name_ranges_by_many_threads(const char* injection) {
  use_nvtx(injection);
  const auto work = [](void*) -> void* {
    for (int i = 0; i < 100; ++i) {
      nvtx(1, 9, "of a thread");
      nvtx(1, 11);
    }
    return nullptr;
  };
  for (int round = 0; round < 100; ++round) {  // more threads than there are stacks, one after the other
    pthread_t threads[8];
    for (pthread_t& thread : threads) pthread_create(&thread, nullptr, work, nullptr);
    for (pthread_t& thread : threads) pthread_join(thread, nullptr);
  }
}

// Each child is the copy of a moment at which other threads are anywhere in the hooks.
void fork_between_ranges(const char* injection) {
  use_nvtx(injection);
  static bool is_over = false;
  const auto work = [](void*) -> void* {
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) nvtx(1, 7, nvtx(1, 5, "of a thread"));
    return nullptr;
  };
  pthread_t threads[2];
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, work, nullptr);
  for (int i = 0; i < 200; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(5);
      for (int j = 0; j < 3; ++j) nvtx(1, 7, nvtx(1, 5, "of a child"));
      _exit(0);
    }
    if (!has_ended_well(child)) std::exit(3);
  }
  __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
  for (pthread_t& thread : threads) pthread_join(thread, nullptr);
}

}  // namespace

int main(int, char** arguments) {
  const std::string mode = arguments[3];
  const auto count = static_cast<std::uint32_t>(std::atoi(arguments[4]));
  void* const cupti = dlopen(arguments[2], RTLD_NOW | RTLD_GLOBAL);
  if (mode == "early_ranges") register_before_cuda(arguments[1]);
  initialize(arguments[1]);
  if (mode == "killed") {
    launch_steadily(cupti, count);
  } else {
    launch(cupti, count);
  }
  make_scripted_calls(cupti);
  if (mode == "ranges") name_ranges(arguments[1], cupti);
  if (mode == "bad_ranges") misuse_nvtx(arguments[1]);
  if (mode == "short_nvtx") {
    is_nvtx_short = true;
    name_ranges(arguments[1], cupti);
  }
  if (mode == "threads_with_ranges") name_ranges_by_many_threads(arguments[1]);
  if (mode == "early_ranges") use_what_was_registered_early();
  if (mode == "fork_with_ranges") fork_between_ranges(arguments[1]);
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
