// Launches kernels of a given length back to back and says what one took: the program of the tracer's overhead table.
//   launch_loop KERNEL_US COUNT [GRAPH_NODES]
// With GRAPH_NODES, kernels are launched as a CUDA graph of so many nodes. Prints wall nanoseconds per kernel.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "launch_loop: %s: %s\n", what, cudaGetErrorString(result));
  std::exit(1);
}

__global__ void spin(unsigned long long ns) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < ns);
}

cudaGraphExec_t make_graph(cudaStream_t stream, int nodes, unsigned long long ns) {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "begin capture");
  for (int i = 0; i < nodes; ++i) spin<<<1, 32, 0, stream>>>(ns);
  check(cudaStreamEndCapture(stream, &graph), "end capture");
  check(cudaGraphInstantiate(&executable, graph, 0), "instantiate");
  return executable;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const auto ns = static_cast<unsigned long long>(std::atof(argv[1]) * 1000);
  const int count = std::atoi(argv[2]);
  const int nodes = argc > 3 ? std::atoi(argv[3]) : 0;
  cudaStream_t stream;
  check(cudaStreamCreate(&stream), "stream");
  const cudaGraphExec_t graph = nodes > 0 ? make_graph(stream, nodes, ns) : nullptr;
  const auto launch_all = [&](int kernels) {
    for (int i = 0; i<kernels; i += nodes> 0 ? nodes : 1) {
      if (nodes > 0) {
        check(cudaGraphLaunch(graph, stream), "graph launch");
      } else {
        spin<<<1, 32, 0, stream>>>(ns);
      }
    }
    check(cudaStreamSynchronize(stream), "synchronize");
  };
  launch_all(count / 10 + 1000);
  const auto begin = std::chrono::steady_clock::now();
  launch_all(count);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  std::printf("%.1f\n", took.count() / count);
  return 0;
}
