#include "tracer/record/host/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>

namespace corun::record {

namespace {

// The library's binary interface, as far as it is used; it has been stable for a decade.
constexpr int kSuccess = 0, kNotFound = 6;
constexpr unsigned kSmClock = 1;

struct RunningProcess {
  unsigned process;
  unsigned long long memory_bytes;
  unsigned gpu_instance, compute_instance;
};
static_assert(sizeof(RunningProcess) == 24);

struct ProcessSample {
  unsigned process;
  unsigned long long time_us;
  unsigned sm_percent, memory_percent, encoder_percent, decoder_percent;
};
static_assert(sizeof(ProcessSample) == 32);

struct Memory {
  unsigned long long total, free, used;
};

constexpr unsigned kMostProcesses = 1024;

}  // namespace

struct Nvml::Calls {
  int (*init)();
  int (*shutdown)();
  int (*driver_version)(char*, unsigned);
  int (*device_count)(unsigned*);
  int (*device)(unsigned, void**);
  int (*name)(void*, char*, unsigned);
  int (*uuid)(void*, char*, unsigned);
  int (*compute_processes)(void*, unsigned*, RunningProcess*);
  int (*memory)(void*, Memory*);
  int (*energy)(void*, unsigned long long*);
  int (*clock)(void*, unsigned, unsigned*);
  int (*process_utilization)(void*, ProcessSample*, unsigned*, unsigned long long);

  bool load(void* library) {
    const auto find = [&](auto& function, const char* symbol) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, symbol));
      return function != nullptr;
    };
    find(compute_processes, "nvmlDeviceGetComputeRunningProcesses_v3") ||
        find(compute_processes, "nvmlDeviceGetComputeRunningProcesses_v2");
    find(memory, "nvmlDeviceGetMemoryInfo");
    find(energy, "nvmlDeviceGetTotalEnergyConsumption");
    find(clock, "nvmlDeviceGetClockInfo");
    find(process_utilization, "nvmlDeviceGetProcessUtilization");
    return find(init, "nvmlInit_v2") && find(shutdown, "nvmlShutdown") &&
           find(driver_version, "nvmlSystemGetDriverVersion") && find(device_count, "nvmlDeviceGetCount_v2") &&
           find(device, "nvmlDeviceGetHandleByIndex_v2") && find(name, "nvmlDeviceGetName") &&
           find(uuid, "nvmlDeviceGetUUID");
  }
};

Nvml::Nvml() : calls_(std::make_unique<Calls>()) {
  library_ = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) return;
  if (calls_->load(library_) && calls_->init() == kSuccess) return;
  ::dlclose(library_);
  library_ = nullptr;
}

Nvml::~Nvml() {
  if (library_ == nullptr) return;
  calls_->shutdown();
  ::dlclose(library_);
}

std::string Nvml::driver_version() const {
  char text[96] = "";
  return is_there() && calls_->driver_version(text, sizeof(text)) == kSuccess ? text : "";
}

std::vector<void*> Nvml::devices() const {
  unsigned count = 0;
  std::vector<void*> devices;
  if (!is_there() || calls_->device_count(&count) != kSuccess) return devices;
  for (unsigned i = 0; i < count; ++i) {
    void* device = nullptr;
    if (calls_->device(i, &device) == kSuccess) devices.push_back(device);
  }
  return devices;
}

std::string Nvml::uuid_of(void* device) const {
  char text[96] = "";
  return calls_->uuid(device, text, sizeof(text)) == kSuccess ? text : "";
}

std::vector<Nvml::Gpu> Nvml::gpus() const {
  std::vector<Gpu> gpus;
  for (void* device : devices()) {
    char name[96] = "";
    calls_->name(device, name, sizeof(name));
    gpus.push_back({name, uuid_of(device)});
  }
  return gpus;
}

std::vector<Nvml::MemoryInUse> Nvml::memory_in_use() const {
  std::vector<MemoryInUse> answers;
  for (void* device : devices()) {
    Memory memory{};
    if (calls_->memory == nullptr || calls_->memory(device, &memory) != kSuccess) continue;
    answers.push_back({uuid_of(device), memory.used});
  }
  return answers;
}

std::vector<Nvml::Meter> Nvml::meters() const {
  std::vector<Meter> answers;
  for (void* device : devices()) {
    unsigned long long energy_mj = 0;
    unsigned mhz = 0;
    if (calls_->energy == nullptr || calls_->energy(device, &energy_mj) != kSuccess) continue;
    if (calls_->clock == nullptr || calls_->clock(device, kSmClock, &mhz) != kSuccess) mhz = 0;
    answers.push_back({uuid_of(device), energy_mj, mhz});
  }
  return answers;
}

void Nvml::add_compute_processes(void* device, const std::string& uuid, std::vector<Worker>& workers) const {
  if (calls_->compute_processes == nullptr) return;
  std::vector<RunningProcess> running(kMostProcesses);
  unsigned count = kMostProcesses;
  if (calls_->compute_processes(device, &count, running.data()) != kSuccess) return;
  running.resize(std::min(count, kMostProcesses));
  for (const RunningProcess& process : running) workers.push_back({process.process, uuid});
}

void Nvml::add_workers(void* device, std::vector<Worker>& workers) {
  const std::string uuid = uuid_of(device);
  if (calls_->process_utilization == nullptr) return add_compute_processes(device, uuid, workers);
  std::uint64_t& seen_until_us = seen_until_us_[uuid];
  std::vector<ProcessSample> samples(kMostProcesses);
  unsigned count = kMostProcesses;
  const int result = calls_->process_utilization(device, samples.data(), &count, seen_until_us);
  if (result == kNotFound) return;  // no process worked
  if (result != kSuccess) return add_compute_processes(device, uuid, workers);
  samples.resize(std::min(count, kMostProcesses));
  for (const ProcessSample& sample : samples) {
    seen_until_us = std::max<std::uint64_t>(seen_until_us, sample.time_us);
    if (sample.process != 0 && sample.sm_percent > 0) workers.push_back({sample.process, uuid});
  }
}

std::vector<Nvml::Worker> Nvml::workers() {
  std::vector<Worker> workers;
  for (void* device : devices()) add_workers(device, workers);
  return workers;
}

}  // namespace corun::record
