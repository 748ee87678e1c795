#include "sim/calibration/probes/probe_context.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "sim/calibration/probes/probe_kernels.h"
#include "sim/executor/host/wall_clock.h"
#include "sim/executor/worker/device_context.h"
#include "traces/base/error.h"

namespace corun::calibration {

namespace {

using executor::CudaHandle;
using executor::CudaPointer;
using executor::CudaResult;
using executor::Stamp;
using executor::WallClock;

constexpr unsigned kSeenByDevice = 2;       // CU_MEMHOSTALLOC_DEVICEMAP
constexpr unsigned kStreamsOfTheirOwn = 1;  // CU_STREAM_NON_BLOCKING
constexpr std::uint64_t kPlaceBytes = std::uint64_t{256} << 20, kValueBytes = 16;
constexpr std::uint32_t kKeptByDriver = 1 << 10;  // of a block's shared memory, from compute capability 8 on
constexpr std::uint64_t kRoomForNumbers = 1 << 16;
constexpr std::int64_t kLongestKernel = 30'000'000'000;

/// A function of the driver that only probes need.
template <class Function>
Function find(const std::string& library, const char* name) {
  void* loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);  // CudaDriver holds it already
  void* found = loaded == nullptr ? nullptr : dlsym(loaded, name);
  if (found == nullptr) throw Error(ErrorKind::kUnsupported, fmt::format("{} has no {}", library, name));
  return reinterpret_cast<Function>(found);
}

std::uint64_t place_bytes(const Work& work) { return work.kind == WorkKind::kCache ? work.place_bytes : kPlaceBytes; }

}  // namespace

ProbeContext::ProbeContext(const ProbeRequest& request)
    : cuda(request.library), library_(request.library), driver_start_ns_(WallClock::monotonic_ns() - begun_ns_) {
  cuda.check(cuda.device_get(&device_, request.device), "taking the device");
  const std::int64_t before = WallClock::monotonic_ns();
  open();
  context_create_ns_ = WallClock::monotonic_ns() - before;
  clock_ = executor::measure_clock([this] { return run({WorkKind::kCompute, 1, 32, 1}).end_ns; });
}

void ProbeContext::open() {
  context_.emplace(cuda, device_, 1.0);
  cuda.check(cuda.module_load(&module_, kProbesPtx), "compiling the probes' kernels");
  spin_ = function("corun_spin");
  compute_ = function("corun_compute");
  move_ = function("corun_move");
  cycles_ = function("corun_cycles");
  stamps_ = allocate_shared<Stamp>(kRing, stamps_device_);
  report_ = allocate_shared<SpinReport>(1, report_device_);
  numbers_ = allocate_shared<std::uint64_t>(kRoomForNumbers, numbers_device_);
  counters_ = allocate(kRing * 8 + 64);
  traffic_ = 0;
  cuda.check(cuda.memory_set(counters_, 0, kRing * 8 + 64), "clearing the counters");
  synchronize();
  stream = make_stream();
  run({WorkKind::kCompute, 1, 32, 1});
}

std::int64_t ProbeContext::make_again() {
  context_.reset();
  const std::int64_t before = WallClock::monotonic_ns();
  open();
  return WallClock::monotonic_ns() - before;
}

CudaHandle ProbeContext::function(const char* name) {
  CudaHandle found = nullptr;
  cuda.check(cuda.module_function(&found, module_, name), name);
  return found;
}

template <class T>
T* ProbeContext::allocate_shared(std::size_t count, CudaPointer& device) {
  void* host = nullptr;
  cuda.check(cuda.host_allocate(&host, count * sizeof(T), kSeenByDevice), "taking host memory");
  cuda.check(cuda.host_device_pointer(&device, host, 0), "sharing host memory");
  std::fill_n(static_cast<T*>(host), count, T{});
  return static_cast<T*>(host);
}

CudaPointer ProbeContext::allocate(std::size_t bytes) {
  CudaPointer memory = 0;
  cuda.check(cuda.memory_allocate(&memory, bytes), "taking device memory");
  return memory;
}

int ProbeContext::attribute(executor::CudaAttribute attribute) const {
  int value = 0;
  cuda.check(cuda.device_attribute(&value, attribute, device_), "asking for the device's properties");
  return value;
}

std::uint64_t ProbeContext::free_bytes() const {
  std::size_t unused = 0, all = 0;
  cuda.check(find<CudaResult (*)(std::size_t*, std::size_t*)>(library_, "cuMemGetInfo_v2")(&unused, &all),
             "asking for free memory");
  return unused;
}

