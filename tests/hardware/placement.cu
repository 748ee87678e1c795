// On which SMs the blocks of a kernel are placed with another program under MPS, by how much shared memory both use.
//   placement neighbour BLOCKS THREADS SHARED CARVEOUT US STOP   spins until the file STOP appears
//   placement blocks LABEL SHAPE...                              one line a kernel; a SHAPE is BLOCKS:THREADS:SHARED
// CARVEOUT is the preferred part of an SM's memory that is shared, in percent; -1: the driver's choice. Lines say:
// label, blocks, threads, bytes of shared memory; duration in us; SMs used, blocks on the fullest one at a time; how
// much later than the first block the last one began, us; all in the middle of the launches.
#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace {

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "placement: %s: %s\n", what, cudaGetErrorString(result));
  std::exit(1);
}

struct Record {
  unsigned long long begin, end;
  unsigned sm;
};

__device__ unsigned long long timer() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void spin(unsigned long long ns) {
  extern __shared__ float shared[];
  const auto begin = timer();
  while (timer() - begin < ns) {
  }
  if (ns == 1) shared[0] = 1;
}

/// Keeps the arithmetic of an SM busy with four warps, so that blocks on one SM take so many times as long.
__global__ void add(Record* records, int steps) {
  extern __shared__ float shared[];
  const auto begin = timer();
  float x[8];
  for (int i = 0; i < 8; ++i) x[i] = threadIdx.x + i;
  for (int step = 0; step < steps; ++step)
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = x[i] * 1.0001f + 0.5f;
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += x[i];
  if (sum == -1.0f) shared[0] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    records[blockIdx.x] = {begin, timer(), sm};
  }
}

template <typename Value>
Value middle(std::vector<Value> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

int fullest(const std::vector<Record>& records) {
  int most = 0;
  for (const Record& at : records)
    most = std::max<int>(most, std::count_if(records.begin(), records.end(), [&](const Record& other) {
                           return other.sm == at.sm && other.begin <= at.begin && at.begin < other.end;
                         }));
  return most;
}

void measure(const char* label, int blocks, int threads, int shared, Record* on_device) {
  check(cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "shared memory");
  std::vector<double> durations, spreads;
  std::vector<int> sms, most;
  constexpr int kLaunches = 60, kSkipped = 10;
  for (int i = 0; i < kLaunches; ++i) {
    add<<<blocks, threads, shared>>>(on_device, 2000);
    usleep(37 * (i % 5));
    std::vector<Record> records(blocks);
    check(cudaMemcpy(records.data(), on_device, sizeof(Record) * blocks, cudaMemcpyDeviceToHost), "copy");
    if (i < kSkipped) continue;
    std::map<unsigned, int> used;
    unsigned long long first = ~0ull, last = 0, end = 0;
    for (const Record& record : records) {
      ++used[record.sm];
      first = std::min(first, record.begin);
      last = std::max(last, record.begin);
      end = std::max(end, record.end);
    }
    durations.push_back((end - first) / 1e3);
    spreads.push_back((last - first) / 1e3);
    sms.push_back(static_cast<int>(used.size()));
    most.push_back(fullest(records));
  }
  std::printf("%s,%d,%d,%d,%.1f,%d,%d,%.1f\n", label, blocks, threads, shared, middle(durations), middle(sms),
              middle(most), middle(spreads));
}

int be_neighbour(char** argv) {
  const int blocks = std::atoi(argv[2]), threads = std::atoi(argv[3]), shared = std::atoi(argv[4]);
  const int carveout = std::atoi(argv[5]);
  const auto ns = static_cast<unsigned long long>(1e3 * std::atof(argv[6]));
  check(cudaFuncSetAttribute(spin, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "shared memory");
  check(cudaFuncSetAttribute(spin, cudaFuncAttributePreferredSharedMemoryCarveout, carveout), "carve-out");
  while (access(argv[7], F_OK) != 0) {
    for (int i = 0; i < 50; ++i) spin<<<blocks, threads, shared>>>(ns);
    check(cudaDeviceSynchronize(), "synchronize");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 8 && std::string(argv[1]) == "neighbour") return be_neighbour(argv);
  if (argc < 4 || std::string(argv[1]) != "blocks") return 2;
  Record* on_device;
  check(cudaMalloc(&on_device, sizeof(Record) * 4096), "memory");
  for (int i = 3; i < argc; ++i) {
    int blocks, threads, shared;
    if (std::sscanf(argv[i], "%d:%d:%d", &blocks, &threads, &shared) != 3) return 2;
    measure(argv[2], blocks, threads, shared, on_device);
  }
}
