// A CUDA driver without a device: every stream runs its operations one after another in real time, whatever other
// streams and processes do. A surrogate takes 2 us and 1 ns an iteration, and 5 ns for each read of its threads; it
// begins when it is launched or the one before it in its stream ends, to the nanosecond, however late that is seen. A
// copy takes 1 ns for 10 bytes. It has 100 SMs and memory of 2000 bytes a ns. A process is under MPS where it has the
// pipe of a daemon: there, contexts may be capped to multiples of 2 SMs, and are slower by as much. Memory is real
// until it is large; what is allocated begins with the id of its process. Priorities are noted and mean nothing.
//
// CORUN_FAKE_CUDA, a list of words: no_device, no_start, no_memory (no allocation above 1 GiB), launch_fails=N (the
// N-th launch of the process fails), sticky=N (that and everything after it), hangs=N (the N-th never ends), lost_end
// (waiting for everything fails once there have been 100 launches), late_return=N (launches return N us later),
// fast_clock=N (the device's clock gains N us a s), hurry (what takes longer than 5 ms says so and takes 5 ms),
// gap=N (of two surrogates in a stream, the second begins N us after the first has ended at the earliest),
// slow_context=N (making a context takes N ms), few_priorities (one level), no_bandwidth (it does not report its
// memory's). CORUN_FAKE_CUDA_TURNS names a file by which processes take turns of 2 ms on one device, as they do on a
// real one: a kernel that is cut goes on in its context's next turn. CORUN_FAKE_CUDA_LOG names a file in which calls
// leave a line each: "stream PRIORITY", "context SMS", "hold BYTES", "save FIRST BYTES" and "restore FIRST BYTES" with
// the first value of what is copied.

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/stream_thread.h"

namespace {

constexpr int kOk = 0, kInvalidValue = 1, kOutOfMemory = 2, kNotInitialized = 3, kNoAffinities = 224,
              kLaunchFailed = 719, kIllegalAddress = 700;
constexpr unsigned kSms = 100;

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

bool wants(const char* word) {
  const char* script = getenv("CORUN_FAKE_CUDA");
  return script != nullptr && std::strstr(script, word) != nullptr;
}

/// The number behind "word=", or 0.
int number_of(const char* word) {
  const char* script = getenv("CORUN_FAKE_CUDA");
  const char* found = script == nullptr ? nullptr : std::strstr(script, word);
  return found == nullptr ? 0 : std::atoi(found + std::strlen(word) + 1);
}

/// One line, whole, whatever other processes write.
void log(const std::string& line) {
  const char* file = getenv("CORUN_FAKE_CUDA_LOG");
  if (file == nullptr) return;
  const int descriptor = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const std::string text = line + "\n";
  if (write(descriptor, text.data(), text.size()) < 0) std::abort();
  close(descriptor);
}

bool is_under_mps() {
  const char* pipe = getenv("CUDA_MPS_PIPE_DIRECTORY");
  return pipe != nullptr && access((std::string(pipe) + "/control").c_str(), F_OK) == 0;
}

/// Counts its records: a wait is for the one that was the newest then.
struct Event {
  std::atomic<std::uint64_t> recorded{0}, done{0};
};

struct Occupation {
  std::uint64_t free_ns = 0;  ///< when the stream's newest kernel ends; its own thread's
};
struct Stream : Occupation, corun::testing::StreamThread {};

std::vector<std::unique_ptr<Stream>> streams;
std::atomic<int> launches{0};
std::atomic<bool> is_broken{false};
char host_memory;                 // whatever is allocated there
std::atomic<unsigned> sms{kSms};  // of the newest context

void wait_until(std::uint64_t end_ns) {
  while (now_ns() < end_ns) {
    const std::uint64_t left = end_ns - now_ns();
    if (left > 200'000 && left < UINT64_MAX / 2) usleep(static_cast<useconds_t>((left - 100'000) / 1000));
  }
}

struct Stamp {
  std::uint64_t begin_ns, end_ns, ticket;
};

/// Which process has the device, and since when; in a file that all processes map.
class Turns {
 public:
  static constexpr std::uint64_t kSliceNs = 2'000'000;

  explicit Turns(const char* file) {
    const int descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (ftruncate(descriptor, sizeof(State)) != 0) std::abort();
    state_ = static_cast<State*>(mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0));
    close(descriptor);
  }

  /// Waits for the device. Returns until when it may be used: the end of the turn.
  std::uint64_t take() {
    const pid_t self = getpid();
    ++state_->wanting;
    for (;; usleep(20)) {
      const std::uint64_t now = now_ns();
      const bool is_mine = state_->turn == self && now < state_->until;
      const bool is_next = state_->wanting == 1 || (state_->turn != self && now >= state_->until);
      pid_t nobody = 0;
      if (!(is_mine || is_next) || !state_->user.compare_exchange_strong(nobody, self)) continue;
      if (!is_mine) state_->until = now + kSliceNs;
      state_->turn = self;
      return state_->until;
    }
  }
  void release() {
    --state_->wanting;
    state_->user = 0;
  }

 private:
  struct State {
    std::atomic<pid_t> user, turn;  // process that uses it now; process that has the turn
    std::atomic<std::uint64_t> until;
    std::atomic<int> wanting;
  };
  State* state_;
};