std::uint64_t ProbeContext::total_bytes() const {
  std::size_t all = 0;
  cuda.check(find<CudaResult (*)(std::size_t*, executor::CudaDevice)>(library_, "cuDeviceTotalMem_v2")(&all, device_),
             "asking for the device's memory");
  return all;
}

CudaHandle ProbeContext::make_stream(bool is_urgent) {
  int least = 0, most = 0;
  if (is_urgent) cuda.check(cuda.context_priorities(&least, &most), "asking for priorities");
  CudaHandle made = nullptr;
  cuda.check(cuda.stream_create(&made, kStreamsOfTheirOwn, most), "making a stream");
  return made;
}

/// Three places in device memory, or three small ones that stay in the cache.
CudaPointer ProbeContext::place(const Work& work, int number) {
  if (traffic_ == 0) {
    traffic_ = allocate(3 * kPlaceBytes);
    cuda.check(cuda.memory_set(traffic_, 0, 3 * kPlaceBytes), "clearing memory");
    synchronize();
  }
  return traffic_ + static_cast<std::uint64_t>(number) * place_bytes(work);
}

std::uint64_t ProbeContext::launch(const Work& work, CudaHandle on) {
  std::uint64_t ticket = ++launched_;
  const std::uint64_t slot = ticket % kRing;
  CudaPointer stamp = stamps_device_ + slot * sizeof(Stamp);
  CudaPointer arrived = counters_ + slot * 8, left = arrived + 4, sink = counters_ + kRing * 8;
  std::uint64_t iterations = work.iterations;
  if (work.kind == WorkKind::kCompute) {
    void* parameters[] = {&stamp, &ticket, &arrived, &left, &iterations, &sink};
    cuda.check(cuda.launch(compute_, work.blocks, 1, 1, work.threads, 1, 1, work.shared_bytes, on, parameters, nullptr),
               "launching");
    return ticket;
  }
  CudaPointer to = place(work, 0), from = place(work, 1);
  CudaPointer more = work.kind == WorkKind::kAdd ? place(work, 2) : 0;
  std::uint64_t mask = place_bytes(work) / kValueBytes - 1;
  void* parameters[] = {&stamp, &ticket, &arrived, &left, &iterations, &to, &from, &more, &mask};
  cuda.check(cuda.launch(move_, work.blocks, 1, 1, work.threads, 1, 1, work.shared_bytes, on, parameters, nullptr),
             "launching");
  return ticket;
}

std::uint64_t ProbeContext::launch_cycles(const Work& work, std::uint64_t* cycles) {
  std::uint64_t ticket = ++launched_;
  CudaPointer stamp = stamps_device_ + (ticket % kRing) * sizeof(Stamp), sink = counters_ + kRing * 8;
  CudaPointer counted = numbers_device_;
  std::uint64_t iterations = work.iterations;
  void* parameters[] = {&stamp, &ticket, &iterations, &counted, &sink};
  cuda.check(cuda.launch(cycles_, work.blocks, 1, 1, work.threads, 1, 1, 0, stream, parameters, nullptr), "launching");
  await(ticket);
  *cycles = numbers_[0];
  return ticket;
}

bool ProbeContext::is_done(std::uint64_t ticket) {
  return std::atomic_ref(stamps_[ticket % kRing].ticket).load(std::memory_order_acquire) >= ticket;
}

Stamp ProbeContext::await(std::uint64_t ticket) {
  const std::int64_t begin = WallClock::monotonic_ns();
  while (!is_done(ticket)) {
    executor::rest();
    if (WallClock::monotonic_ns() - begin < kLongestKernel) continue;
    synchronize();
    if (!is_done(ticket)) throw Error(ErrorKind::kDevice, "a kernel ended and left no stamp");
  }
  return stamps_[ticket % kRing];
}

std::int64_t ProbeContext::time_of(const Work& work) {
  constexpr int kRuns = 9;
  std::vector<std::int64_t> times;
  for (int i = 0; i < kRuns; ++i) {
    const Stamp stamp = run(work);
    times.push_back(static_cast<std::int64_t>(stamp.end_ns - stamp.begin_ns));
  }
  std::ranges::nth_element(times, times.begin() + kRuns / 2);
  return times[kRuns / 2];
}

std::uint32_t ProbeContext::resident_blocks(std::uint32_t threads) const {
  const auto per_multiprocessor = std::min(static_cast<std::uint32_t>(attribute(executor::kMostThreadsPerSm)) / threads,
                                           static_cast<std::uint32_t>(attribute(executor::kMostBlocksPerSm)));
  return per_multiprocessor * static_cast<std::uint32_t>(attribute(executor::kSmCount));
}

