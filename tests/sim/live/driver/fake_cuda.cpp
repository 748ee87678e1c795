#include "tests/sim/live/driver/fake_cuda.h"

#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/stream_thread.h"

namespace {

constexpr int kOk = 0, kInvalidValue = 1, kIllegalState = 401, kNotReady = 600, kSpoilt = 901, kNotInitialized = 3,
              kNotFound = 500, kDestroyed = 709;
constexpr std::uint32_t kEnter = 0, kExit = 1;

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

struct Graph {
  unsigned microseconds = 0;
  std::vector<unsigned> grids;  // of its kernels
};

struct Stream : corun::testing::StreamThread {
  std::unique_ptr<Graph> captured;
};

std::atomic<unsigned> resets{0};

struct Event {
  const unsigned born = resets;  // it ends with its context
  std::atomic<std::uint64_t> recorded{0}, done{0};
  std::atomic<std::int64_t> at_ns{0};
};

// Never destroyed: streams may be busy when the program ends.
struct Device {
  std::mutex mutex;
  std::map<void*, Stream*> streams;
  std::atomic<int> captures{0};
  std::atomic<bool> is_spoilt{false};
};
Device& device() {
  static auto* const only = new Device;
  return *only;
}
thread_local bool is_relaxed = false;
std::atomic<bool> is_initialized{false};
std::atomic<void (*)()> on_event_record{nullptr};

Stream& stream_of(void* handle) {
  const std::lock_guard lock(device().mutex);
  if (handle == nullptr) handle = reinterpret_cast<void*>(1);
  Stream*& stream = device().streams[handle];
  if (stream == nullptr) stream = new Stream;
  return *stream;
}

void pass_time(unsigned microseconds) {
  const std::int64_t end = now_ns() + microseconds * 1000LL;
  for (std::int64_t left = end - now_ns(); left > 0; left = end - now_ns())
    if (left > 100'000) usleep(static_cast<useconds_t>((left - 60'000) / 1000));
}

char context;

/// Reports a call around what it does.
template <class Call>
int reported(std::uint32_t function, const void* parameters, const char* symbol, Call call) {
  std::uint64_t shared = 0;
  fake_callback(kEnter, function, parameters, nullptr, symbol, &context, &shared);
  const int result = call();
  fake_callback(kExit, function, parameters, &result, symbol, &context, &shared);
  return result;
}

struct Named {
  bool is_kernel;
  std::string name;
};

int make_named(void** handle, const char* name, bool is_kernel) {
  *handle = new Named{is_kernel, name};
  return kOk;
}

int name_of(const char** name, void* handle, bool is_kernel) {
  const auto* named = static_cast<const Named*>(handle);
  if (named->is_kernel != is_kernel) std::abort();
  *name = named->name.c_str();
  return kOk;
}

struct KernelLaunch {
  void* function;
  unsigned grid[3], block[3], shared_bytes;
  void* stream;
  void **parameters, **extra;
};

int launch(std::uint32_t function, const KernelLaunch& given) {
  const unsigned length = given.shared_bytes;
  const auto* named = static_cast<const Named*>(given.function);
  return reported(function, &given, named == nullptr ? nullptr : named->name.c_str(), [&] {
    if (named == nullptr || given.grid[0] == 0) return kInvalidValue;
    Stream& its = stream_of(given.stream);
    if (its.captured == nullptr) {
      if (length > 0 || !its.is_idle()) its.push([=] { pass_time(length); });
      return kOk;
    }
    its.captured->microseconds += length;
    its.captured->grids.push_back(given.grid[0]);
    return kOk;
  });
}

int copy_asynchronously(std::uint64_t to, const void* from, std::size_t bytes, void* stream) {
  return cuMemcpyHtoDAsync_v2(to, from, bytes, stream);
}

void offend() {
  if (device().captures > 0 && !is_relaxed) device().is_spoilt = true;
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
  if (is_initialized.exchange(true)) return kOk;
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  void* library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW);
  if (library == nullptr) return kOk;
  reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))();
  return kOk;
}

int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void** parameters,
                   void** extra) {
  return launch(
      307, {function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream, parameters, extra});
}

int cuLaunchKernel_ptsz(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void** parameters,
                        void** extra) {
  if (stream == nullptr) stream = reinterpret_cast<void*>(2);
  return launch(
      442, {function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream, parameters, extra});
}

int cuLaunchKernelEx(const LaunchConfig* config, void* function, void** parameters, void** extra) {
  struct {
    const LaunchConfig* config;
    void *function, **parameters, **extra;
  } const given{config, function, parameters, extra};
  const auto* named = static_cast<const Named*>(function);
  return reported(652, &given, named == nullptr ? nullptr : named->name.c_str(), [&] {
    if (named == nullptr || config == nullptr || config->grid[0] == 0) return kInvalidValue;
    stream_of(config->stream).push([length = config->shared_bytes] { pass_time(length); });
    return kOk;
  });
}

