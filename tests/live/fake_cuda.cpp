#include "tests/live/fake_cuda.h"

#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr int kOk = 0, kNotReady = 600, kSpoilt = 901, kNotInitialized = 3;
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

class Stream {
 public:
  Stream() : thread_([this](const std::stop_token& stop) { run(stop); }) {}

  void push(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
    ++unfinished_;
    changed_.notify_all();
  }
  void drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return unfinished_ == 0; });
  }
  std::unique_ptr<Graph> captured;

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !queue_.empty(); })) {
      const std::function<void()> work = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      work();
      lock.lock();
      --unfinished_;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> queue_;
  int unfinished_ = 0;
  std::jthread thread_;
};

struct Event {
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

int cuLaunchKernel(const char* name, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void** parameters,
                   void** extra) {
  struct {
    const char* function;
    unsigned grid[3], block[3], shared_bytes;
    void* stream;
    void **parameters, **extra;
  } const given{name, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream, parameters, extra};
  return reported(307, &given, name, [&] {
    Stream& its = stream_of(stream);
    if (its.captured == nullptr) return its.push([=] { pass_time(shared_bytes); }), kOk;
    its.captured->microseconds += shared_bytes;
    its.captured->grids.push_back(grid_x);
    return kOk;
  });
}

int cuStreamCreate(void** stream, unsigned) {
  auto* made = new Stream;
  const std::lock_guard lock(device().mutex);
  device().streams[made] = made;
  return *stream = made, kOk;
}

int cuStreamDestroy_v2(void* stream) {
  return reported(326, &stream, nullptr, [&] { return stream_of(stream).drain(), kOk; });
}

int cuStreamSynchronize(void* stream) {
  return reported(126, &stream, nullptr, [&] { return stream_of(stream).drain(), kOk; });
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

int cuEventCreate(void** event, unsigned) { return *event = new Event, kOk; }

void cuOnEventRecord(void (*what)()) { on_event_record = what; }

int cuEventRecord(void* event, void* stream) {
  if (void (*const what)() = on_event_record; what != nullptr) what();
  Stream& its = stream_of(stream);
  if (its.captured != nullptr) return device().is_spoilt = true, kSpoilt;
  auto* recorded = static_cast<Event*>(event);
  const std::uint64_t number = ++recorded->recorded;
  its.push([=] {
    recorded->at_ns = now_ns();
    recorded->done = number;
  });
  return kOk;
}

int cuEventQuery(void* event) {
  offend();
  const auto* asked = static_cast<const Event*>(event);
  return asked->done == asked->recorded ? kOk : kNotReady;
}

int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  const std::int64_t took = static_cast<Event*>(end)->at_ns - static_cast<Event*>(begin)->at_ns;
  return *milliseconds = static_cast<float>(took) * 1e-6F, kOk;
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
    return its.drain(), kOk;
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
    return stream_of(stream).push([=] { pass_time(static_cast<unsigned>(bytes / 10'000)); }), kOk;
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
    return stream_of(stream).captured = std::make_unique<Graph>(), kOk;
  });
}

int cuStreamEndCapture(void* stream, void** graph) {
  struct {
    void* stream;
    void** graph;
  } const given{stream, graph};
  return reported(497, &given, nullptr, [&] {
    *graph = stream_of(stream).captured.release();
    --device().captures;
    return device().is_spoilt ? kSpoilt : kOk;
  });
}

int cuStreamIsCapturing(void* stream, int* status) {
  return *status = stream_of(stream).captured != nullptr ? 1 : 0, kOk;
}

int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long flags) {
  struct {
    void** executable;
    void* graph;
    unsigned long long flags;
  } const given{executable, graph, flags};
  return reported(643, &given, nullptr, [&] { return *executable = graph, kOk; });
}

int cuGraphLaunch(void* executable, void* stream) {
  struct {
    void *executable, *stream;
  } const given{executable, stream};
  return reported(514, &given, nullptr, [&] {
    const unsigned length = static_cast<Graph*>(executable)->microseconds;
    return stream_of(stream).push([=] { pass_time(length); }), kOk;
  });
}

/// A node is its grid.
int cuGraphGetNodes(void* graph, void** nodes, std::size_t* count) {
  const auto& grids = static_cast<Graph*>(graph)->grids;
  if (nodes == nullptr) return *count = grids.size(), kOk;
  for (std::size_t i = 0; i < *count; ++i) nodes[i] = reinterpret_cast<void*>(std::uintptr_t{grids[i]});
  return kOk;
}
int cuGraphNodeGetType(void*, int* type) { return *type = 0, kOk; }
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
