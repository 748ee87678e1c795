// A CUDA program for live runs, in one of many manners:
//
//   live_app MANNER [COUNT [MICROSECONDS [BLOCKS [NAME]]]]
//
// COUNT kernels (0 = until a signal ends it) that take so long each and have so many blocks. It says on stderr how many
// it launched.
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/sim/live/driver/fake_cuda.h"
#include "tracer/cuda/cupti_abi.h"

namespace {

using namespace corun::cupti;

std::atomic<bool> is_to_end{false};
std::atomic<long> launched{0};
long most = 0;
unsigned length = 0, blocks = 4;
void *kernel = nullptr, *node = nullptr;  // a kernel of a library, a function of a module

bool goes_on() { return !is_to_end && (most == 0 || launched < most); }

void launch(void* stream = nullptr) {
  cuLaunchKernel(kernel, blocks, 1, 1, 32, 1, 1, length, stream, nullptr, nullptr);
  ++launched;
}

void step() {
  while (goes_on()) {
    for (int i = 0; i < 10 && goes_on(); ++i) launch();
    cuCtxSynchronize();
  }
}

// Every tenth kernel takes ten times as long, and has one block more.
void launch_unevenly() {
  while (goes_on()) {
    for (int i = 0; i < 10 && goes_on(); ++i) {
      const unsigned is_long = i == 6 ? 1 : 0;
      cuLaunchKernel(kernel, blocks + is_long, 1, 1, 32, 1, 1, length * (is_long != 0 ? 10 : 1), nullptr, nullptr,
                     nullptr);
      ++launched;
    }
    cuCtxSynchronize();
  }
}

// Room for more functions than there are, in memory that was used before.
void launch_enumerated() {
  void* functions[16];
  std::fill(std::begin(functions), std::end(functions), reinterpret_cast<void*>(0xa5a5a5a5a5a5a5a5));
  cuModuleEnumerateFunctions(functions, 16, functions);  // a module whose functions the driver does not count
  cuModuleEnumerateFunctions(functions, 16, nullptr);
  kernel = functions[1];
  step();
}

// As libraries do, each of which has retained the context of all.
void release_again_and_again(int device) {
  while (goes_on()) {
    for (int i = 0; i < 4 && goes_on(); ++i) launch();
    cuDevicePrimaryCtxRelease_v2(device);
    cuCtxSynchronize();
  }
}

// With streams of its own, all of which are gone by then.
void reset_again_and_again() {
  while (goes_on()) {
    void* stream = nullptr;
    cuStreamCreate(&stream, 0);
    for (int i = 0; i < 4 && goes_on(); ++i) {
      cuLaunchKernel(kernel, blocks, 1, 1, 32, 1, 1, length, stream, nullptr, nullptr);
      ++launched;
    }
    cuStreamSynchronize(stream);
    cuStreamDestroy_v2(stream);
    cuDevicePrimaryCtxReset_v2(0);
  }
}

void never_synchronise() {
  while (goes_on()) launch();
}

// Says what one took, in nanoseconds, in the middle one of many bursts: in bursts, since a scheduler hears fewer in a
// second than a driver that does nothing takes.
void time_launches() {
  constexpr long kBurst = 1000;
  const auto now_ns = [] {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
  };
  std::vector<double> bursts;
  while (goes_on()) {
    usleep(3000);
    const double begin = now_ns();
    for (long i = 0; i < kBurst; ++i) launch();
    bursts.push_back((now_ns() - begin) / kBurst);
  }
  std::ranges::sort(bursts);
  std::printf("%.1f\n", bursts[bursts.size() / 2]);
  std::fflush(stdout);
}

void launch_few_and_sleep() {
  for (int i = 0; i < 3; ++i) launch();
  while (!is_to_end) usleep(1000);
}

void launch_in_threads() {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([] {
      void* stream = nullptr;
      cuStreamCreate(&stream, 0);
      while (goes_on()) {
        for (int k = 0; k < 5 && goes_on(); ++k) launch(stream);
        cuStreamSynchronize(stream);
      }
      cuStreamDestroy_v2(stream);
    });
}

// Each stream waits for what the other did before.
void cross_streams() {
  void *streams[2], *events[2];
  for (int i = 0; i < 2; ++i) {
    cuStreamCreate(&streams[i], 0);
    cuEventCreate(&events[i], 0);
  }
  for (int i = 0; goes_on(); i = 1 - i) {
    launch(streams[i]);
    cuEventRecord(events[i], streams[i]);
    cuStreamWaitEvent(streams[1 - i], events[i], 0);
  }
  cuCtxSynchronize();
}

// A stream stands still until something else has been launched behind more than any bound lets in flight.
void wait_for_later() {
  void *first = nullptr, *second = nullptr;
  int flag = 0;
  cuStreamCreate(&first, 0);
  cuStreamCreate(&second, 0);
  cuStreamWaitFlag(first, &flag);
  for (int i = 0; i < 40; ++i) launch(first);
  std::atomic_ref(flag).store(1);
  while (goes_on()) launch(second);
  cuCtxSynchronize();
}

int launch_graphs() {
  void *stream = nullptr, *graph = nullptr, *executable = nullptr;
  cuStreamCreate(&stream, 0);
  std::jthread other([](const std::stop_token& stop) {
    void* its = nullptr;
    cuStreamCreate(&its, 0);
    while (!stop.stop_requested()) {
      launch(its);
      cuStreamSynchronize(its);
    }
  });
  cuStreamBeginCapture_v2(stream, 0);
  for (int i = 0; i < 20; ++i) {
    cuLaunchKernel(node, 3, 1, 1, 32, 1, 1, length, stream, nullptr, nullptr);
    usleep(500);
  }
  if (cuStreamEndCapture(stream, &graph) != 0) return 3;
  other.request_stop();
  other.join();
  cuGraphInstantiateWithFlags(&executable, graph, 0);
  for (int i = 0; i < 5; ++i) cuGraphLaunch(executable, stream);
  cuCtxSynchronize();
  return 0;
}

void copy() {
  static const char bytes[1'000'000] = {};
  while (goes_on()) {
    cuMemcpyHtoD_v2(1, bytes, sizeof(bytes));
    cuMemcpyHtoDAsync_v2(1, bytes, sizeof(bytes), nullptr);
    launch();
  }
  cuCtxSynchronize();
}

// It waits for the kernel, while another thread launches one.
void copy_behind_a_kernel() {
  std::jthread other([] {
    usleep(300'000);
    launch();
  });
  static const char byte = 0;
  launch();
  cuMemcpyHtoD_v2(1, &byte, 1);
  other.join();
  while (!is_to_end) usleep(1000);
}

void launch_graphs_only() {
  void *stream = nullptr, *graph = nullptr, *executable = nullptr;
  cuStreamCreate(&stream, 0);
  cuStreamBeginCapture_v2(stream, 0);
  cuLaunchKernel(node, 3, 1, 1, 32, 1, 1, length, stream, nullptr, nullptr);
  cuStreamEndCapture(stream, &graph);
  cuGraphInstantiateWithFlags(&executable, graph, 0);
  for (; goes_on(); ++launched) cuGraphLaunch(executable, stream);
  cuCtxSynchronize();
}

// Between others that are something. Says what they return.
void launch_nothing() {
  const LaunchConfig empty{{0, 1, 1}, {32, 1, 1}, 0, nullptr, nullptr, 0};
  while (goes_on()) {
    launch();
    std::printf("%d %d %d %d %d %d\n", cuLaunchKernelEx(nullptr, kernel, nullptr, nullptr),
                cuLaunchKernelEx(&empty, kernel, nullptr, nullptr), cuLaunchKernelEx(&empty, nullptr, nullptr, nullptr),
                cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
                cuLaunchKernel(kernel, 0, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
                cuGraphLaunch(nullptr, nullptr));
  }
  cuCtxSynchronize();
}

// Of a stream that is not being captured, while another is.
int end_the_wrong_capture() {
  void *stream = nullptr, *other = nullptr, *graph = nullptr;
  cuStreamCreate(&stream, 0);
  cuStreamCreate(&other, 0);
  cuStreamBeginCapture_v2(stream, 0);
  for (; goes_on(); ++launched) {
    std::printf("%d\n", cuStreamEndCapture(other, &graph));
    cuLaunchKernel(node, 3, 1, 1, 32, 1, 1, length, stream, nullptr, nullptr);
  }
  return cuStreamEndCapture(stream, &graph);
}

void sleep_until_the_end() {
  while (!is_to_end) usleep(1000);
}

// Launches into the default stream of all threads, and into that of this one.
void launch_into_default_streams() {
  void* found = nullptr;
  cuGetProcAddress_v2("cuLaunchKernel", &found, 13000, 2, nullptr);
  const auto launch_of_thread = reinterpret_cast<decltype(&cuLaunchKernel)>(found);
  while (goes_on()) {
    launch();
    if (launch_of_thread(kernel, blocks, 1, 1, 32, 1, 1, length, nullptr, nullptr, nullptr) == 0) ++launched;
  }
  cuCtxSynchronize();
}

// As a program of a CUDA that is not known yet.
void ask_for_newer_copies() {
  void* found = nullptr;
  cuGetProcAddress_v2("cuMemcpyHtoDAsync", &found, 14000, 0, nullptr);
  const auto copy_asynchronously = reinterpret_cast<decltype(&cuMemcpyHtoDAsync_v2)>(found);
  static const char bytes[1'000'000] = {};
  for (int i = 0; i < 5; ++i) copy_asynchronously(1, bytes, sizeof(bytes), nullptr);
  step();
}

// A tenth of the device at a time, for as long as there is some. Says what the driver tells, how often it got some, and
// what it is told of a whole device. Frees the first and goes on where it stays.
void allocate(bool stays) {
  constexpr std::size_t kPart = kDeviceBytes / 10;
  const auto tell = [](const char* what) {
    std::size_t free = 0, total = 0, whole = 0;
    cuMemGetInfo_v2(&free, &total);
    cuDeviceTotalMem_v2(&whole, 0);
    std::printf("%s: free %zu of %zu, %zu in all\n", what, free >> 20, total >> 20, whole >> 20);
  };
  tell("before");
  std::vector<std::uint64_t> got;
  int result = 0;
  for (std::uint64_t address = 0; got.size() < 20; got.push_back(address))
    if ((result = cuMemAlloc_v2(&address, kPart)) != 0) break;
  std::printf("got %zu, then %d; managed %d\n", got.size(), result, got.empty() ? 0 : cuMemoryIsManaged(got[0]));
  tell("after");
  std::uint64_t again = 0;
  if (!got.empty()) {
    const int freed = cuMemFree_v2(got[0]), twice = cuMemFree_v2(got[0]);
    const int pooled = cuMemAllocAsync(&again, kPart, nullptr);
    std::printf("freed %d, again %d, got back %d, managed %d\n", freed, twice, pooled, cuMemoryIsManaged(again));
  }
  std::printf("nothing %d, nowhere %d\n", cuMemAlloc_v2(&again, 0), cuMemAlloc_v2(nullptr, kPart));
  std::fflush(nullptr);
  while (stays && !is_to_end) usleep(1000);
}

// Wherever its thread is at that moment: here, inside a call that a gate makes of the driver.
void exit_in_handler() {
  signal(SIGTERM, [](int) { std::exit(0); });
  cuOnEventRecord([] {
    if (launched >= 20) raise(SIGTERM);
  });
  never_synchronise();
}

// The process stays, what it had in flight is lost.
void start_anew(char** arguments) {
  for (int i = 0; i < 5; ++i) launch();
  static char manner[] = "step";
  arguments[1] = manner;
  execv("/proc/self/exe", arguments);
}

// The other one uses no CUDA.
void start_another() {
  for (int i = 0; i < 5; ++i) launch();
  execlp("sleep", "sleep", "60", nullptr);
}

// A program that launches once and starts itself in its place, for as often as it has launches.
void go_from_one_to_the_next(char** arguments) {
  launch();
  const std::string left = std::to_string(most - 1);
  arguments[2] = const_cast<char*>(left.c_str());
  if (most > 1) execv("/proc/self/exe", arguments);
}

// A child of a process that uses CUDA cannot use it: here it can, and must not harm its parent.
void fork_with_cuda() {
  for (int i = 0; i < 5; ++i) launch();
  if (fork() == 0) {
    for (int i = 0; i < 20; ++i) cuLaunchKernel(kernel, blocks, 1, 1, 32, 1, 1, length, nullptr, nullptr, nullptr);
    std::exit(0);
  }
  step();
}

// Before CUDA is used: so a gate finds CUPTI taken.
void take_cupti() {
  const auto subscribe =
      reinterpret_cast<Result (*)(Subscriber*, Callback, void*)>(dlsym(RTLD_DEFAULT, "cuptiSubscribe"));
  Subscriber subscriber = nullptr;
  subscribe(
      &subscriber, [](void*, std::uint32_t, std::uint32_t, const void*) {}, nullptr);
}

}  // namespace

int main(int count, char** arguments) {
  const int errno_at_start = errno;
  alarm(120);  // whatever becomes of the test
  signal(SIGTERM, [](int) { is_to_end = true; });
  const std::string manner = count > 1 ? arguments[1] : "step";
  most = count > 2 ? std::atol(arguments[2]) : 0;
  length = count > 3 ? static_cast<unsigned>(std::atoi(arguments[3])) : 100;
  if (count > 4) blocks = static_cast<unsigned>(std::atoi(arguments[4]));
  if (manner == "profiled") take_cupti();
  if (manner == "forked") fork();
  if (manner == "errno") return std::fprintf(stderr, "errno %d\n", errno_at_start), 0;
  cuInit(0);
  cuLibraryGetKernel(&kernel, nullptr, count > 5 ? arguments[5] : "kernel");
  cuModuleGetFunction(&node, nullptr, "node");
  int code = 0;
  if (manner == "step" || manner == "profiled" || manner == "forked") step();
  if (manner == "fork_with_cuda") fork_with_cuda();
  if (manner == "unevenly") launch_unevenly();
  if (manner == "enumerated") launch_enumerated();
  if (manner == "release") release_again_and_again(0);
  if (manner == "release_another") release_again_and_again(1);
  if (manner == "reset") reset_again_and_again();
  if (manner == "never_synchronise") never_synchronise();
  if (manner == "time_launches") time_launches();
  if (manner == "few_and_sleep") launch_few_and_sleep();
  if (manner == "threads") launch_in_threads();
  if (manner == "cross_streams") cross_streams();
  if (manner == "wait_for_later") wait_for_later();
  if (manner == "graphs") code = launch_graphs();
  if (manner == "graphs_only") launch_graphs_only();
  if (manner == "launches_of_nothing") launch_nothing();
  if (manner == "wrong_end") code = end_the_wrong_capture();
  if (manner == "sleep") sleep_until_the_end();
  if (manner == "copy") copy();
  if (manner == "copy_behind_a_kernel") copy_behind_a_kernel();
  if (manner == "default_streams") launch_into_default_streams();
  if (manner == "newer_copies") ask_for_newer_copies();
  if (manner == "allocate" || manner == "allocate_and_stay") allocate(manner == "allocate_and_stay");
  if (manner == "exit_in_handler") exit_in_handler();
  if (manner == "start_anew") start_anew(arguments);
  if (manner == "start_another") start_another();
  if (manner == "chain") go_from_one_to_the_next(arguments);
  std::fprintf(stderr, "launched %ld\n", launched.load());
  std::fflush(nullptr);
  _exit(code);
}
