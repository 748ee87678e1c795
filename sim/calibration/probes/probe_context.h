#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/calibration/probes/probe.h"
#include "sim/calibration/probes/work_kind.h"
#include "sim/executor/driver/cuda_context.h"
#include "sim/executor/driver/cuda_driver.h"
#include "sim/executor/host/wall_clock.h"
#include "sim/executor/worker/channel.h"
#include "sim/executor/worker/device_clock.h"

namespace corun::calibration {

/// A launch of counted work.
struct Work {
  WorkKind kind = WorkKind::kCompute;
  std::uint32_t blocks = 1;
  std::uint32_t threads = 256;
  std::uint64_t iterations = 1;                        ///< multiply-adds, or values of 16 bytes, of each thread
  std::uint32_t shared_bytes = 0;                      ///< of each block
  std::uint64_t place_bytes = std::uint64_t{4} << 20;  ///< of each of its places, kCache only; a power of two
};

/// As in probes.cu.
struct SpinReport {
  std::uint64_t begin_ns, end_ns, gaps, step_ns, done;
};

/// A context on the device, with the probes' kernels and what they need. Throws Error(kUnsupported) without a device,
/// Error(kDevice) where a call fails.
class ProbeContext {
  const std::int64_t begun_ns_ = executor::WallClock::monotonic_ns();  // before the driver is loaded

 public:
  explicit ProbeContext(const ProbeRequest& request);
  ProbeContext(const ProbeContext&) = delete;
  ProbeContext& operator=(const ProbeContext&) = delete;

  executor::CudaDriver cuda;

  int attribute(executor::CudaAttribute attribute) const;
  std::uint64_t free_bytes() const;
  std::uint64_t total_bytes() const;
  /// A stream of the priority that goes first or, if it is not urgent, of that which streams usually have.
  executor::CudaHandle make_stream(bool is_urgent = false);
  /// Releases the context and makes it anew, until a first kernel has run. Returns what that took. Other streams and
  /// memory are gone.
  std::int64_t make_again();

  /// Puts work into a stream; its ticket counts launches from 1. At most kRing may be unfinished.
  std::uint64_t launch(const Work& work, executor::CudaHandle stream);
  std::uint64_t launch_cycles(const Work& work, std::uint64_t* cycles);
  bool is_done(std::uint64_t ticket);
  executor::Stamp await(std::uint64_t ticket);  ///< on the device's clock
  executor::Stamp run(const Work& work) { return await(launch(work, stream)); }
  std::int64_t time_of(const Work& work);  ///< median of some runs

  /// Work of a kind that takes `length_ns` alone: arithmetic by longer threads of `waves` times as many blocks as
  /// `fill` (1 = all) of the device holds, traffic by more blocks of `iterations` values a thread.
  Work work_of_length(WorkKind kind, std::int64_t length_ns, double waves, double fill, std::uint64_t iterations = 16);
  /// Work of so many blocks that takes `length_ns` alone, by longer threads.
  Work small_work_of_length(WorkKind kind, std::int64_t length_ns, std::uint32_t blocks);
  /// kCache work that moves each value of a place of `place_bytes` so often.
  Work passes_over(std::uint64_t place_bytes, std::int64_t passes) const;
  /// The same work with so much shared memory in each block that a multiprocessor holds `blocks` of them.
  Work at_most_per_multiprocessor(Work work, std::uint32_t blocks);
  std::uint32_t resident_blocks(std::uint32_t threads) const;
  /// As work_of_length for kCompute, but each block has so much shared memory that it has a multiprocessor to itself.
  Work whole_work_of_length(std::int64_t length_ns, double waves, double fill);

  /// Watches the device's clock; see corun_spin. Pairs of start and length, on the device's clock.
  SpinReport spin(std::int64_t length_ns, std::int64_t least_gap_ns, std::uint32_t blocks, std::uint32_t threads,
                  std::vector<std::uint64_t>& gaps);

  /// CLOCK_MONOTONIC when the device's clock shows this.
  std::int64_t to_host(std::uint64_t device_ns) const { return static_cast<std::int64_t>(device_ns) + clock_.ns; }
  void synchronize() { cuda.check(cuda.context_synchronize(), "waiting for the device"); }
  /// A sample with what every probe reports of itself.
  Sample sample() const;

  executor::CudaHandle stream = nullptr;
  static constexpr std::uint64_t kRing = 1024;

 private:
  template <class T>
  T* allocate_shared(std::size_t count, executor::CudaPointer& device);
  executor::CudaPointer allocate(std::size_t bytes);
  void open();
  executor::CudaHandle function(const char* name);
  executor::CudaPointer place(const Work& work, int number);
  void allow_shared(const Work& work);  ///< its kernel may have as much as there is
  void scale_to(Work& work, std::int64_t length_ns, bool by_threads);

  std::string library_;
  executor::CudaDevice device_ = 0;
  std::optional<executor::CudaContext> context_;
  executor::CudaHandle module_ = nullptr;
  executor::CudaHandle spin_ = nullptr, compute_ = nullptr, move_ = nullptr, cycles_ = nullptr;
  executor::Stamp* stamps_ = nullptr;
  SpinReport* report_ = nullptr;
  std::uint64_t* numbers_ = nullptr;
  executor::CudaPointer stamps_device_ = 0, report_device_ = 0, numbers_device_ = 0, counters_ = 0, traffic_ = 0;
  std::uint64_t launched_ = 0;
  std::int64_t driver_start_ns_ = 0, context_create_ns_ = 0;
  executor::ClockOffset clock_;
};

}  // namespace corun::calibration