// Both are distinguished, as the driver does, and neither says its name as the other.
int cuModuleGetFunction(void** function, void*, const char* name) { return make_named(function, name, false); }
int cuLibraryGetKernel(void** kernel, void*, const char* name) { return make_named(kernel, name, true); }
int cuFuncGetName(const char** name, void* function) { return name_of(name, function, false); }
int cuKernelGetName(const char** name, void* kernel) { return name_of(name, kernel, true); }
int cuCtxGetCurrent(void** current) {
  *current = &context;
  return kOk;
}

// What it answers for copies is not what is exported: so a gate has to tell by name and version.
int cuGetProcAddress_v2(const char* symbol, void** found, int version, std::uint64_t flags, int*) {
#define OWN(name) \
  { #name, reinterpret_cast < void*>(&name) }
  static const std::map<std::string, void*> kOwn = {
      {"cuMemcpyHtoDAsync", reinterpret_cast<void*>(&copy_asynchronously)},
      {"cuGraphInstantiate", reinterpret_cast<void*>(&cuGraphInstantiateWithFlags)},  // its name since 12.0
      OWN(cuInit),
      OWN(cuGetProcAddress_v2),
      OWN(cuLaunchKernel),
      OWN(cuLaunchKernel_ptsz),
      OWN(cuLaunchKernelEx),
      OWN(cuModuleGetFunction),
      OWN(cuLibraryGetKernel),
      OWN(cuStreamCreate),
      OWN(cuStreamDestroy_v2),
      OWN(cuStreamSynchronize),
      OWN(cuStreamWaitEvent),
      OWN(cuCtxSynchronize),
      OWN(cuEventCreate),
      OWN(cuEventRecord),
      OWN(cuMemcpyHtoD_v2),
      OWN(cuMemGetInfo_v2),
      OWN(cuDeviceTotalMem_v2),
      OWN(cuMemAlloc_v2),
      OWN(cuMemAllocManaged),
      OWN(cuMemAllocAsync),
      OWN(cuMemFree_v2),
      OWN(cuMemFreeAsync),
      OWN(cuMemoryIsManaged),
      OWN(cuStreamBeginCapture_v2),
      OWN(cuStreamEndCapture),
      OWN(cuGraphInstantiateWithFlags),
      OWN(cuGraphLaunch),
      OWN(cuModuleEnumerateFunctions),
      OWN(cuModuleGetFunctionCount),
      OWN(cuDevicePrimaryCtxRelease_v2),
      OWN(cuDevicePrimaryCtxGetState),
      OWN(cuDevicePrimaryCtxReset_v2),
      OWN(cuStreamWaitFlag),
      OWN(cuOnEventRecord)};
#undef OWN
  if (version < 12000) return kNotFound;
  for (const char* ending : {(flags & 2) != 0 ? "_ptsz" : "", "_v2", ""}) {
    const auto own = kOwn.find(std::string(symbol) + ending);
    if (own != kOwn.end()) {
      *found = own->second;
      return kOk;
    }
  }
  return kNotFound;
}

// Of a module that has a handle there are none, and it does not count them.
int cuModuleEnumerateFunctions(void** functions, unsigned most, void* module) {
  if (module != nullptr) return kOk;
  constexpr const char* kNames[] = {"first", "second"};
  for (unsigned i = 0; i < most && i < std::size(kNames); ++i) make_named(&functions[i], kNames[i], false);
  return kOk;
}

int cuModuleGetFunctionCount(unsigned* count, void* module) {
  if (module != nullptr) return kInvalidValue;
  *count = 2;
  return kOk;
}

int cuDevicePrimaryCtxRelease_v2(int number) {
  return reported(544, &number, nullptr, [] { return kOk; });
}

int cuDevicePrimaryCtxReset_v2(int number) {
  return reported(545, &number, nullptr, [] {
    ++resets;
    return kOk;
  });
}

int cuDevicePrimaryCtxGetState(int number, unsigned* flags, int* is_active) {
  *flags = 0, *is_active = number == 0 ? 1 : 0;
  return kOk;
}

int cuCtxGetDevice(int* number) {
  *number = 0;
  return kOk;
}

int cuStreamCreate(void** stream, unsigned) {
  auto* made = new Stream;
  const std::lock_guard lock(device().mutex);
  device().streams[made] = made;
  *stream = made;
  return kOk;
}

int cuStreamDestroy_v2(void* stream) {
  return reported(326, &stream, nullptr, [&] {
    stream_of(stream).drain();
    return kOk;
  });
}

int cuStreamSynchronize(void* stream) {
  return reported(126, &stream, nullptr, [&] {
    stream_of(stream).drain();
    return kOk;
  });
}

int cuCtxSynchronize() {
  return reported(17, nullptr, nullptr, [] {
    std::vector<Stream*> all;
    {
      const std::lock_guard lock(device().mutex);
      for (const auto& [handle, stream] : device().streams) all.push_back(stream);
    }
    for (Stream* stream : all) stream->drain();
    return kOk;
  });
}

int cuEventCreate(void** event, unsigned) {
  *event = new Event;
  return kOk;
}

void cuOnEventRecord(void (*what)()) { on_event_record = what; }

int cuEventRecord(void* event, void* stream) {
  if (void (*const what)() = on_event_record; what != nullptr) what();
  Stream& its = stream_of(stream);
  if (its.captured != nullptr) {
    device().is_spoilt = true;
    return kSpoilt;
  }
  auto* recorded = static_cast<Event*>(event);
  if (recorded->born != resets) return kDestroyed;
  const std::uint64_t number = ++recorded->recorded;
  const auto happen = [=] {
    recorded->at_ns = now_ns();
    recorded->done = number;
  };
  if (its.is_idle()) {
    happen();
  } else {
    its.push(happen);
  }
  return kOk;
}

int cuEventQuery(void* event) {
  offend();
  const auto* asked = static_cast<const Event*>(event);
  if (asked->born != resets) return kDestroyed;
  return asked->done == asked->recorded ? kOk : kNotReady;
}

int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  const std::int64_t took = static_cast<Event*>(end)->at_ns - static_cast<Event*>(begin)->at_ns;
  *milliseconds = static_cast<float>(took) * 1e-6F;
  return kOk;
}

