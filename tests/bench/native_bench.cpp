// How fast the native format is read: a capture of 200,000 kernels with their launches, from the page cache. The
// yardstick decodes as many numbers of the same size from one buffer of varints and keeps them.

#include <benchmark/benchmark.h>

#include "tests/bench/replay_capture.h"
#include "tests/support/temporary_folder.h"
#include "traces/native/native.h"

namespace corun {
namespace {

constexpr std::size_t kIterations = 400;
constexpr std::size_t kNumbersPerOperation = 5;  // start, duration, name, shape, call

void BM_ReadNative(benchmark::State& state) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "capture.corun";
  write_native(bench::make_capture(kIterations, 8), path, false);
  std::size_t operations = 0;
  for (auto _ : state) operations += load_timeline(path).ops().size();
  state.SetItemsProcessed(static_cast<std::int64_t>(operations));
}

void append_varint(std::string& bytes, std::uint64_t value) {
  for (; value > 127; value >>= 7) bytes.push_back(static_cast<char>(value | 128));
  bytes.push_back(static_cast<char>(value));
}

void BM_ReadNativeLimit(benchmark::State& state) {
  const Timeline capture = bench::make_capture(kIterations, 8);
  std::string bytes;
  std::int64_t before = 0;
  for (const OpRecord& op : capture.ops()) {
    append_varint(bytes, static_cast<std::uint64_t>(op.start_ns - std::exchange(before, op.start_ns)));
    append_varint(bytes, static_cast<std::uint64_t>(op.duration_ns));
    for (const std::uint32_t index : {op.name.value, op.shape, 1u}) append_varint(bytes, index);
  }
  for (auto _ : state) {
    std::vector<std::uint64_t> numbers;
    numbers.reserve(capture.ops().size() * kNumbersPerOperation);
    for (std::size_t at = 0; at < bytes.size();) {
      std::uint64_t value = 0;
      unsigned shift = 0;
      std::uint8_t byte = 0;
      do {
        byte = static_cast<std::uint8_t>(bytes[at++]);
        value |= std::uint64_t{byte & 127u} << shift;
        shift += 7;
      } while (byte > 127);
      numbers.push_back(value);
    }
    benchmark::DoNotOptimize(numbers.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(capture.ops().size()));
}

BENCHMARK(BM_ReadNative)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReadNativeLimit)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace corun

BENCHMARK_MAIN();
