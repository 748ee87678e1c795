// Launches small kernels among other programs and says when each was called for, began and ended, in nanoseconds of
// the GPU's global timer: how kernels that need little get in between those that fill the device.
//   small_kernels KIND BLOCKS THREADS MICROSECONDS QUEUED SECONDS FILE
// KIND: spin (so long by the timer), add (so long alone, in additions), cache (goes over 8 MiB). QUEUED kernels are
// launched before each wait, 0.1 ms of the host between waits. FILE gets rows of int64: number in the queue, called,
// first block's begin, last block's begin, last block's end; the first row is -1, blocks, duration alone in ns, 0, 0.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "small_kernels: %s: %s\n", what, cudaGetErrorString(result));
  std::exit(1);
}

struct Record {
  unsigned long long first_begin, last_begin, end;
};

__device__ unsigned long long timer() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

template <typename Body>
__device__ void recorded(Record* record, Body body) {
  if (threadIdx.x == 0) {
    const auto begin = timer();
    atomicMin(&record->first_begin, begin);
    atomicMax(&record->last_begin, begin);
  }
  body();
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(&record->end, timer());
}

__global__ void spin(Record* record, long long ns, float*) {
  recorded(record, [&] {
    const auto begin = timer();
    while (timer() - begin < static_cast<unsigned long long>(ns)) {
    }
  });
}

__global__ void add(Record* record, long long steps, float* data) {
  recorded(record, [&] {
    float x = threadIdx.x, y = 1.0f;
    for (long long i = 0; i < steps; ++i) {
      x = x * 1.0001f + y;
      y = y * 0.9999f + x;
    }
    if (x == -1.0f) data[0] = x + y;
  });
}

__global__ void cache(Record* record, long long steps, float* data) {
  recorded(record, [&] {
    constexpr unsigned kFloats = 2u << 20;
    float sum = 0;
    unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) % kFloats;
    for (long long i = 0; i < steps; ++i) {
      sum += data[at];
      at = (at + gridDim.x * blockDim.x) % kFloats;
    }
    if (sum == -1.0f) data[0] = sum;
  });
}

using Kernel = void (*)(Record*, long long, float*);

long long now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

constexpr int kRecords = 1 << 12;

struct Bench {
  Kernel kernel;
  int blocks, threads, queued;
  Record* on_device = nullptr;
  float* data = nullptr;
  std::vector<Record> empty = std::vector<Record>(kRecords, Record{~0ull, 0, 0});
  std::vector<long long> rows;

  /// Rows of one round of kRecords / queued waits, or of one.
  void round(long long work, int waits) {
    std::vector<long long> called;
    check(cudaMemcpy(on_device, empty.data(), sizeof(Record) * kRecords, cudaMemcpyHostToDevice), "copy");
    for (int wait = 0; wait < waits; ++wait) {
      for (int i = 0; i < queued; ++i) {
        called.push_back(now());
        kernel<<<blocks, threads>>>(on_device + called.size() - 1, work, data);
      }
      check(cudaDeviceSynchronize(), "synchronize");
      std::this_thread::sleep_for(std::chrono::microseconds(60 + 80 * (wait % 7) / 6));
    }
    std::vector<Record> records(kRecords);
    check(cudaMemcpy(records.data(), on_device, sizeof(Record) * kRecords, cudaMemcpyDeviceToHost), "copy back");
    for (std::size_t i = 0; i < called.size(); ++i) {
      const auto [first, last, end] = records[i];
      rows.insert(rows.end(), {static_cast<long long>(i) % queued, called[i], static_cast<long long>(first),
                               static_cast<long long>(last), static_cast<long long>(end)});
    }
  }

  long long median_duration(long long work) {
    rows.clear();
    round(work, std::max(1, 200 / queued));
    std::vector<long long> durations;
    for (std::size_t i = 0; i < rows.size(); i += 5) durations.push_back(rows[i + 4] - rows[i + 2]);
    rows.clear();
    std::nth_element(durations.begin(), durations.begin() + durations.size() / 2, durations.end());
    return durations[durations.size() / 2];
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 8) return 2;
  const std::string kind = argv[1];
  Bench bench{kind == "spin"  ? spin
              : kind == "add" ? add
                              : cache,
              std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[5])};
  const long long ns = static_cast<long long>(std::atof(argv[4]) * 1000);
  const double seconds = std::atof(argv[6]);
  check(cudaMalloc(&bench.on_device, sizeof(Record) * kRecords), "memory");
  check(cudaMalloc(&bench.data, 8 << 20), "memory");
  check(cudaMemset(bench.data, 0, 8 << 20), "memset");
  long long work = ns;
  if (const char* known = std::getenv("WORK")) {
    work = std::atoll(known);
  } else if (kind != "spin") {
    work = 1000;
    for (int i = 0; i < 4; ++i) work = std::max(1ll, work * ns / std::max(1ll, bench.median_duration(work)));
  }
  const long long alone = bench.median_duration(work);
  std::fprintf(stderr, "WORK=%lld duration %lld ns\n", work, alone);
  FILE* file = std::fopen(argv[7], "wb");
  if (!file) return 1;
  const long long header[5] = {-1, bench.blocks, alone, 0, 0};
  std::fwrite(header, sizeof header, 1, file);
  const long long begin = now();
  while (now() - begin < seconds * 1e9) {
    bench.round(work, std::max(1, 400 / bench.queued));
    std::fwrite(bench.rows.data(), sizeof(long long), bench.rows.size(), file);
    bench.rows.clear();
  }
  std::fclose(file);
}
