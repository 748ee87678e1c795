// How long a copy between host and device takes that is waited for, alone and next to another process whose kernels
// keep the device busy: whether a copy waits for its context's turn (studies/copy-turns).
//   copy_turns > rows.jsonl
// A row for each way of copying, size and company: microseconds from the call to the end of the wait, at any phase of
// the company's slices. Company: "none", "queue" (kernels of 1 ms, 20 queued ahead), "short" (kernels of 50 us, 400
// ahead).
#include <cuda_runtime.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int kSamples = 80;
constexpr std::size_t kMost = 4 << 20;

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "copy_turns: %s: %s\n", what, cudaGetErrorString(result));
  std::_Exit(1);
}

__global__ void spin(unsigned long long ns) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < ns);
}

/// Keeps a queue of kernels until it is killed.
[[noreturn]] void keep_busy(unsigned long long ns, int ahead) {
  std::vector<cudaEvent_t> ends(2);
  for (cudaEvent_t& end : ends) check(cudaEventCreateWithFlags(&end, cudaEventDisableTiming), "event");
  for (int batch = 0;; ++batch) {
    check(cudaEventSynchronize(ends[batch % 2]), "wait");
    for (int i = 0; i < ahead / 2; ++i) spin<<<1, 32>>>(ns);
    check(cudaEventRecord(ends[batch % 2]), "record");
  }
}

struct Buffers {
  char *device, *pinned, *pageable;
};

void copy(const std::string& way, std::size_t bytes, const Buffers& buffers) {
  if (way == "kernel") spin<<<1, 32>>>(0);
  if (way == "to_device")
    check(cudaMemcpyAsync(buffers.device, buffers.pageable, bytes, cudaMemcpyHostToDevice), way.c_str());
  if (way == "to_device_pinned")
    check(cudaMemcpyAsync(buffers.device, buffers.pinned, bytes, cudaMemcpyHostToDevice), way.c_str());
  if (way == "to_host")
    check(cudaMemcpyAsync(buffers.pageable, buffers.device, bytes, cudaMemcpyDeviceToHost), way.c_str());
  if (way == "to_host_pinned")
    check(cudaMemcpyAsync(buffers.pinned, buffers.device, bytes, cudaMemcpyDeviceToHost), way.c_str());
  check(cudaStreamSynchronize(nullptr), "synchronize");
}

void measure(const char* company, const std::string& way, std::size_t bytes, const Buffers& buffers) {
  std::mt19937 chance(1);
  std::vector<double> times;
  for (int i = 0; i < kSamples; ++i) {
    usleep(std::uniform_int_distribution<useconds_t>(0, 3000)(chance));
    const auto begin = std::chrono::steady_clock::now();
    copy(way, bytes, buffers);
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  std::printf(
      "{\"company\": \"%s\", \"way\": \"%s\", \"bytes\": %zu, \"p10_us\": %.1f, \"median_us\": %.1f, \"p90_us\": "
      "%.1f}\n",
      company, way.c_str(), bytes, times[kSamples / 10], times[kSamples / 2], times[kSamples * 9 / 10]);
  std::fflush(stdout);
}

void measure_all(const char* company) {
  Buffers buffers{};
  check(cudaMalloc(&buffers.device, kMost), "memory");
  check(cudaMallocHost(&buffers.pinned, kMost), "pinned memory");
  buffers.pageable = static_cast<char*>(std::calloc(kMost, 1));
  copy("kernel", 0, buffers);
  measure(company, "kernel", 0, buffers);
  for (const char* way : {"to_device", "to_device_pinned", "to_host", "to_host_pinned"})
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{256}, std::size_t{4096}, std::size_t{32768},
                                    std::size_t{65536}, std::size_t{65540}, std::size_t{262144}, kMost})
      measure(company, way, bytes, buffers);
}

pid_t start_company(unsigned long long ns, int ahead) {
  const pid_t child = fork();
  if (child == 0) keep_busy(ns, ahead);
  return child;
}

}  // namespace

int main() {
  const struct {
    const char* name;
    unsigned long long ns;
    int ahead;
  } companies[] = {{"none", 0, 0}, {"queue", 1'000'000, 20}, {"short", 50'000, 400}};
  for (const auto& company : companies) {
    const pid_t neighbour = company.ahead > 0 ? start_company(company.ns, company.ahead) : 0;
    const pid_t measurer = fork();  // CUDA is not for use on both sides of a fork
    if (measurer == 0) {
      sleep(3);
      measure_all(company.name);
      std::exit(0);
    }
    waitpid(measurer, nullptr, 0);
    if (neighbour > 0) kill(neighbour, SIGKILL), waitpid(neighbour, nullptr, 0);
  }
}
