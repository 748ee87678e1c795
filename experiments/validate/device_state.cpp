#include "experiments/validate/device_state.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace corun::validation {

namespace {

constexpr auto kPeriod = std::chrono::milliseconds(100);

// NVML's own numbers.
using NvmlDevice = void*;
constexpr int kSmClock = 1, kMemoryClock = 2, kTemperatureOfGpu = 0;
constexpr std::pair<std::uint64_t, const char*> kReasons[] = {
    {0x4, "power cap"},         {0x8, "hardware slowdown"}, {0x10, "sync boost"},      {0x20, "software thermal"},
    {0x40, "hardware thermal"}, {0x80, "power brake"},      {0x100, "display clocks"},
};

template <class Function>
Function* find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

/// Running mean of the n-th value, n from 1.
void take(Reading& reading, double value, std::size_t n) {
  reading.least = n == 1 ? value : std::min(reading.least, value);
  reading.most = n == 1 ? value : std::max(reading.most, value);
  reading.mean += (value - reading.mean) / static_cast<double>(n);
}

}  // namespace

/// The library with the functions that are called.
class DeviceMonitor::Nvml {
 public:
  Nvml(int device, const std::string& library, std::string& absence) : library_(dlopen(library.c_str(), RTLD_NOW)) {
    if (library_ == nullptr) {
      absence = dlerror();
      return;
    }
    const auto init = find<int()>(library_, "nvmlInit_v2");
    const auto handle = find<int(unsigned, NvmlDevice*)>(library_, "nvmlDeviceGetHandleByIndex_v2");
    clock_ = find<int(NvmlDevice, int, unsigned*)>(library_, "nvmlDeviceGetClockInfo");
    power_ = find<int(NvmlDevice, unsigned*)>(library_, "nvmlDeviceGetPowerUsage");
    temperature_ = find<int(NvmlDevice, int, unsigned*)>(library_, "nvmlDeviceGetTemperature");
    throttle_ = find<int(NvmlDevice, unsigned long long*)>(library_, "nvmlDeviceGetCurrentClocksThrottleReasons");
    const bool is_whole = init && handle && clock_ && power_ && temperature_ && throttle_;
    if (!is_whole) {
      absence = fmt::format("{} lacks functions that are read", library);
    } else if (const int result = init(); result != 0) {
      absence = fmt::format("NVML does not start: error {}", result);
    } else if (const int found = handle(static_cast<unsigned>(device), &device_); found != 0) {
      absence = fmt::format("NVML finds no device {}: error {}", device, found);
    }
  }

  /// Adds one sample.
  void read(DeviceState& state) const {
    ++state.samples;
    unsigned value = 0;
    if (clock_(device_, kSmClock, &value) == 0) take(state.sm_clock_mhz, value, state.samples);
    if (clock_(device_, kMemoryClock, &value) == 0) take(state.memory_clock_mhz, value, state.samples);
    if (power_(device_, &value) == 0) take(state.power_w, value * 1e-3, state.samples);
    if (temperature_(device_, kTemperatureOfGpu, &value) == 0) take(state.temperature_c, value, state.samples);
    unsigned long long reasons = 0;
    if (throttle_(device_, &reasons) == 0) state.throttle_reasons |= reasons;
  }

 private:
  void* library_;
  NvmlDevice device_ = nullptr;
  int (*clock_)(NvmlDevice, int, unsigned*) = nullptr;
  int (*power_)(NvmlDevice, unsigned*) = nullptr;
  int (*temperature_)(NvmlDevice, int, unsigned*) = nullptr;
  int (*throttle_)(NvmlDevice, unsigned long long*) = nullptr;
};

void merge(DeviceState& state, const DeviceState& more) {
  if (more.samples == 0) return;
  if (state.samples == 0) {
    state = more;
    return;
  }
  const double share = static_cast<double>(more.samples) / static_cast<double>(state.samples + more.samples);
  for (Reading DeviceState::*member : {&DeviceState::sm_clock_mhz, &DeviceState::memory_clock_mhz,
                                       &DeviceState::power_w, &DeviceState::temperature_c}) {
    Reading& reading = state.*member;
    const Reading& other = more.*member;
    reading = {std::min(reading.least, other.least), reading.mean + (other.mean - reading.mean) * share,
               std::max(reading.most, other.most)};
  }
  state.samples += more.samples;
  state.throttle_reasons |= more.throttle_reasons;
}

std::string throttle_text(std::uint64_t reasons) {
  std::vector<std::string> names;
  for (const auto& [bit, name] : kReasons)
    if ((reasons & bit) != 0) names.emplace_back(name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

DeviceMonitor::DeviceMonitor(int device, const std::string& library)
    : nvml_(std::make_unique<Nvml>(device, library, absence_)) {}

DeviceMonitor::~DeviceMonitor() = default;

void DeviceMonitor::begin() {
  state_ = {};
  if (!absence_.empty()) return;
  thread_ = std::jthread([this](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any ended;
    std::unique_lock lock(mutex);
    do {
      if (forgets_.exchange(false)) state_ = {};
      nvml_->read(state_);
    } while (!ended.wait_for(lock, stop, kPeriod, [] { return false; }) && !stop.stop_requested());
  });
}

DeviceState DeviceMonitor::end() {
  thread_ = std::jthread();  // asks it to stop and waits
  return state_;
}

namespace {

/// Passes facts on; at the first operation what was read before is forgotten: clients were starting then.
class Watch : public Recorder {
 public:
  Watch(Recorder& recorder, DeviceMonitor& monitor) : recorder_(recorder), monitor_(monitor) {}
  void on_op(const OpFact& op) override {
    if (!std::exchange(has_begun_, true)) monitor_.forget();
    recorder_.on_op(op);
  }
  void on_job(const JobFact& job) override { recorder_.on_job(job); }
  void on_frame(const FrameFact& frame) override { recorder_.on_frame(frame); }
  void on_request(const RequestFact& fact) override { recorder_.on_request(fact); }
  void on_server_step(const ServerStepFact& fact) override { recorder_.on_server_step(fact); }
  void on_decision(const DecisionFact& decision) override { recorder_.on_decision(decision); }
  void on_hold(const HoldFact& hold) override { recorder_.on_hold(hold); }
  void on_refusal(const RefusalFact& refusal) override { recorder_.on_refusal(refusal); }
  void on_kill(const KillFact& kill) override { recorder_.on_kill(kill); }

 private:
  Recorder& recorder_;
  DeviceMonitor& monitor_;
  bool has_begun_ = false;
};

/// Ends what it watches with itself.
struct Watching {
  DeviceMonitor& monitor;
  DeviceState& state;
  ~Watching() { state = monitor.end(); }
};

}  // namespace

ExecutionBackend watched(const ExecutionBackend& backend, DeviceMonitor& monitor, DeviceState& state) {
  return {backend.name,
          [backend, &monitor, &state](const RunInput& input, Recorder& recorder, std::vector<std::string>& notes) {
            monitor.begin();
            const Watching watching{monitor, state};
            Watch watch(recorder, monitor);
            return backend.run(input, watch, notes);
          }};
}

}  // namespace corun::validation
