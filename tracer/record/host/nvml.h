#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace corun::record {

/// What of the driver's management library (libnvidia-ml.so.1) the recorder asks. The library is loaded at run time;
/// where it is absent every question has an empty answer. One thread.
class Nvml {
 public:
  Nvml();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool is_there() const { return library_ != nullptr; }
  std::string driver_version() const;

  struct Gpu {
    std::string name;
    std::string uuid;  ///< "GPU-8c1f..."
  };
  std::vector<Gpu> gpus() const;

  /// Device memory in use on a GPU, by all programs.
  struct MemoryInUse {
    std::string uuid;
    std::uint64_t bytes = 0;
  };
  std::vector<MemoryInUse> memory_in_use() const;

  /// The energy that a GPU has taken since the driver was loaded, and the clock of its SMs now (0 = not told).
  struct Meter {
    std::string uuid;
    std::uint64_t energy_mj = 0;
    std::uint32_t sm_mhz = 0;
  };
  /// Of GPUs that have such a meter (Volta and later).
  std::vector<Meter> meters() const;

  /// A process at work on a GPU since the last question.
  struct Worker {
    std::int64_t process = 0;
    std::string uuid;  ///< of the GPU
  };
  /// Where the driver does not report which processes worked (MIG, some virtual GPUs), every process that holds a CUDA
  /// context.
  std::vector<Worker> workers();

 private:
  struct Calls;

  void add_workers(void* device, std::vector<Worker>& workers);
  void add_compute_processes(void* device, const std::string& uuid, std::vector<Worker>& workers) const;
  std::vector<void*> devices() const;
  std::string uuid_of(void* device) const;

  void* library_ = nullptr;
  std::unique_ptr<Calls> calls_;
  std::map<std::string, std::uint64_t> seen_until_us_;  // of each GPU by its uuid: their samples are not in step
};

}  // namespace corun::record