int cuStreamWaitEvent(void* stream, void* event, unsigned) {
  auto* awaited = static_cast<Event*>(event);
  const std::uint64_t number = awaited->recorded;
  stream_of(stream).push([=] {
    while (awaited->done < number) usleep(20);
  });
  return kOk;
}

int cuStreamWaitFlag(void* stream, int* flag) {
  stream_of(stream).push([=] {
    while (std::atomic_ref(*flag).load() == 0) usleep(20);
  });
  return kOk;
}

int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
  struct {
    std::uint64_t to;
    const void* from;
    std::size_t bytes;
  } const given{to, from, bytes};
  return reported(276, &given, nullptr, [&] {
    Stream& its = stream_of(nullptr);
    its.push([=] { pass_time(static_cast<unsigned>(bytes / 10'000)); });
    its.drain();
    return kOk;
  });
}

int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void* stream) {
  struct {
    std::uint64_t to;
    const void* from;
    std::size_t bytes;
    void* stream;
  } const given{to, from, bytes, stream};
  return reported(277, &given, nullptr, [&] {
    stream_of(stream).push([=] { pass_time(static_cast<unsigned>(bytes / 10'000)); });
    return kOk;
  });
}

int cuStreamBeginCapture_v2(void* stream, int mode) {
  struct {
    void* stream;
    int mode;
  } const given{stream, mode};
  return reported(539, &given, nullptr, [&] {
    ++device().captures;
    device().is_spoilt = false;
    stream_of(stream).captured = std::make_unique<Graph>();
    return kOk;
  });
}

int cuStreamEndCapture(void* stream, void** graph) {
  struct {
    void* stream;
    void** graph;
  } const given{stream, graph};
  return reported(497, &given, nullptr, [&] {
    if (stream_of(stream).captured == nullptr) return kIllegalState;
    *graph = stream_of(stream).captured.release();
    --device().captures;
    return device().is_spoilt ? kSpoilt : kOk;
  });
}

int cuStreamIsCapturing(void* stream, int* status) {
  *status = stream_of(stream).captured != nullptr ? 1 : 0;
  return kOk;
}

int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long flags) {
  struct {
    void** executable;
    void* graph;
    unsigned long long flags;
  } const given{executable, graph, flags};
  return reported(643, &given, nullptr, [&] {
    *executable = graph;
    return kOk;
  });
}

int cuGraphLaunch(void* executable, void* stream) {
  struct {
    void *executable, *stream;
  } const given{executable, stream};
  return reported(514, &given, nullptr, [&] {
    if (executable == nullptr) return kInvalidValue;
    const unsigned length = static_cast<Graph*>(executable)->microseconds;
    stream_of(stream).push([=] { pass_time(length); });
    return kOk;
  });
}

/// A node is its grid.
int cuGraphGetNodes(void* graph, void** nodes, std::size_t* count) {
  const auto& grids = static_cast<Graph*>(graph)->grids;
  if (nodes == nullptr) {
    *count = grids.size();
    return kOk;
  }
  for (std::size_t i = 0; i < *count; ++i) nodes[i] = reinterpret_cast<void*>(std::uintptr_t{grids[i]});
  return kOk;
}
int cuGraphNodeGetType(void*, int* type) {
  *type = 0;
  return kOk;
}
int cuGraphKernelNodeGetParams_v2(void* node, unsigned* parameters) {
  parameters[2] = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(node));  // behind a pointer
  parameters[3] = parameters[4] = 1;
  return kOk;
}
int cuCtxSetCurrent(void*) { return kOk; }
int cuThreadExchangeStreamCaptureMode(int* mode) {
  if (!is_initialized) return kNotInitialized;
  is_relaxed = std::exchange(*mode, is_relaxed ? 2 : 0) == 2;
  return kOk;
}
}