Work ProbeContext::work_of_length(WorkKind kind, std::int64_t length_ns, double waves, double fill,
                                  std::uint64_t iterations) {
  Work work{kind, 1, 256, iterations};
  const double all = resident_blocks(work.threads) * fill;
  const bool is_compute = kind == WorkKind::kCompute;
  if (is_compute) work.blocks = std::max(1U, static_cast<std::uint32_t>(std::lround(all * waves)));
  if (!is_compute) work.blocks = std::max(1U, static_cast<std::uint32_t>(all));
  scale_to(work, length_ns, is_compute);
  return work;
}

Work ProbeContext::small_work_of_length(WorkKind kind, std::int64_t length_ns, std::uint32_t blocks) {
  Work work{kind, blocks, 256, 16};
  scale_to(work, length_ns, true);
  return work;
}

Work ProbeContext::passes_over(std::uint64_t place_bytes, std::int64_t passes) const {
  constexpr std::uint64_t kValuesOfThread = 4;
  Work work{WorkKind::kCache, 1, 256, kValuesOfThread};
  work.place_bytes = place_bytes;
  const std::uint64_t bytes_of_block = work.threads * kValuesOfThread * kValueBytes;
  work.blocks = static_cast<std::uint32_t>(static_cast<std::uint64_t>(passes) * place_bytes / bytes_of_block);
  return work;
}

Work ProbeContext::at_most_per_multiprocessor(Work work, std::uint32_t blocks) {
  work.shared_bytes = static_cast<std::uint32_t>(attribute(executor::kSharedBytesPerSm)) / blocks - kKeptByDriver;
  allow_shared(work);
  return work;
}

Work ProbeContext::whole_work_of_length(std::int64_t length_ns, double waves, double fill) {
  Work work{WorkKind::kCompute, 1, 1024, 16};
  work.blocks = std::max(1U, static_cast<std::uint32_t>(std::lround(attribute(executor::kSmCount) * fill * waves)));
  work.shared_bytes = static_cast<std::uint32_t>(attribute(executor::kMostSharedBytesPerBlock));
  allow_shared(work);
  scale_to(work, length_ns, true);
  return work;
}

void ProbeContext::allow_shared(const Work& work) {
  const CudaHandle kernel = work.kind == WorkKind::kCompute ? compute_ : move_;
  cuda.check(
      cuda.function_attribute(kernel, executor::kMostDynamicShared, attribute(executor::kMostSharedBytesPerBlock)),
      "asking for all shared memory of a multiprocessor");
}

/// By longer threads or by more blocks.
void ProbeContext::scale_to(Work& work, std::int64_t length_ns, bool by_threads) {
  for (int step = 0; step < 6; ++step) {
    const double factor =
        static_cast<double>(length_ns) / static_cast<double>(std::max<std::int64_t>(1, time_of(work)));
    if (std::abs(factor - 1) < 0.01) break;
    const double scale = std::clamp(factor, 0.02, 200.0);
    const auto scaled = [&](auto count) {
      return std::max<double>(1.0, std::round(static_cast<double>(count) * scale));
    };
    if (by_threads) work.iterations = static_cast<std::uint64_t>(scaled(work.iterations));
    if (!by_threads) work.blocks = static_cast<std::uint32_t>(scaled(work.blocks));
  }
}

SpinReport ProbeContext::spin(std::int64_t length_ns, std::int64_t least_gap_ns, std::uint32_t blocks,
                              std::uint32_t threads, std::vector<std::uint64_t>& gaps) {
  *report_ = {};
  std::uint64_t room = kRoomForNumbers / 2;
  auto length = static_cast<std::uint64_t>(length_ns), least = static_cast<std::uint64_t>(least_gap_ns);
  void* parameters[] = {&report_device_, &numbers_device_, &room, &length, &least};
  cuda.check(cuda.launch(spin_, blocks, 1, 1, threads, 1, 1, 0, stream, parameters, nullptr), "launching");
  synchronize();
  if (report_->done != 1) throw Error(ErrorKind::kDevice, "the spinning kernel left no report");
  gaps.assign(numbers_, numbers_ + 2 * std::min(report_->gaps, room));
  return *report_;
}

Sample ProbeContext::sample() const {
  char name[128] = {};
  cuda.check(cuda.device_name(name, sizeof(name), device_), "naming the device");
  Sample sample;
  sample.texts["device"] = name;
  sample.series["driver_start_ns"] = {driver_start_ns_};
  sample.series["context_create_ns"] = {context_create_ns_};
  sample.series["clock_error_ns"] = {clock_.error_ns};
  return sample;
}

}  // namespace corun::calibration
