// A capture from its file to metrics: eight programs replay it with a game on one device, under policies that hold
// nothing back, hold whole programs back, and gate every kernel. The yardstick plays the same kernels and decides
// nothing (yardstick/replay_floor.h).
//
// --operations=N sets how many kernels the programs launch together (default 10^6). --packed=FILE adds a case that says
// how many bytes an operation of a recorded capture takes.

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "policies/builtin.h"
#include "sim/metrics/collector.h"
#include "sim/run/simulation.h"
#include "tests/bench/replay_capture.h"
#include "tests/support/temporary_folder.h"
#include "traces/native/native.h"

namespace corun {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

constexpr std::uint32_t kPrograms = 8;

/// A game of 60 frames a second, a tenth of the device.
std::shared_ptr<const Workload> make_game() {
  auto game = std::make_shared<Workload>();
  game->job_kind = JobKind::kFrame;
  game->names = {"frame"};
  WorkOp frame;
  frame.kind = OpKind::kRender;
  frame.duration = frame.predicted_by_name = frame.predicted_by_shape = 1'600us;
  game->ops = {frame};
  game->steps = {HostStep{1ms, StepKind::kSubmit, 0}};
  game->jobs = {Job{0, 1, 0, 1, kRunStart, 0}};
  game->recorded_span = 16'667us;
  return game;
}

std::vector<ClientSpec> clients_for(std::shared_ptr<const Workload> capture, std::uint32_t programs) {
  std::vector<ClientSpec> clients;
  for (std::uint32_t c = 0; c < programs; ++c) {
    ClientSpec& program = clients.emplace_back();
    program.name = fmt::format("program{}", c);
    program.workload = capture;
    program.repeat = 1;
    program.arrival = Duration{c * 3'001'003};
    program.requested_share = 0.9 / programs;
  }
  ClientSpec& game = clients.emplace_back();
  game.name = "game";
  game.role = Role::kInteractive;
  game.workload = make_game();
  game.pacing = {Pacing::Mode::kVsync, 16'667us};
  return clients;
}

/// Counts operations and passes all facts on.
class Counter : public Collector {
 public:
  using Collector::Collector;
  void on_op(const OpFact& op) override {
    ++operations;
    Collector::on_op(op);
  }
  std::int64_t operations = 0;
};

std::shared_ptr<const Workload> load_workload(const std::string& path, std::size_t iterations) {
  WorkloadOptions options;
  options.iterations = static_cast<std::uint32_t>(iterations);
  return std::make_shared<const Workload>(workload_from_capture(load_compact(path), options));
}

/// From the file to metrics; returns how many operations were run. Ends when the programs have.
std::int64_t replay(const std::string& path, std::size_t iterations, const PolicyDescriptor& policy,
                    std::uint32_t programs) {
  const std::shared_ptr<const Workload> capture = load_workload(path, iterations);
  const std::unique_ptr<Policy> rules = policy.create(policy.defaults());
  RunInput input;
  input.clients = clients_for(capture, programs);
  input.policy = rules.get();
  input.policy_name = policy.name;
  input.horizon = std::chrono::hours{24};
  Counter counter(input);
  Engine engine;
  std::uint32_t left = programs;
  Simulation simulation(input, engine, counter, [&](ClientId) {
    if (--left == 0) engine.stop();
  });
  simulation.schedule();
  engine.run(kRunStart + input.horizon);
  const RunResult result = simulation.finish();
  benchmark::DoNotOptimize(counter.metrics(result, {}));
  return counter.operations;
}

/// A capture in its two files: ours, and the yardstick's with the kernels of all programs.
struct Files {
  Files(std::size_t operations, std::uint32_t streams, std::uint32_t programs)
      : iterations(std::max<std::size_t>(2, operations / programs / bench::kKernelsPerIteration)) {
    const Timeline capture = bench::make_capture(iterations, streams / programs);
    write_native(capture, native, false);
    yardstick::write_columns(columns, bench::floor_columns(capture, programs));
  }
  testing::TemporaryFolder folder;
  std::size_t iterations;
  std::string native = folder / "capture.corun", columns = folder / "columns";
};

/// Files that are made when the first case that replays them runs, so that a case that is run alone makes no others.
class SharedFiles {
 public:
  SharedFiles(std::size_t operations, std::uint32_t streams, std::uint32_t programs)
      : files_([=] { return std::make_unique<const Files>(operations, streams, programs); }) {}
  const Files& get() {
    if (!made_) made_ = files_();
    return *made_;
  }

 private:
  std::function<std::unique_ptr<const Files>()> files_;
  std::unique_ptr<const Files> made_;
};

void set_items(benchmark::State& state, std::int64_t operations) { state.SetItemsProcessed(operations); }

void BM_Replay(benchmark::State& state, const PolicyDescriptor& policy, const Files& files) {
  std::int64_t operations = 0;
  for (auto _ : state) operations += replay(files.native, files.iterations, policy, kPrograms);
  set_items(state, operations);
}

void BM_ReplayFloor(benchmark::State& state, const Files& files) {
  std::int64_t operations = 0;
  for (auto _ : state) operations += static_cast<std::int64_t>(yardstick::replay_floor(files.columns));
  set_items(state, operations);
}

double peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

/// All kernels in one file, replayed by one program. Run alone in its process, it shows the memory that takes.
void BM_OneFile(benchmark::State& state, std::size_t operations) {
  const Files files(operations, 8, 1);
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;  // forgets the peak of making the file
  std::int64_t done = 0;
  for (auto _ : state) done += replay(files.native, files.iterations, passthrough_policy(), 1);
  set_items(state, done);
  state.counters["bytes_per_operation"] = peak_memory_bytes() / static_cast<double>(operations);
}

/// The same file, as far as to the workload.
void BM_LoadOneFile(benchmark::State& state, std::size_t operations) {
  const Files files(operations, 8, 1);
  std::size_t done = 0;
  for (auto _ : state) done += load_workload(files.native, files.iterations)->ops.size();
  set_items(state, static_cast<std::int64_t>(done));
}

/// What the columns of a recorded capture, and of the workload that it becomes, take in memory.
void BM_PackedFile(benchmark::State& state, const std::string& path) {
  CompactCapture capture = load_compact(path);
  const auto operations = static_cast<double>(capture.op_count());
  const std::size_t starts = capture.starts.bytes(), call_starts = capture.call_starts.bytes();
  const std::size_t read =
      capture.prototype_of.bytes() + starts + capture.durations.bytes() + capture.call_of.bytes() + call_starts;
  WorkloadOptions options;
  options.step.by = StepChoice::By::kWhole;
  std::size_t made = 0;
  for (auto _ : state) {
    const Workload workload = workload_from_capture(capture, options);
    const WorkOps::Columns& columns = workload.ops.columns();
    made = columns.prototype.bytes() + columns.duration.bytes() + columns.dispatch_gap.bytes() +
           columns.launch_latency.bytes() + workload.steps.bytes();
  }
  state.counters["operations"] = operations;
  state.counters["bytes_of_capture"] = static_cast<double>(read) / operations;
  state.counters["bytes_of_workload"] = static_cast<double>(made) / operations;
}

/// Independent runs, one a thread. The yardstick is as many threads that only count: what the machine gives.
template <class Run>
void on_threads(benchmark::State& state, const Run& run) {
  for (auto _ : state) {
    std::vector<std::jthread> threads;
    for (std::int64_t t = 0; t < state.range(0); ++t) threads.emplace_back(run);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void count_up() {
  std::uint64_t sum = 1;
  for (std::uint64_t i = 0; i < 200'000'000; ++i) benchmark::DoNotOptimize(sum = sum * 3 + i);
}

void add_benchmarks(std::size_t operations) {
  const std::vector<PolicyDescriptor> policies{passthrough_policy(), pilotfish_policy(), nvshare_policy(),
                                               gaiagpu_policy()};
  using benchmark::RegisterBenchmark;
  for (const std::uint32_t streams : {8u, 64u, 512u, 4096u}) {
    const auto files = std::make_shared<SharedFiles>(operations, streams, kPrograms);
    RegisterBenchmark(fmt::format("BM_ReplayFloor/{}", streams).c_str(), [files](benchmark::State& state) {
      BM_ReplayFloor(state, files->get());
    })->Iterations(1);
    for (const PolicyDescriptor& policy : policies)
      RegisterBenchmark(fmt::format("BM_Replay/{}/{}", policy.name, streams).c_str(), [files, policy](
                                                                                          benchmark::State& state) {
        BM_Replay(state, policy, files->get());
      })->Iterations(1);
  }
  RegisterBenchmark("BM_OneFile", [operations](benchmark::State& state) {
    BM_OneFile(state, operations);
  })->Iterations(1);
  RegisterBenchmark("BM_LoadOneFile", [operations](benchmark::State& state) {
    BM_LoadOneFile(state, operations);
  })->Iterations(3);
  const auto small = std::make_shared<SharedFiles>(operations / 4, 8, kPrograms);
  RegisterBenchmark("BM_IndependentRuns",
                    [small](benchmark::State& state) {
                      const Files& files = small->get();
                      on_threads(state,
                                 [&] { replay(files.native, files.iterations, passthrough_policy(), kPrograms); });
                    })
      ->Arg(1)
      ->Arg(2)
      ->Iterations(1)
      ->UseRealTime();
  RegisterBenchmark("BM_IndependentCounting", [](benchmark::State& state) { on_threads(state, count_up); })
      ->Arg(1)
      ->Arg(2)
      ->Iterations(1)
      ->UseRealTime();
}

}  // namespace
}  // namespace corun

/// The value of the first such argument, which is taken out; "" if there is none.
static std::string take_option(int& argc, char** argv, std::string_view option) {
  for (int i = 1; i < argc; ++i) {
    if (!std::string_view(argv[i]).starts_with(option)) continue;
    const std::string value = argv[i] + option.size();
    std::copy(argv + i + 1, argv + argc + 1, argv + i);
    --argc;
    return value;
  }
  return "";
}

int main(int argc, char** argv) {
  const std::string operations = take_option(argc, argv, "--operations=");
  corun::add_benchmarks(operations.empty() ? 1'000'000 : static_cast<std::size_t>(std::stod(operations)));
  for (std::string file; !(file = take_option(argc, argv, "--packed=")).empty();)
    benchmark::RegisterBenchmark(("BM_PackedFile/" + std::filesystem::path(file).stem().string()).c_str(),
                                 [file](benchmark::State& state) { corun::BM_PackedFile(state, file); })
        ->Iterations(1);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
