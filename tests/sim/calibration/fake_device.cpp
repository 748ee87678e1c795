// A CUDA driver without a device, for the probes of a calibration: streams run concurrently in real time, kernels of
// 2 us and 1 ns for each iteration and thousand blocks, copies of 10 bytes a ns, 1023 launches in flight. A spinning
// kernel is away for 300 us every 2 ms.

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace {

constexpr int kOk = 0;
constexpr std::uint64_t kClockAhead = 1'700'000'000'000'000'000;  // of the device's clock
constexpr std::size_t kDepth = 1023;

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

struct Stream {
  std::uint64_t is_free_at = 0;
  std::size_t in_flight = 0;
};

std::mutex mutex;
std::condition_variable changed;
std::multimap<std::uint64_t, std::function<void()>> due;

void serve() {
  std::unique_lock lock(mutex);
  while (true) {
    if (due.empty() || due.begin()->first > now_ns()) {
      changed.wait_for(lock, std::chrono::microseconds(due.empty() ? 1000 : 5));
      continue;
    }
    due.begin()->second();
    due.erase(due.begin());
    changed.notify_all();
  }
}

/// Begins when the stream is free, blocks while it is full, and calls `end` with begin and end.
void enqueue(void* where, std::uint64_t length_ns, std::function<void(std::uint64_t, std::uint64_t)> end) {
  static std::thread server(serve);
  if (server.joinable()) server.detach();
  auto* stream = static_cast<Stream*>(where);
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return stream->in_flight < kDepth; });
  ++stream->in_flight;
  const std::uint64_t begins = std::max(now_ns(), stream->is_free_at), ends = begins + length_ns;
  stream->is_free_at = ends;
  due.emplace(ends, [=] {
    --stream->in_flight;
    end(begins + kClockAhead, ends + kClockAhead);
  });
}

template <class T>
T parameter(void** parameters, int index) {
  return *static_cast<T*>(parameters[index]);
}

void launch_spin(void* stream, void** parameters) {
  auto* report = parameter<std::uint64_t*>(parameters, 0);
  auto* gaps = parameter<std::uint64_t*>(parameters, 1);
  const auto room = parameter<std::uint64_t>(parameters, 2), length = parameter<std::uint64_t>(parameters, 3);
  enqueue(stream, length, [=](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t count = 0;
    for (std::uint64_t at = begin + 2'000'000; at + 300'000 < end; at += 2'300'000, ++count)
      if (count < room) gaps[2 * count] = at, gaps[2 * count + 1] = 300'000;
    report[0] = begin, report[1] = end, report[2] = count, report[3] = 32, report[4] = 1;
  });
}

void launch_work(char kind, void* stream, unsigned blocks, void** parameters) {
  auto* stamp = parameter<std::uint64_t*>(parameters, 0);
  const auto ticket = parameter<std::uint64_t>(parameters, 1);
  const auto iterations = parameter<std::uint64_t>(parameters, kind == 'y' ? 2 : 4);
  auto* cycles = kind == 'y' ? parameter<std::uint64_t*>(parameters, 3) : nullptr;
  const std::uint64_t length = 2'000 + iterations * (1'000 + blocks) / 1'000;
  enqueue(stream, length, [=](std::uint64_t begin, std::uint64_t end) {
    if (cycles != nullptr) *cycles = (end - begin) * 3 / 2;
    stamp[0] = begin, stamp[1] = end;
    std::atomic_ref(stamp[2]).store(ticket, std::memory_order_release);
  });
}

void* take(std::size_t bytes) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

}  // namespace

#pragma GCC diagnostic ignored "-Wmissing-declarations"

extern "C" {

int cuInit(unsigned) { return kOk; }
int cuDeviceGetCount(int* count) { return *count = 1, kOk; }
int cuDeviceGet(int* device, int) { return *device = 0, kOk; }
int cuDeviceGetAttribute(int* value, int attribute, int) {
  return *value = attribute == 16 ? 10 : attribute == 39 ? 2048 : attribute == 106 ? 32 : 1'000'000, kOk;
}
int cuDeviceGetName(char* name, int size, int) { return std::strncpy(name, "a fake", size - 1), kOk; }
int cuDeviceTotalMem_v2(std::size_t* bytes, int) { return *bytes = 1 << 30, kOk; }
int cuMemGetInfo_v2(std::size_t* unused, std::size_t* all) { return *unused = 1 << 29, *all = 1 << 30, kOk; }
int cuDevicePrimaryCtxRetain(void** context, int) { return *context = context, kOk; }
int cuDevicePrimaryCtxRelease_v2(int) { return kOk; }
int cuCtxSetCurrent(void*) { return kOk; }
int cuCtxGetStreamPriorityRange(int* least, int* greatest) { return *least = 0, *greatest = -5, kOk; }
int cuCtxSynchronize() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [] { return due.empty(); });
  return kOk;
}
int cuModuleLoadData(void** module, const void* image) {
  return *module = module, std::strstr(static_cast<const char*>(image), ".entry corun_spin") != nullptr ? kOk : 1;
}
int cuModuleGetFunction(void** function, void*, const char* name) {
  static char spin = 's', compute = 'c', move = 'm', cycles = 'y';
  const std::string wanted = name;
  *function = wanted == "corun_spin"      ? &spin
              : wanted == "corun_compute" ? &compute
              : wanted == "corun_move"    ? &move
              : wanted == "corun_cycles"  ? &cycles
                                          : nullptr;
  return *function == nullptr ? 500 : kOk;
}
int cuStreamCreateWithPriority(void** stream, unsigned, int) { return *stream = new Stream, kOk; }
int cuLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void* stream, void** parameters, void**) {
  const char kind = *static_cast<char*>(function);
  if (kind == 's') {
    launch_spin(stream, parameters);
  } else {
    launch_work(kind, stream, blocks, parameters);
  }
  return kOk;
}
int cuMemAlloc_v2(unsigned long long* address, std::size_t bytes) {
  return *address = reinterpret_cast<unsigned long long>(take(bytes)), kOk;
}
int cuMemsetD8_v2(unsigned long long, unsigned char, std::size_t) { return kOk; }
int cuMemHostAlloc(void** address, std::size_t bytes, unsigned) { return *address = take(bytes), kOk; }
int cuMemHostGetDevicePointer_v2(unsigned long long* device, void* host, unsigned) {
  return *device = reinterpret_cast<unsigned long long>(host), kOk;
}
int cuMemcpyHtoDAsync_v2(unsigned long long, const void*, std::size_t bytes, void* stream) {
  return enqueue(stream, bytes / 10, [](std::uint64_t, std::uint64_t) {}), kOk;
}
int cuMemcpyDtoHAsync_v2(void*, unsigned long long, std::size_t bytes, void* stream) {
  return enqueue(stream, bytes / 10, [](std::uint64_t, std::uint64_t) {}), kOk;
}
int cuGetErrorName(int, const char** name) { return *name = "CUDA_ERROR_UNKNOWN", kOk; }
}
