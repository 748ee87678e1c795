// How fast traces are read. Goal: a Kineto file of 400 MB at 200 MB/s or better, within 3 times its size of memory.

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "traces/reader.h"

namespace corun {
namespace {

constexpr std::size_t kFileBytes = std::size_t{400} << 20;

// One step of a training loop as the profiler writes it: most records are host operators and flow arrows.
std::string step(std::int64_t number) {
  std::string text;
  for (std::int64_t i = 0; i < 40; ++i) {
    const std::int64_t us = 1000000 + number * 400 + i * 10, id = number * 40 + i + 1;
    text += fmt::format(R"json(
  {{
    "ph": "X", "cat": "cpu_op", "name": "aten::convolution_overrideable", "pid": 2102, "tid": 2102,
    "ts": {0}.{1:03}, "dur": 4.250,
    "args": {{
      "External id": {2},"Record function id": 0, "Sequence number": 11, "Fwd thread id": 0, "Ev Idx": {2}
    }}
  }},
  {{
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 2102, "tid": 2102,
    "ts": {0}.{1:03}, "dur": 3.946,
    "args": {{
      "External id": {2}, "cbid": 211, "correlation": {2}
    }}
  }},
  {{
    "ph": "s", "id": {2}, "pid": 2102, "tid": 2102, "ts": {0}.{1:03},
    "cat": "ac2g", "name": "ac2g"
  }},
  {{
    "ph": "X", "cat": "kernel", "name": "void cudnn::nchwToNhwcKernel<float, float, float, false, true, (cudnnKernelDataType_t)2>(cudnn::nchw2nhwc_params_t<float>, float const*, float*)", "pid": 0, "tid": 7,
    "ts": {3}.{1:03}, "dur": 8.415,
    "args": {{
      "External id": {2}, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": {2}, "registers per thread": 32, "shared memory": 4224,
      "blocks per SM": 760.242432, "warps per SM": 6081.939453, "grid": [1568, 1, 64], "block": [256, 1, 1],
      "est. achieved occupancy %": 100
    }}
  }},
  {{
    "ph": "f", "id": {2}, "pid": 0, "tid": 7, "ts": {3}.{1:03},
    "cat": "ac2g", "name": "ac2g", "bp": "e"
  }},)json",
                        us, i * 7, id, us + 5);
  }
  return text;
}

/// A trace of `kFileBytes` in a temporary folder that goes away with this object.
class LargeTrace {
 public:
  LargeTrace() {
    std::string pattern = (std::filesystem::temp_directory_path() / "corun-bench-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    folder_ = pattern;
    std::ofstream out{path()};
    out << R"({"schemaVersion": 1, "deviceProperties": [], "baseTimeNanoseconds": 1711964646000000000, "traceEvents": [)";
    for (std::int64_t number = 0; out.tellp() < static_cast<std::streamoff>(kFileBytes); ++number) out << step(number);
    out << R"({"ph": "i", "name": "Record Window End", "ts": 1}]})";
  }
  ~LargeTrace() { std::filesystem::remove_all(folder_); }
  std::string path() const { return (folder_ / "large.json").string(); }

 private:
  std::filesystem::path folder_;
};

double peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

void BM_ImportKineto(benchmark::State& state) {
  const LargeTrace trace;
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(trace.path()));
  std::size_t operations = 0;
  for (auto _ : state) operations = load_timeline(trace.path()).ops().size();
  state.SetBytesProcessed(state.iterations() * bytes);
  state.counters["operations"] = static_cast<double>(operations);
  state.counters["peak_memory_per_file_byte"] = peak_memory_bytes() / static_cast<double>(bytes);
}
/// The yardstick: the bytes of the file, read and counted by lines.
void BM_ImportKinetoLimit(benchmark::State& state) {
  const LargeTrace trace;
  std::int64_t lines = 0;
  std::vector<char> block(1 << 20);
  for (auto _ : state) {
    std::ifstream in(trace.path(), std::ios::binary);
    while (in.read(block.data(), static_cast<std::streamsize>(block.size())), in.gcount() > 0)
      lines += std::count(block.begin(), block.begin() + in.gcount(), '\n');
  }
  benchmark::DoNotOptimize(lines);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(std::filesystem::file_size(trace.path())));
}
BENCHMARK(BM_ImportKinetoLimit)->Unit(benchmark::kMillisecond)->Iterations(3);
BENCHMARK(BM_ImportKineto)->Unit(benchmark::kMillisecond)->Iterations(3);

}  // namespace
}  // namespace corun

BENCHMARK_MAIN();
