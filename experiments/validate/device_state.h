#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "experiments/run/execution_backend.h"

namespace corun::validation {

/// Least, mean and most of what was read.
struct Reading {
  double least = 0.0, mean = 0.0, most = 0.0;
};

/// What a device did while a run lasted, by its own account. Zeros where nothing was read.
struct DeviceState {
  std::size_t samples = 0;
  Reading sm_clock_mhz, memory_clock_mhz, power_w, temperature_c;
  std::uint64_t throttle_reasons = 0;  ///< every bit that was set at any time, as NVML numbers them
};

/// Adds what another run read.
void merge(DeviceState& state, const DeviceState& more);

/// "power cap, thermal", or "none". Idle and application clocks are no throttling.
std::string throttle_text(std::uint64_t reasons);

/// Reads a device's clocks, power and temperature through NVML, which is looked for when the object is made; changes
/// nothing. One object reads one device, as nvidia-smi counts them.
class DeviceMonitor {
 public:
  explicit DeviceMonitor(int device, const std::string& library = "libnvidia-ml.so.1");
  ~DeviceMonitor();
  DeviceMonitor(const DeviceMonitor&) = delete;
  DeviceMonitor& operator=(const DeviceMonitor&) = delete;

  /// Why nothing can be read; empty where it can.
  const std::string& absence() const { return absence_; }

  /// Starts reading ten times a second, in a thread of its own.
  void begin();
  /// What was read up to now does not count. Any thread.
  void forget() { forgets_ = true; }
  /// Ends it and says what was read since begin().
  DeviceState end();

 private:
  class Nvml;
  std::string absence_;
  std::unique_ptr<Nvml> nvml_;
  DeviceState state_;
  std::atomic<bool> forgets_{false};
  std::jthread thread_;
};

/// `backend`, whose runs the monitor watches from their first operation on; `state` is that of the latest run. Both
/// must outlive it. One run at a time.
ExecutionBackend watched(const ExecutionBackend& backend, DeviceMonitor& monitor, DeviceState& state);

}  // namespace corun::validation
