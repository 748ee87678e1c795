// Launches kernels of one kind as CUDA graphs until a file appears: a program whose kernels are known, for company.py.
//   neighbour KIND BLOCKS THREADS STEPS NODES STOP
// KIND: empty, spin (STEPS ns by the timer), add (dependent additions), stream (reads 1 GiB, STEPS 16-byte words a
// thread). NODES kernels are one graph; each graph is waited for.
#include <cuda_runtime.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "neighbour: %s: %s\n", what, cudaGetErrorString(result));
  std::exit(1);
}

__device__ unsigned long long timer() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void empty(float*, long long) {}

__global__ void spin(float*, long long ns) {
  const auto begin = timer();
  while (timer() - begin < static_cast<unsigned long long>(ns)) {
  }
}

__global__ void add(float* data, long long steps) {
  float x = threadIdx.x, y = 1.0f;
  for (long long i = 0; i < steps; ++i) {
    x = x * 1.0001f + y;
    y = y * 0.9999f + x;
  }
  if (x == -1.0f) data[0] = x + y;
}

__global__ void stream(float* data, long long steps) {
  constexpr unsigned long long kWords = 64ull << 20;
  const auto* words = reinterpret_cast<const float4*>(data);
  unsigned long long at = (static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x) % kWords;
  float sum = 0;
  for (long long i = 0; i < steps; ++i) {
    sum += words[at].x;
    at = (at + static_cast<unsigned long long>(gridDim.x) * blockDim.x) % kWords;
  }
  if (sum == -1.0f) data[0] = sum;
}

using Kernel = void (*)(float*, long long);

Kernel kernel_called(const std::string& kind) {
  if (kind == "empty") return empty;
  if (kind == "spin") return spin;
  if (kind == "add") return add;
  if (kind == "stream") return stream;
  std::fprintf(stderr, "neighbour: kind `%s`: expected empty, spin, add or stream\n", kind.c_str());
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  const Kernel kernel = kernel_called(argv[1]);
  const int blocks = std::atoi(argv[2]), threads = std::atoi(argv[3]), nodes = std::atoi(argv[5]);
  const long long steps = std::atoll(argv[4]);
  const std::size_t bytes = std::string(argv[1]) == "stream" ? std::size_t{1} << 30 : 256;
  float* data;
  cudaStream_t queue;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  check(cudaMalloc(&data, bytes), "memory");
  check(cudaMemset(data, 0, bytes), "memset");
  check(cudaStreamCreate(&queue), "stream");
  check(cudaStreamBeginCapture(queue, cudaStreamCaptureModeGlobal), "begin capture");
  for (int i = 0; i < nodes; ++i) kernel<<<blocks, threads, 0, queue>>>(data, steps);
  check(cudaStreamEndCapture(queue, &graph), "end capture");
  check(cudaGraphInstantiate(&executable, graph, 0), "instantiate");
  while (access(argv[6], F_OK) != 0) {
    check(cudaGraphLaunch(executable, queue), "graph launch");
    check(cudaStreamSynchronize(queue), "synchronize");
  }
}