/// When a kernel of that length ends, that has begun to run at an instant. Returns then, more or less.
std::uint64_t run_until_end(std::uint64_t begin, std::uint64_t length_ns) {
  const char* file = getenv("CORUN_FAKE_CUDA_TURNS");
  if (file == nullptr) return wait_until(begin + length_ns), begin + length_ns;
  static Turns turns(file);
  for (;;) {
    const std::uint64_t until = turns.take(), from = now_ns(), cut = std::max(from, std::min(until, from + length_ns));
    wait_until(cut);
    turns.release();
    length_ns -= std::min(length_ns, cut - from);
    if (length_ns == 0) return cut;
  }
}

/// What the device's own clock shows at an instant of ours.
std::uint64_t shown(std::uint64_t ns) {
  static const auto start = static_cast<std::int64_t>(ns);
  static const std::int64_t gain = number_of("fast_clock");
  return ns + static_cast<std::uint64_t>((static_cast<std::int64_t>(ns) - start) * gain / 1'000'000);
}

void run_kernel(Stream& stream, std::uint64_t launched_ns, Stamp* stamp, std::uint64_t ticket,
                std::uint64_t length_ns) {
  const std::uint64_t gap_ns = 1'000 * static_cast<std::uint64_t>(number_of("gap"));
  const std::uint64_t begin = std::max(launched_ns, stream.free_ns + gap_ns);
  wait_until(begin);
  std::atomic_ref(stamp->begin_ns).store(shown(begin));
  stream.free_ns = run_until_end(begin, wants("hurry") ? std::min<std::uint64_t>(length_ns, 5'000'000) : length_ns);
  stamp->end_ns = shown(wants("hurry") ? begin + length_ns : stream.free_ns);
  std::atomic_ref(stamp->ticket).store(ticket, std::memory_order_release);
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return wants("no_start") ? kNotInitialized : kOk; }
int cuDeviceGetCount(int* count) { return *count = wants("no_device") ? 0 : 1, kOk; }
int cuDeviceGet(int* device, int) { return *device = 0, kOk; }
int cuDeviceGetAttribute(int* value, int attribute, int) {
  switch (attribute) {
    case 16:
      return *value = static_cast<int>(kSms), kOk;
    case 36:  // memory: kHz
      return *value = wants("no_bandwidth") ? 0 : 1'000'000, kOk;
    case 37:  // bits
      return *value = 8'000, kOk;
    case 38:  // second-level cache
      return *value = 1 << 20, kOk;
    case 133:
      return *value = is_under_mps() ? 1 : 0, kOk;
    default:
      return *value = 232'448, kOk;  // shared memory of a block
  }
}
int cuDeviceGetName(char* name, int size, int) { return std::strncpy(name, "a fake", size - 1), kOk; }
int cuDevicePrimaryCtxRetain(void** context, int) {
  usleep(static_cast<useconds_t>(number_of("slow_context")) * 1'000);
  return sms = kSms, *context = context, kOk;
}
int cuDevicePrimaryCtxRelease_v2(int) { return streams.clear(), kOk; }
int cuCtxCreate_v3(void** context, const int* affinity, int, unsigned, int) {
  if (!is_under_mps()) return kNoAffinities;
  sms = (static_cast<unsigned>(affinity[1]) + 1) / 2 * 2;
  log("context " + std::to_string(sms));
  return *context = context, kOk;
}
int cuCtxDestroy_v2(void*) { return streams.clear(), kOk; }
int cuCtxGetExecAffinity(int* affinity, int) { return affinity[1] = static_cast<int>(sms), kOk; }
int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return *least = 0, *greatest = wants("few_priorities") ? 0 : -5, kOk;
}
int cuCtxSetCurrent(void*) { return kOk; }
int cuCtxSynchronize() {
  for (const auto& stream : streams) stream->drain();
  const bool is_lost = wants("lost_end") && launches > 100;
  return is_broken || is_lost ? kIllegalAddress : kOk;
}
int cuModuleLoadData(void** module, const void* image) {
  *module = module;
  return std::strstr(static_cast<const char*>(image), "corun_surrogate") != nullptr ? kOk : kNotInitialized;
}
int cuModuleGetFunction(void** function, void*, const char* name) {
  static char kernel = 'k', clock = 'c';
  *function = std::string(name) == "corun_clock" ? &clock : &kernel;
  return kOk;
}
int cuFuncSetAttribute(void*, int, int) { return kOk; }
int cuStreamCreateWithPriority(void** stream, unsigned, int priority) {
  log("stream " + std::to_string(priority));
  streams.push_back(std::make_unique<Stream>());
  return *stream = streams.back().get(), kOk;
}
int cuStreamSynchronize(void* stream) { return static_cast<Stream*>(stream)->drain(), kOk; }
int cuStreamWriteValue64_v2(void* stream, unsigned long long address, std::uint64_t value, unsigned) {
  static_cast<Stream*>(stream)->push(
      [=] { std::atomic_ref(*reinterpret_cast<std::uint64_t*>(address)).store(value, std::memory_order_release); });
  return kOk;
}
int cuEventCreate(void** event, unsigned) {
  static std::deque<Event> events;
  return *event = &events.emplace_back(), kOk;
}
int cuEventRecord(void* event, void* stream) {
  auto* its = static_cast<Event*>(event);
  const std::uint64_t record = ++its->recorded;
  static_cast<Stream*>(stream)->push([=] { its->done = record; });
  return kOk;
}
int cuStreamWaitEvent(void* stream, void* event, unsigned) {
  auto* its = static_cast<Event*>(event);
  const std::uint64_t record = its->recorded;
  auto* waiting = static_cast<Stream*>(stream);
  waiting->push([=] {
    while (its->done < record) usleep(10);
    waiting->free_ns = now_ns();
  });
  return kOk;
}
int cuLaunchKernel(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void* stream,
                   void** parameters, void**) {
  if (is_broken) return kIllegalAddress;
  const int count = ++launches;
  if (count == number_of("launch_fails")) return kLaunchFailed;
  if (count == number_of("sticky")) return is_broken = true, kIllegalAddress;
  auto* stamp = reinterpret_cast<Stamp*>(*static_cast<unsigned long long*>(parameters[0]));
  const std::uint64_t ticket = *static_cast<std::uint64_t*>(parameters[1]);
  const bool is_clock = *static_cast<char*>(function) == 'c';
  std::uint64_t length = 0;
  if (!is_clock) {
    const std::uint64_t iterations = *static_cast<std::uint64_t*>(parameters[4]);
    const std::uint64_t per_load = *static_cast<std::uint64_t*>(parameters[5]);
    length = (2'000 + iterations + (per_load > 0 ? 5 * (iterations / per_load) : 0)) * kSms / sms;
  }
  if (count == number_of("hangs")) length = UINT64_MAX / 4;
  auto* on = static_cast<Stream*>(stream);
  on->push([=, launched = now_ns()] { run_kernel(*on, launched, stamp, ticket, length); });
  if (const int late = number_of("late_return"); late > 0) usleep(static_cast<useconds_t>(late));
  return kOk;
}
int cuMemAlloc_v2(unsigned long long* address, std::size_t bytes) {
  if (wants("no_memory") && bytes > (std::size_t{1} << 30)) return kOutOfMemory;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return kOutOfMemory;
  const pid_t process = getpid();
  std::memcpy(memory, &process, std::min(bytes, sizeof(process)));
  *address = reinterpret_cast<unsigned long long>(memory);
  log("hold " + std::to_string(bytes));
  return kOk;
}
int cuMemFree_v2(unsigned long long) { return kOk; }  // its size is not known any more, and its pages are few
int cuMemsetD8_v2(unsigned long long, unsigned char, std::size_t) { return kOk; }
int cuMemHostUnregister(void*) { return kOk; }
int cuMemFreeHost(void*) { return kOk; }
int cuMemHostRegister_v2(void*, std::size_t, unsigned) { return kOk; }
int cuMemHostAlloc(void** address, std::size_t, unsigned) { return *address = &host_memory, kOk; }
int cuMemHostGetDevicePointer_v2(unsigned long long* device, void* host, unsigned) {
  return *device = reinterpret_cast<unsigned long long>(host), kOk;
}
/// What is copied from or to where a snapshot is kept is really copied, its first page at least.
int copy(const char* what, void* to, const void* from, std::size_t bytes, void* stream) {
  if (to == nullptr || from == nullptr) return kInvalidValue;
  auto* on = static_cast<Stream*>(stream);
  on->push([=] {
    wait_until(now_ns() + bytes / 10);
    on->free_ns = now_ns();
  });
  if (to == &host_memory || from == &host_memory) return kOk;
  on->push([=] {
    std::memcpy(to, from, std::min<std::size_t>(bytes, 4096));
    log(what + std::to_string(*static_cast<const pid_t*>(from)) + " " + std::to_string(bytes));
  });
  return kOk;
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, std::size_t bytes, void* stream) {
  return copy("restore ", reinterpret_cast<void*>(to), from, bytes, stream);
}
int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, std::size_t bytes, void* stream) {
  return copy("save ", to, reinterpret_cast<const void*>(from), bytes, stream);
}
int cuGetErrorName(int result, const char** name) {
  *name = result == kNoAffinities     ? "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY"
          : result == kOutOfMemory    ? "CUDA_ERROR_OUT_OF_MEMORY"
          : result == kLaunchFailed   ? "CUDA_ERROR_LAUNCH_FAILED"
          : result == kIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                                      : "CUDA_ERROR_NOT_INITIALIZED";
  return kOk;
}
}
